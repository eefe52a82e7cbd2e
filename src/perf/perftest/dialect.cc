// SPDX-License-Identifier: Apache-2.0
#include "perf/perftest/dialect.h"

#include <algorithm>

namespace railbed::perf::perftest {
namespace {

constexpr int64_t kSweep_bytes = 8 << 20;  // the largest size of perftest's -a
constexpr int64_t kFewest = 5;             // messages that perftest takes for a test

bool is_bandwidth(const TestSpec& spec) {
  return spec.kind == TestKind::kBandwidth;
}

bool is_sweep(const TestSpec& spec) {
  return spec.sizes_bytes.size() > 1;
}

std::string_view program_of(const TestSpec& spec) {
  switch (spec.verb) {
    case RdmaVerb::kRead:
      return is_bandwidth(spec) ? "ib_read_bw" : "ib_read_lat";
    case RdmaVerb::kSend:
      return is_bandwidth(spec) ? "ib_send_bw" : "ib_send_lat";
    case RdmaVerb::kFetchAdd:
      return is_bandwidth(spec) ? "ib_atomic_bw" : "ib_atomic_lat";
    case RdmaVerb::kWrite:
    case RdmaVerb::kWriteImm:
    case RdmaVerb::kSendUd:
      break;
  }
  return is_bandwidth(spec) ? "ib_write_bw" : "ib_write_lat";
}

Result<void> fits_wire(const TestSpec& spec) {
  if (spec.transport != Transport::kRdma) return fail(Code::kInvalid, "tcp: perftest measures RDMA only");
  if (spec.verb == RdmaVerb::kWriteImm || spec.verb == RdmaVerb::kSendUd)
    return fail(Error{.code = Code::kInvalid,
                      .message = fmt::format("verb: {} is not measured with perftest", traits_of(spec.verb).name),
                      .hint = "with perftest there are write, read, send and fetch-add"});
  if (!spec.remote_device.empty())
    return fail(Code::kInvalid, "remote-device: not supported with perftest; start it with -d {}", spec.remote_device);
  if (spec.remote_memory != MemoryChoice{})
    return fail(Code::kInvalid, "remote-memory: not supported with perftest; use perftest's own options");
  return {};
}

// What both ends do in step must be what perftest does.
Result<void> fits_step(const TestSpec& spec, Role role) {
  const bool server = role == Role::kServer;
  if (server && spec.rate_per_s > 0) return fail(Code::kInvalid, "rate: perftest's client decides when it sends");
  if ((is_counted(spec) || server) && is_sweep(spec) && spec.sizes_bytes != sweep_sizes(kSweep_bytes))
    return fail(Code::kInvalid, "max-size: both ends go through the same sizes, and perftest's -a ends at {}",
                size_text(kSweep_bytes));
  if (is_counted(spec) && spec.iterations < kFewest)
    return fail(Code::kInvalid, "iterations: {} messages, but perftest requires at least {}", spec.iterations, kFewest);
  return {};
}

}  // namespace

Manner manner_of(const TestSpec& spec) {
  Manner manner{.program = program_of(spec)};
  const bool send = spec.verb == RdmaVerb::kSend;
  manner.sync_first = send;
  manner.sync_each = send || spec.bidirectional;
  manner.keys_before = !is_bandwidth(spec) && !send;
  manner.reports = is_bandwidth(spec) && (!send || spec.bidirectional);
  manner.closes = is_bandwidth(spec) || spec.verb != RdmaVerb::kWrite;
  return manner;
}

bool is_counted(const TestSpec& spec) {
  if (is_bandwidth(spec)) return spec.bidirectional || spec.verb == RdmaVerb::kSend;
  return traits_of(spec.verb).answered_by == AnsweredBy::kProgram;
}

int64_t usual_iterations(const TestSpec& spec) {
  return is_bandwidth(spec) && spec.verb == RdmaVerb::kWrite ? 5000 : 1000;
}

Result<TestSpec> as_perftest(TestSpec spec, Role role, bool duration_given) {
  TRY(fits_wire(spec));
  if (is_counted(spec)) {
    if (duration_given)
      return fail(Error{
          .code = Code::kInvalid,
          .message = fmt::format("duration: both ends of {} count messages, and neither signals the other when it "
                                 "stops",
                                 program_of(spec)),
          .hint = "give a number of messages (-n), the same on both sides"});
    if (spec.iterations == 0) spec.iterations = usual_iterations(spec);
  }
  TRY(fits_step(spec, role));
  TRY(validate(spec));
  return spec;
}

std::string command_line(const TestSpec& spec, uint16_t port, const std::string& server_address) {
  std::string line(program_of(spec));
  // Of a sweep that only one end knows of, the other end needs the memory for the largest size.
  const bool in_step = is_counted(spec) || !server_address.empty();
  if (is_sweep(spec) && in_step)
    line += " -a";
  else if (spec.verb != RdmaVerb::kFetchAdd)
    line += fmt::format(" -s {}", std::ranges::max(spec.sizes_bytes));
  if (is_counted(spec)) line += fmt::format(" -n {}", spec.iterations);
  if (spec.qps != 1) line += fmt::format(" -q {}", spec.qps);
  if (spec.bidirectional) line += " -b";
  if (port != kPort) line += fmt::format(" -p {}", port);
  line += " -F";
  if (!server_address.empty()) line += " " + server_address;
  return line;
}

}  // namespace railbed::perf::perftest

// SPDX-License-Identifier: Apache-2.0
#include "perf/test_spec.h"

#include <algorithm>
#include <array>

#include "base/number.h"
#include "perf/bounds.h"

namespace railbed::perf {
namespace {

// In the order of the enumeration.
constexpr std::array<VerbTraits, 6> kVerbs = {{
    {.verb = RdmaVerb::kWrite, .name = "write", .text = "RC write"},
    {.verb = RdmaVerb::kWriteImm, .name = "write-imm", .text = "RC write with immediate", .takes_receives = true},
    {.verb = RdmaVerb::kRead,
     .name = "read",
     .text = "RC read",
     .answered_by = AnsweredBy::kDevice,
     .sends_data = false},
    {.verb = RdmaVerb::kSend, .name = "send", .text = "RC send", .takes_receives = true},
    {.verb = RdmaVerb::kFetchAdd,
     .name = "fetch-add",
     .text = "RC atomic fetch-and-add",
     .answered_by = AnsweredBy::kDevice,
     .sends_data = false},
    {.verb = RdmaVerb::kSendUd, .name = "send-ud", .text = "UD send", .takes_receives = true, .is_datagram = true},
}};

bool is_within(int64_t value, const doc::Limits& limits) {
  return value >= limits.min && value <= limits.max;
}

Result<void> within(std::string_view option, int64_t value, const doc::Limits& limits) {
  if (!is_within(value, limits))
    return fail(Code::kInvalid, "{}: {} is outside {}..{}", option, value, limits.min, limits.max);
  return {};
}

int64_t largest_of(const TestSpec& spec) {
  return std::ranges::max(spec.sizes_bytes);
}

bool is_gpu(const TestSpec& spec) {
  return spec.memory.kind == MemoryKind::kGpu || spec.remote_memory.kind == MemoryKind::kGpu;
}

Result<void> within_limits(const TestSpec& spec) {
  if (spec.sizes_bytes.empty() || spec.sizes_bytes.size() > kMaxSizes)
    return fail(Code::kInvalid, "sizes: {} of them, 1 to {} are allowed", spec.sizes_bytes.size(), kMaxSizes);
  for (int64_t size : spec.sizes_bytes) TRY(within("size", size, bounds::kSizes_bytes));
  TRY(within("qps", spec.qps, bounds::kQps));
  TRY(within("tx-depth", spec.tx_depth, bounds::kTxDepth));
  TRY(within("iterations", spec.iterations, bounds::kIterations));
  TRY(within("inline", spec.inline_bytes, bounds::kInline_bytes));
  if (spec.qps * spec.tx_depth > kMaxUnderWay)
    return fail(Code::kInvalid,
                "tx-depth: {} messages on each of {} queue pairs exceed the limit of {} outstanding messages",
                spec.tx_depth, spec.qps, kMaxUnderWay);
  TRY(within("rate", spec.rate_per_s, bounds::kRate_per_s));
  TRY(within("post-list", spec.post_list, bounds::kPostList));
  TRY(within("threads", spec.threads, bounds::kThreads));
  TRY(within("traffic-class", spec.traffic_class, bounds::kTrafficClass));
  TRY(within("service-level", spec.service_level, bounds::kServiceLevel));
  TRY(within("pkey-index", spec.pkey_index, bounds::kPkeyIndex));
  TRY(within("flow-label", spec.flow_label, bounds::kFlowLabel));
  TRY(within("memory: the number of the GPU", spec.memory.gpu, bounds::kGpu));
  TRY(within("remote-memory: the number of the GPU", spec.remote_memory.gpu, bounds::kGpu));
  if (spec.iterations == 0) TRY(within("duration", spec.duration_ms, bounds::kDuration_ms));
  const int64_t largest = largest_of(spec);
  if (spec.iterations > kMaxTotal_bytes / largest / spec.qps)
    return fail(Code::kInvalid, "iterations: {} messages of {} on each of {} are more than {} bytes", spec.iterations,
                size_text(largest), spec.qps, kMaxTotal_bytes);
  if (2 * largest * spec.qps > kMaxRegion_bytes)
    return fail(Code::kInvalid, "{} queue pairs with {} each need {} of registered memory, at most {} is allowed",
                spec.qps, size_text(largest), size_text(2 * largest * spec.qps), size_text(kMaxRegion_bytes));
  return {};
}

bool receives_while_sending(const TestSpec& spec) {
  return spec.bidirectional && traits_of(spec.verb).takes_receives;
}

// What a kind of test cannot have.
Result<void> fits_kind(const TestSpec& spec) {
  const bool latency = spec.kind == TestKind::kLatency;
  if (spec.rate_per_s > 0 && !latency)
    return fail(Code::kInvalid, "rate: only for latency; bandwidth is measured, not requested");
  if (latency && spec.qps != 1)
    return fail(Code::kInvalid, "qps: latency is measured on one queue pair, not {}", spec.qps);
  if (latency && spec.post_list > 1)
    return fail(Code::kInvalid, "post-list: only for bandwidth; pings are posted one at a time, not {}",
                spec.post_list);
  if (latency && spec.threads > 1)
    return fail(Code::kInvalid, "threads: latency is measured by one thread, not {}", spec.threads);
  if (spec.bidirectional && (latency || spec.transport != Transport::kRdma))
    return fail(Code::kInvalid, "bidirectional: only for bandwidth over RDMA");
  return {};
}

Result<void> fits_tcp(const TestSpec& spec) {
  const TestSpec usual;
  const std::pair<std::string_view, bool> options[] = {
      {"verb", spec.verb != usual.verb},
      {"post-list", spec.post_list != usual.post_list},
      {"traffic-class", spec.traffic_class != usual.traffic_class},
      {"service-level", spec.service_level != usual.service_level},
      {"pkey-index", spec.pkey_index != usual.pkey_index},
      {"flow-label", spec.flow_label != usual.flow_label},
      {"relaxed-ordering", spec.relaxed_ordering != usual.relaxed_ordering},
      {"yield", spec.yield != usual.yield},
      {"pin", spec.pin != usual.pin},
      {"threads", spec.threads != usual.threads},
      {"memory", spec.memory != usual.memory},
      {"remote-memory", spec.remote_memory != usual.remote_memory},
  };
  for (const auto& [option, is_set] : options)
    if (is_set) return fail(Code::kInvalid, "{}: only for RDMA; plain sockets (--tcp) have no such thing", option);
  return {};
}

// What a verb cannot have.
Result<void> fits_verb(const TestSpec& spec) {
  const VerbTraits& verb = traits_of(spec.verb);
  const int64_t largest = largest_of(spec);
  for (int64_t size : spec.sizes_bytes)
    if (spec.verb == RdmaVerb::kFetchAdd && size != kAtomic_bytes)
      return fail(Code::kInvalid, "size: an atomic fetch-and-add works on {} bytes, not on {}", kAtomic_bytes,
                  size_text(size));
  if (verb.is_datagram && largest > kMaxDatagram_bytes)
    return fail(Code::kInvalid, "size: a UD send is one packet of at most {}, so {} do not fit",
                size_text(kMaxDatagram_bytes), size_text(largest));
  if (!verb.sends_data && spec.inline_bytes > 0)
    return fail(Code::kInvalid, "inline: an {} sends none of its data, so nothing can go inline", verb.text);
  if (spec.post_list > spec.tx_depth)
    return fail(Code::kInvalid,
                "post-list: {} messages per post exceed the limit of {} outstanding messages (tx-depth)",
                spec.post_list, spec.tx_depth);
  if (spec.threads > spec.qps)
    return fail(Code::kInvalid, "threads: {} of them, and {} queue pair(s) (qps): each thread needs one", spec.threads,
                spec.qps);
  if (spec.threads > 1 && receives_while_sending(spec))
    return fail(Code::kInvalid, "threads: both ways at once, an {} is received by the thread that sends", verb.text);
  if (is_gpu(spec) && spec.inline_bytes > 0)
    return fail(Code::kInvalid, "inline: the processor copies inline data, and this memory is a GPU's");
  if (spec.kind != TestKind::kLatency || spec.verb != RdmaVerb::kWrite) return {};
  if (spec.relaxed_ordering == Choice::kOn)
    return fail(Code::kInvalid,
                "relaxed-ordering: latency by write polls the last byte, which may then arrive before the others; "
                "measure it with --verb write-imm or send");
  if (is_gpu(spec))
    return fail(Code::kInvalid,
                "memory: latency by write polls the last byte, which the processor does not see in a GPU; measure it "
                "with --verb write-imm or send");
  return {};
}

template <typename T, size_t N>
Result<T> from_names(std::string_view name, const std::array<std::string_view, N>& names, std::string_view what) {
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) return fail(Code::kInvalid, "\"{}\" is not {}", name, what);
  return static_cast<T>(found - names.begin());
}

}  // namespace

std::string_view name_of(TestKind kind) {
  return kind == TestKind::kBandwidth ? "bw" : "lat";
}
std::string_view name_of(Transport transport) {
  return transport == Transport::kRdma ? "rdma" : "tcp";
}
Result<TestKind> kind_from(std::string_view name) {
  return from_names<TestKind>(name, std::array<std::string_view, 2>{"bw", "lat"}, "a kind of test: bw or lat");
}
Result<Transport> transport_from(std::string_view name) {
  return from_names<Transport>(name, std::array<std::string_view, 2>{"rdma", "tcp"}, "a transport: rdma or tcp");
}

const VerbTraits& traits_of(RdmaVerb verb) {
  return kVerbs[static_cast<size_t>(verb)];
}
std::vector<std::string_view> verb_names() {
  std::vector<std::string_view> names;
  for (const VerbTraits& verb : kVerbs) names.push_back(verb.name);
  return names;
}
Result<RdmaVerb> verb_from(std::string_view name) {
  const auto found = std::ranges::find(kVerbs, name, &VerbTraits::name);
  if (found == kVerbs.end())
    return fail(Code::kInvalid, "\"{}\" is not a verb: {}", name, fmt::join(verb_names(), ", "));
  return found->verb;
}

std::string_view name_of(Choice choice) {
  return kChoiceNames[static_cast<size_t>(choice)];
}
Result<Choice> choice_from(std::string_view name) {
  return from_names<Choice>(name, kChoiceNames, "auto, on or off");
}

std::string text_of(const MemoryChoice& memory) {
  if (memory.kind == MemoryKind::kGpu) return fmt::format("gpu:{}", memory.gpu);
  return memory.kind == MemoryKind::kHugePages ? "huge" : kHostMemory;
}
Result<MemoryChoice> memory_from(std::string_view text) {
  if (text == kHostMemory) return MemoryChoice{};
  if (text == "huge") return MemoryChoice{.kind = MemoryKind::kHugePages};
  constexpr std::string_view kGpu = "gpu:";
  if (text.starts_with(kGpu)) {
    const auto gpu = whole_number<decltype(MemoryChoice::gpu)>(text.substr(kGpu.size()));
    if (gpu && is_within(*gpu, bounds::kGpu)) return MemoryChoice{.kind = MemoryKind::kGpu, .gpu = *gpu};
  }
  return fail(Code::kInvalid, "\"{}\" is not a kind of memory: host, huge (pages of 2 MiB) or gpu:N ({} to {})", text,
              bounds::kGpu.min, bounds::kGpu.max);
}

int64_t threads_for(const TestSpec& spec, int64_t processors) {
  constexpr int64_t kPairsOfAThread = 4;
  if (spec.kind == TestKind::kLatency || receives_while_sending(spec)) return 1;
  if (spec.threads > 0) return std::min(spec.threads, spec.qps);
  return std::clamp<int64_t>((spec.qps + kPairsOfAThread - 1) / kPairsOfAThread, 1,
                             std::max<int64_t>(1, processors / 2));
}

std::vector<int64_t> sweep_sizes(int64_t max_bytes) {
  std::vector<int64_t> sizes;
  for (int64_t size = 2; size <= max_bytes; size *= 2) sizes.push_back(size);
  return sizes;
}

Result<void> validate(const TestSpec& spec) {
  TRY(within_limits(spec));
  TRY(fits_kind(spec));
  return spec.transport == Transport::kTcp ? fits_tcp(spec) : fits_verb(spec);
}

std::string size_text(int64_t bytes) {
  constexpr std::string_view kUnits[] = {"B", "KiB", "MiB", "GiB"};
  size_t unit = 0;
  while (bytes >= 1024 && bytes % 1024 == 0 && unit + 1 < std::size(kUnits)) {
    bytes /= 1024;
    ++unit;
  }
  return fmt::format("{} {}", bytes, kUnits[unit]);
}

}  // namespace railbed::perf

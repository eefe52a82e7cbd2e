// SPDX-License-Identifier: Apache-2.0
// For tests: a client and a server in this process, with RDMA devices in memory (fake_verbs.h).
//
// Threading: the server has threads of its own; the devices are changed under their mutex. Failure: as the test's.
#pragma once

#include <thread>

#include <gtest/gtest.h>

#include "perf/session/client.h"
#include "perf/session/point_to_point.h"
#include "perf/session/server.h"
#include "perf/stream/fake_verbs.h"
#include "perf/test_clock.h"

namespace railbed::perf {

using std::chrono::milliseconds;

inline ibv_gid_entry gid_entry(const std::string& address, uint32_t index, rdma::GidType type, uint32_t interface,
                               uint32_t port = 1) {
  ibv_gid_entry entry{};
  const Gid gid = IpAddress::parse(address)->to_gid();
  std::copy(gid.bytes.begin(), gid.bytes.end(), entry.gid.raw);
  entry.gid_index = index;
  entry.port_num = port;
  entry.gid_type = static_cast<uint32_t>(type);
  entry.ndev_ifindex = interface;
  return entry;
}

// A device on the loopback interface (index 1 in every network namespace).
inline FakeDevice on_loopback(const std::string& name) {
  return {.name = name,
          .gids = {gid_entry("127.0.0.1", 0, rdma::GidType::kRoceV1, 1),
                   gid_entry("127.0.0.1", 3, rdma::GidType::kRoceV2, 1)}};
}

class RdmaTest : public testing::Test {
 protected:
  void SetUp() override {
    reset();
    ServerOptions options;
    options.protocols = protocols();
    options.bind = *IpAddress::parse("127.0.0.1");
    options.port = 0;
    options.session.limits = limits();
    options.session.limits.clock = server_clock_;
    options.session.offered_memory = offered_;
    auto server = Server::open(*kernel_, std::move(options));
    ASSERT_TRUE(server) << server.error().to_string();
    server_ = std::move(*server);
    thread_ = std::jthread([this] { EXPECT_TRUE(server_->run()); });
  }
  // What the server takes.
  virtual std::vector<Protocol> protocols() const { return {point_to_point_protocol()}; }
  void TearDown() override {
    server_->stop();
    thread_.join();
    server_.reset();  // with the sessions
    EXPECT_EQ(fake().open_objects, 0) << "left open";
    reset();
    change([](FakeVerbs& verbs) { verbs.devices.clear(); });
  }
  // Sessions of the server may still be at their end.
  template <typename Change>
  static void change(const Change& how) {
    const std::lock_guard lock(fake().mutex);
    how(fake());
  }
  static void reset() {
    const std::lock_guard lock(fake().mutex);
    fake().devices = {on_loopback("rxe_lo")};
    fake().faults.clear();
    fake().completes_with = IBV_WC_SUCCESS;
    fake().completes = true;
    fake().library_missing = false;
    fake().modified.clear();
    fake().posted.clear();
    fake().posted_by.clear();
    fake().in_thread_domains.clear();
    fake().queue_pairs.clear();
    fake().completion_queues.clear();
    fake().registered.clear();
    fake().ways.clear();
    fake().lost_datagrams_every = 0;
    fake().datagrams = 0;
    fake().flips_byte_of_reads = -1;
    fake().has_device_clock = false;
    fake().records = true;
  }
  // Longer than any pause of a loaded machine.
  Limits limits() const {
    return {.connect = milliseconds(20000),
            .answer = milliseconds(20000),
            .idle = milliseconds(20000),
            .stall = stall_,
            .check = milliseconds(10),
            .max_sessions = 8,
            .clock = clock_};
  }
  static TestSpec spec(TestKind kind) {
    return {.kind = kind, .transport = Transport::kRdma, .sizes_bytes = {2, 4096}, .tx_depth = 8, .iterations = 50};
  }
  Result<Measurement> measured(const TestSpec& spec, const std::string& device = "") {
    return measure(*kernel_,
                   {.host = "127.0.0.1",
                    .port = server_->port(),
                    .place = {.device = device, .gid_rule = {}},
                    .limits = limits(),
                    .label = "rail0",
                    .command = "test",
                    .on_progress = [this](const std::string& line) { progress_.push_back(line); }},
                   spec);
  }
  std::string why_not(const TestSpec& spec, const std::string& device = "") {
    const auto result = measured(spec, device);
    return result ? "measured" : result.error().to_string();
  }

  Clock* clock_ = &real_clock();
  Clock* server_clock_ = &real_clock();
  milliseconds stall_{20000};
  std::vector<MemoryKind> offered_;
  std::vector<std::string> progress_;
  std::unique_ptr<os::Kernel> kernel_ = os::real_kernel();
  std::unique_ptr<Server> server_;
  std::jthread thread_;
};

// On clocks of the test: what is measured is what the loops do, whatever the machine takes for it.
class SimulatedRdmaTest : public RdmaTest {
 protected:
  static constexpr std::chrono::microseconds kStep{20};

  SimulatedRdmaTest() {
    clock_ = &simulated_;
    server_clock_ = &servers_;
  }
  // Of a duration that was to be `ms`: it ends with the first reading at its end, and few follow.
  static void expect_duration(double seconds, int64_t ms) {
    EXPECT_GE(seconds, static_cast<double>(ms) / 1e3);
    EXPECT_LE(seconds, static_cast<double>(ms) / 1e3 + 10 * std::chrono::duration<double>(kStep).count());
  }

  SimulatedClock simulated_{kStep};
  SimulatedClock servers_{kStep};
};

}  // namespace railbed::perf

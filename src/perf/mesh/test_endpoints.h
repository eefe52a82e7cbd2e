// SPDX-License-Identifier: Apache-2.0
// For tests: a mesh whose endpoints are servers of this process, on loopback.
//
// Threading: a thread for each server, joined at the end. Failure: as the test that uses it.
#pragma once

#include <deque>
#include <iterator>
#include <list>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "perf/collective/collective_endpoint.h"
#include "perf/mesh/coordinator.h"
#include "perf/mesh/mesh_protocol.h"
#include "perf/session/point_to_point.h"
#include "perf/session/server.h"
#include "perf/test_clock.h"

namespace railbed::perf::mesh {

using std::chrono::milliseconds;

inline constexpr const char* kToken = "sesame";

// The patience of a loaded machine; only what hangs reaches it.
inline perf::Limits patient() {
  return {.connect = milliseconds(10000),
          .greet = milliseconds(10000),
          .answer = milliseconds(10000),
          .idle = milliseconds(30000),
          .stall = milliseconds(10000),
          .check = milliseconds(20)};
}

inline Deadline soon() {
  return Deadline::after(milliseconds(10000));
}

class Endpoints {
 public:
  explicit Endpoints(uint32_t count, const perf::Limits& limits = patient(), const std::string& token = kToken) {
    for (uint32_t i = 0; i < count; ++i) add(limits, token);
  }
  // One for each of these clocks, which it measures with.
  explicit Endpoints(std::deque<SimulatedClock>& clocks) {
    for (SimulatedClock& clock : clocks) {
      perf::Limits limits = patient();
      limits.clock = &clock;
      add(limits, kToken);
    }
  }
  ~Endpoints() {
    for (End& end : ends_) end.server->stop();
  }
  // It answers nothing any more when this returns.
  void stop(uint32_t host) {
    End& end = *std::next(ends_.begin(), host);
    end.server->stop();
    end.thread.join();
  }
  uint16_t port(uint32_t host) const { return std::next(ends_.begin(), host)->server->port(); }

 private:
  struct End {
    Membership membership;
    std::unique_ptr<Server> server;
    std::jthread thread;
  };

  void add(const perf::Limits& limits, const std::string& token) {
    End& end = ends_.emplace_back();
    ServerOptions options;
    options.protocols = {point_to_point_protocol(), mesh_protocol(end.membership), membership_protocol(end.membership),
                         collective::collective_protocol(end.membership)};
    options.bind = *IpAddress::parse("127.0.0.1");
    options.port = 0;
    options.session.limits = limits;
    options.session.token = token;
    auto server = Server::open(*kernel_, std::move(options));
    EXPECT_TRUE(server) << server.error().to_string();
    end.server = std::move(*server);
    end.thread = std::jthread([&end] { EXPECT_TRUE(end.server->run()); });
  }

  std::unique_ptr<os::Kernel> kernel_ = os::real_kernel();
  std::list<End> ends_;
};

inline HostAddress on_loopback(uint16_t port, const std::string& device = "") {
  return {.control = "127.0.0.1",
          .port = port,
          .rails = {OwnRail{.rail = 0, .address = *IpAddress::parse("127.0.0.1"), .device = device}}};
}

// host0, host1, … with a NIC each.
inline MeshSetup setup_of(std::vector<HostAddress> hosts) {
  MeshSetup setup;
  setup.fabric.rails = {"rail0"};
  for (size_t i = 0; i < hosts.size(); ++i)
    setup.fabric.endpoints.push_back({.host = fmt::format("host{}", i), .ports = {RailPort{}}});
  setup.hosts = std::move(hosts);
  return setup;
}

inline MeshOptions brief(Transport transport) {
  MeshOptions options;
  options.latency = {.kind = TestKind::kLatency, .transport = transport, .sizes_bytes = {2}, .duration_ms = 20};
  options.bandwidth = {
      .kind = TestKind::kBandwidth, .transport = transport, .sizes_bytes = {4096}, .tx_depth = 8, .duration_ms = 20};
  options.fleet.transport = transport;
  options.fleet.token = kToken;
  options.fleet.limits = patient();
  options.loop_back = LoopBack::kNotTried;
  return options;
}

}  // namespace railbed::perf::mesh

// SPDX-License-Identifier: Apache-2.0
// Whom an endpoint sends to: only addresses that enlisted in its mesh. A coordinator with the token names others here.
#include "perf/mesh/membership.h"

#include <gtest/gtest.h>

#include "perf/channel/test_greeting.h"
#include "perf/mesh/test_endpoints.h"

namespace railbed::perf::mesh {
namespace {

constexpr const char* kWhere = "perf lat with 127.0.0.1: ";

const IpAddress kLoopback = *IpAddress::parse("127.0.0.1");

TEST(Membership, EndsWithTheMesh) {
  Membership membership;
  const MeshId mesh{.bytes = {1}};
  EXPECT_EQ(membership.mesh_of(kLoopback), std::nullopt);
  {
    const auto entry = membership.enter(mesh, {kLoopback});
    EXPECT_EQ(membership.mesh_of(kLoopback), mesh);
    EXPECT_EQ(membership.mesh_of(*IpAddress::parse("127.0.0.2")), std::nullopt);
  }
  EXPECT_EQ(membership.mesh_of(kLoopback), std::nullopt);
}

TEST(Membership, RdmaGoesToTheAddressThatEnlisted) {
  const auto said = [](const char* target, const char* offered, bool is_infiniband) {
    const RdmaAddress rdma{.gid = IpAddress::parse(offered)->to_gid()};
    const auto checked = check_rdma_target(*IpAddress::parse(target), rdma, is_infiniband);
    return checked ? "" : checked.error().to_string();
  };
  const std::string hint =
      " for RDMA, which does not belong to this mesh\n"
      "  give the mesh the address that the GID of this rail has, or start the server without another --gid-rule";
  EXPECT_EQ(said("10.1.0.5", "10.1.0.5", false), "");
  EXPECT_EQ(said("fd00::5", "fd00::5", false), "");
  EXPECT_EQ(said("10.1.0.5", "fe80::1", true), "");
  EXPECT_EQ(said("10.1.0.5", "10.96.0.1", false), "10.1.0.5 offers 10.96.0.1" + hint);
  EXPECT_EQ(said("10.1.0.5", "fe80::1", false), "10.1.0.5 offers fe80::1" + hint);
}

// A coordinator that has the token, and one endpoint that it has enlisted.
class Targets : public testing::Test {
 protected:
  static constexpr MeshId kMesh{.bytes = {1}};

  Channel coordinator(uint32_t endpoint, const MeshId& mesh) {
    auto socket = Socket::connect("127.0.0.1", endpoints_.port(endpoint), soon());
    EXPECT_TRUE(socket) << socket.error().to_string();
    Channel channel(std::move(*socket));
    greet_as_client(channel, kToken);
    EXPECT_TRUE(channel.send(
        Enlist{.mesh = mesh, .transport = Transport::kTcp, .rails = {{.rail = 0, .address = kLoopback, .device = ""}}},
        soon()));
    EXPECT_TRUE(channel.expect<Enlisted>(milliseconds(20000)));
    return channel;
  }
  // What the endpoint answers to a step towards this port of loopback.
  static std::string problem(Channel& channel, uint16_t port) {
    const Step step{.number = 1,
                    .spec = brief(Transport::kTcp).latency,
                    .tasks = {{.rail = 0, .address = kLoopback, .port = port, .device = ""}}};
    EXPECT_TRUE(channel.send(step, soon()));
    const auto done = channel.expect<StepDone>(milliseconds(20000));
    return done ? done->pairs.at(0).problem : done.error().to_string();
  }

  Endpoints endpoints_{3};
};

TEST_F(Targets, HaveToBeInTheSameMesh) {
  Channel first = coordinator(0, kMesh);
  EXPECT_EQ(problem(first, endpoints_.port(1)),
            std::string(kWhere) +
                "asking 127.0.0.1 for its mesh: the peer says: 127.0.0.1 does not belong to a mesh of this server");
  {
    const Channel other = coordinator(1, MeshId{.bytes = {2}});
    EXPECT_EQ(problem(first, endpoints_.port(1)), std::string(kWhere) + "127.0.0.1 belongs to another mesh");
  }
  const Channel same = coordinator(2, kMesh);
  EXPECT_EQ(problem(first, endpoints_.port(2)), "");
}

// A server of something else: it gets the client's hello, and no traffic.
TEST_F(Targets, ThatAreNoEndpointsGetNoTraffic) {
  Channel channel = coordinator(0, kMesh);
  auto listener = *Listener::open(kLoopback, 0);
  std::string heard;
  std::jthread server([&] {
    auto socket = listener.accept(soon());
    ASSERT_TRUE(socket);
    const std::string answer = "HTTP/1.1 400 Bad Request\r\n\r\n";
    ASSERT_TRUE(socket->write_all(std::as_bytes(std::span(answer)), soon()));
    std::array<std::byte, 4096> buffer;
    while (const auto count = socket->read_some(buffer, soon()))
      heard.append(reinterpret_cast<const char*>(buffer.data()), *count);
  });
  EXPECT_EQ(problem(channel, listener.port()),
            std::string(kWhere) + R"(the peer does not speak railbed's control protocol: it sent "HTTP/1.1")");
  server.join();
  EXPECT_TRUE(heard.contains(R"("type":"hello")")) << heard;
  EXPECT_LT(heard.size(), 300u);
}

// An endpoint of an older railbed, or of another owner, without the token.
TEST_F(Targets, HaveToHaveTheToken) {
  Channel channel = coordinator(0, kMesh);
  const Endpoints others(1, patient(), "another token");
  EXPECT_EQ(problem(channel, others.port(0)),
            std::string(kWhere) + "the server does not have this token: its proof is wrong");
}

}  // namespace
}  // namespace railbed::perf::mesh

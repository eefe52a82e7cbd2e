// SPDX-License-Identifier: Apache-2.0
// UDP packets from one end of a veth pair to the other, between two namespaces.
#include "os/ports/packets.h"

#include "scratch.h"

namespace railbed {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

os::Deadline in(milliseconds time) {
  return std::chrono::steady_clock::now() + time;
}

class PacketsTest : public ScratchTest {
 protected:
  void SetUp() override {
    ScratchTest::SetUp();
    if (IsSkipped()) return;
    make_veth("v0", "v1");
    const os::Link peer = link(*host_, "v1");
    ASSERT_TRUE(host_->change(peer.index, {.netns = pod_.get()}).has_value());
    ASSERT_TRUE(host_->change(link(*host_, "v0").index, {.up = true}).has_value());
    ASSERT_TRUE(inside_->change(link(*inside_, "v1").index, {.up = true}).has_value());
  }
};

TEST_F(PacketsTest, ArriveAsTheyWereSent) {
  const auto port = os::real_packets();
  auto outside = port->open("/proc/self/ns/net", "v0", 67);
  ASSERT_TRUE(outside.has_value()) << outside.error().to_string();
  auto inside = port->open("/run/netns/pod", "v1", 68);
  ASSERT_TRUE(inside.has_value()) << inside.error().to_string();

  const os::UdpPacket question{.source = *IpAddress::parse("0.0.0.0"),
                               .destination = *IpAddress::parse("255.255.255.255"),
                               .source_port = 68,
                               .destination_port = 67,
                               .payload = std::string("discover\0me", 11),
                               .source_mac = {}};
  ASSERT_TRUE((*inside)->send(question, os::kToAll).has_value());
  auto heard = (*outside)->receive(in(seconds(30)));
  ASSERT_TRUE(heard.has_value()) << heard.error().to_string();
  os::UdpPacket wanted = question;
  wanted.source_mac = (*inside)->mac();
  EXPECT_EQ(*heard, wanted);

  // Back, to the asker alone; what is for another port is dropped.
  os::UdpPacket answer = question;
  std::swap(answer.source_port, answer.destination_port);
  answer.payload = "offer";
  os::UdpPacket astray = answer;
  astray.destination_port = 69;
  ASSERT_TRUE((*outside)->send(astray, (*inside)->mac()).has_value());
  ASSERT_TRUE((*outside)->send(answer, (*inside)->mac()).has_value());
  port->wait({inside->get()}, in(seconds(30)));
  heard = (*inside)->receive(in(seconds(30)));
  ASSERT_TRUE(heard.has_value()) << heard.error().to_string();
  EXPECT_EQ(heard->payload, "offer");
  EXPECT_EQ(heard->source_mac, (*outside)->mac());
}

TEST_F(PacketsTest, NothingComesInTime) {
  auto inside = os::real_packets()->open("/run/netns/pod", "v1", 68);
  ASSERT_TRUE(inside.has_value()) << inside.error().to_string();
  const auto heard = (*inside)->receive(in(milliseconds(50)));
  ASSERT_FALSE(heard.has_value());
  EXPECT_EQ(heard.error().code, Code::kTimeout);
  EXPECT_EQ(heard.error().message, "no packet came in time");
}

TEST_F(PacketsTest, SaysThatTheInterfaceIsNotThere) {
  const auto opened = os::real_packets()->open("/run/netns/pod", "v9", 68);
  ASSERT_FALSE(opened.has_value());
  EXPECT_EQ(opened.error().code, Code::kNotFound);
}

}  // namespace
}  // namespace railbed

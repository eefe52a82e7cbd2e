// SPDX-License-Identifier: Apache-2.0
#include "os/ports/netlink_message.h"

#include <cerrno>

#include <gtest/gtest.h>
#include <linux/netlink.h>

namespace railbed::os {
namespace {

constexpr uint32_t kSequence = 42;

void append(std::vector<uint8_t>& datagram, nlmsghdr header, const std::vector<uint8_t>& payload) {
  header.nlmsg_len = static_cast<uint32_t>(sizeof header + payload.size());
  const auto* bytes = reinterpret_cast<const uint8_t*>(&header);
  datagram.insert(datagram.end(), bytes, bytes + sizeof header);
  datagram.insert(datagram.end(), payload.begin(), payload.end());
  datagram.resize((datagram.size() + 3) / 4 * 4);
}

nlmsghdr header(uint16_t type, uint16_t flags = 0, uint32_t sequence = kSequence) {
  return {.nlmsg_len = 0, .nlmsg_type = type, .nlmsg_flags = flags, .nlmsg_seq = sequence, .nlmsg_pid = 0};
}

// errno, the refused request's header, `inner` more bytes of it, and a text attribute.
std::vector<uint8_t> acknowledgement(int code, uint32_t inner, const std::string& text) {
  nlmsgerr error{.error = code, .msg = {}};
  error.msg.nlmsg_len = static_cast<uint32_t>(sizeof(nlmsghdr)) + inner;
  std::vector<uint8_t> bytes(reinterpret_cast<uint8_t*>(&error), reinterpret_cast<uint8_t*>(&error) + sizeof error);
  bytes.resize(bytes.size() + inner, 0xee);
  bytes.resize((bytes.size() + 3) / 4 * 4);
  auto length = static_cast<uint16_t>(4 + text.size() + 1);
  bytes.insert(bytes.end(), {static_cast<uint8_t>(length), static_cast<uint8_t>(length >> 8), NLMSGERR_ATTR_MSG, 0});
  bytes.insert(bytes.end(), text.begin(), text.end());
  bytes.push_back(0);
  return bytes;
}

NetlinkReply read(const std::vector<uint8_t>& datagram) {
  NetlinkReply reply;
  read_datagram(datagram, kSequence, reply);
  return reply;
}

// The buffer is not initialized, so the gaps between attributes must be cleared.
TEST(NetlinkRequest, SendsNothingThatWasInItsMemory) {
  alignas(NetlinkRequest) static std::array<uint8_t, sizeof(NetlinkRequest)> place;
  place.fill(0xee);
  asm volatile("" : : "r"(place.data()) : "memory");  // otherwise the compiler drops the filling
  auto* request = new (place.data()) NetlinkRequest(16, 0);
  request->put_header(uint8_t{1});
  request->put_u8(2, 3);
  request->put_text(4, "ab");
  size_t nest = request->begin(5);
  request->put_u16(6, 7);
  request->end(nest);
  request->set_sequence(8);
  std::string bytes;
  for (uint8_t byte : request->bytes()) bytes += fmt::format("{:02x}", byte);
  EXPECT_EQ(bytes, "3000000010000500080000000000000001000000050002000300000007000400616200000c0005800600060007000000");
}

TEST(NetlinkMessage, AckWithAndWithoutTheRequest) {
  std::vector<uint8_t> capped;
  append(capped, header(NLMSG_ERROR, NLM_F_ACK_TLVS | NLM_F_CAPPED), acknowledgement(-EINVAL, 0, "bad mtu"));
  auto reply = read(capped);
  EXPECT_TRUE(reply.complete);
  EXPECT_EQ(netlink_error(reply.failure, "RTM_NEWLINK v0").message,
            "RTM_NEWLINK v0: EINVAL (Invalid argument): bad mtu");

  std::vector<uint8_t> full;
  append(full, header(NLMSG_ERROR, NLM_F_ACK_TLVS), acknowledgement(-EBUSY, 21, "in use"));
  EXPECT_EQ(read(full).failure.text, "in use");

  std::vector<uint8_t> fine;
  append(fine, header(NLMSG_ERROR, NLM_F_ACK_TLVS | NLM_F_CAPPED), acknowledgement(0, 0, "a warning"));
  EXPECT_TRUE(read(fine).complete);
  EXPECT_EQ(read(fine).failure.sys_errno, 0);
}

TEST(NetlinkMessage, DumpsEndInterruptedOrWithAnError) {
  std::vector<uint8_t> datagram;
  append(datagram, header(NLMSG_NOOP), {});
  append(datagram, header(16, NLM_F_MULTI), {1, 2, 3});
  append(datagram, header(16, NLM_F_MULTI, kSequence - 1), {9});  // an answer to an earlier request
  append(datagram, header(16, NLM_F_MULTI | NLM_F_DUMP_INTR), {4});
  auto reply = read(datagram);
  EXPECT_EQ(reply.messages.size(), 2U);
  EXPECT_TRUE(reply.interrupted);
  EXPECT_FALSE(reply.complete);

  append(datagram, header(NLMSG_DONE, NLM_F_MULTI), {0, 0, 0, 0});
  EXPECT_TRUE(read(datagram).complete);
  EXPECT_EQ(read(datagram).failure.sys_errno, 0);

  std::vector<uint8_t> failed;
  int32_t status = -EMSGSIZE;
  auto* bytes = reinterpret_cast<uint8_t*>(&status);
  append(failed, header(NLMSG_DONE, NLM_F_MULTI), {bytes, bytes + 4});
  EXPECT_EQ(read(failed).failure.sys_errno, EMSGSIZE);
}

TEST(NetlinkMessage, BrokenAnswersAreAnError) {
  std::vector<uint8_t> short_ack;
  append(short_ack, header(NLMSG_ERROR), {1, 0});
  EXPECT_EQ(read(short_ack).failure.sys_errno, EBADMSG);

  std::vector<uint8_t> lying;
  append(lying, header(16), {1, 2, 3, 4});
  lying[0] = 200;  // longer than the datagram
  EXPECT_EQ(read(lying).failure.text, "a netlink message with a wrong length");
  lying[0] = 3;
  EXPECT_EQ(read(lying).failure.sys_errno, EBADMSG);
}

std::vector<nlmsghdr> headers_of(Bytes bytes) {
  std::vector<nlmsghdr> all;
  while (bytes.size() >= sizeof(nlmsghdr)) {
    std::memcpy(&all.emplace_back(), bytes.data(), sizeof(nlmsghdr));
    bytes = bytes.subspan(std::min<size_t>(NLMSG_ALIGN(all.back().nlmsg_len), bytes.size()));
  }
  return all;
}

TEST(NetlinkMessage, AnnouncementsAreReadWhateverTheirNumberUpToABrokenOne) {
  std::vector<uint8_t> datagram;
  append(datagram, header(16, 0, 0), {1, 2, 3, 4});
  append(datagram, header(NLMSG_ERROR), acknowledgement(0, 0, ""));
  append(datagram, header(17, 0, kSequence), {5, 6, 7, 8});
  std::vector<NetlinkMessage> all = read_announcements(datagram);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].type, 16);
  EXPECT_EQ(all[1].type, 17);
  EXPECT_EQ(all[1].bytes.size(), sizeof(nlmsghdr) + 4);
  EXPECT_EQ(all[1].bytes.back(), 8);
  datagram.resize(datagram.size() - 1);
  EXPECT_EQ(read_announcements(datagram).size(), 1U);
  EXPECT_TRUE(read_announcements(std::vector<uint8_t>(3)).empty());
}

TEST(NetlinkBatch, NumbersItsRequestsAndWantsAWordAboutTheLastOnly) {
  NetlinkBatch batch;
  for (uint16_t type : {16, 20, 24}) {
    NetlinkRequest request(type, NLM_F_EXCL);
    request.put_header(uint8_t{1});
    batch.add(request);
  }
  batch.number(7);
  const std::vector<nlmsghdr> headers = headers_of(batch.bytes());
  ASSERT_EQ(headers.size(), 3U);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(headers[i].nlmsg_type, 16 + 4 * i);
    EXPECT_EQ(headers[i].nlmsg_seq, 7 + i);
    EXPECT_EQ(headers[i].nlmsg_flags, NLM_F_REQUEST | NLM_F_EXCL | (i == 2 ? NLM_F_ACK : 0));
  }
  EXPECT_FALSE(batch.overflowed());
  NetlinkRequest large(16, 0);
  large.put_text(1, std::string(9000, 'x'));
  batch.add(large);
  EXPECT_TRUE(batch.overflowed());
}

TEST(NetlinkBatch, TheFirstRefusalCountsAndTheLastWordEndsIt) {
  const auto answer = [](uint32_t sequence, int code, const std::string& text) {
    std::vector<uint8_t> datagram;
    append(datagram, header(NLMSG_ERROR, NLM_F_ACK_TLVS | NLM_F_CAPPED, sequence), acknowledgement(code, 0, text));
    return datagram;
  };
  BatchReply reply;
  read_batch_datagram(answer(6, -EIO, "of an earlier request"), 7, 4, reply);
  EXPECT_EQ(reply.failure.sys_errno, 0);
  read_batch_datagram(answer(8, -EEXIST, "taken"), 7, 4, reply);
  read_batch_datagram(answer(9, -EINVAL, "what follows from it"), 7, 4, reply);
  EXPECT_FALSE(reply.complete);
  read_batch_datagram(answer(10, 0, ""), 7, 4, reply);
  EXPECT_TRUE(reply.complete);
  EXPECT_EQ(reply.at, 1U);
  EXPECT_EQ(reply.failure.sys_errno, EEXIST);
  EXPECT_EQ(reply.failure.text, "taken");

  BatchReply fine;
  read_batch_datagram(answer(10, 0, ""), 7, 4, fine);
  EXPECT_TRUE(fine.complete);
  EXPECT_EQ(fine.failure.sys_errno, 0);

  BatchReply last;
  read_batch_datagram(answer(10, -EBUSY, ""), 7, 4, last);
  EXPECT_TRUE(last.complete);
  EXPECT_EQ(last.at, 3U);

  std::vector<uint8_t> lying = answer(10, 0, "");
  lying[0] = 3;
  BatchReply broken;
  read_batch_datagram(lying, 7, 4, broken);
  EXPECT_TRUE(broken.complete);
  EXPECT_EQ(broken.failure.sys_errno, EBADMSG);
}

TEST(NetlinkMessage, ARequestThatIsTooLongSaysSo) {
  NetlinkRequest request(16, 0);
  request.put_text(1, std::string(8000, 'x'));
  EXPECT_FALSE(request.overflowed());
  request.put_text(1, std::string(8000, 'x'));
  EXPECT_TRUE(request.overflowed());
}

}  // namespace
}  // namespace railbed::os

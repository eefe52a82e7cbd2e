// SPDX-License-Identifier: Apache-2.0
#include "os/ports/netlink_questions.h"

#include <cstring>

#include <gtest/gtest.h>

#include "os/netlink/test_messages.h"

namespace railbed::os {
namespace {

TEST(NetlinkQuestion, HasTheSameBytesForEachAskerAndKernel) {
  NetlinkQuestion device({NetlinkFamily::kDevlink, DEVLINK_CMD_GET}, "DEVLINK_CMD_GET");
  device.put_u32(1, 2);
  EXPECT_EQ(words_of(device.bytes()), "1c000000 00000500 00000000 00000000 01010000 08000100 02000000");
  EXPECT_EQ(words_of(device.request(0x15).bytes()), "1c000000 15000500 00000000 00000000 01010000 08000100 02000000");
  EXPECT_EQ(words_of(device.bytes()), "1c000000 00000500 00000000 00000000 01010000 08000100 02000000");
  EXPECT_EQ(device.family(), NetlinkFamily::kDevlink);
  EXPECT_EQ(device.what(), "DEVLINK_CMD_GET");

  const NetlinkQuestion all({NetlinkFamily::kRdma, RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_GET)}, "all",
                            NetlinkQuestion::Of::kAll);
  EXPECT_EQ(words_of(all.bytes()), "10000000 01140503 00000000 00000000");
  EXPECT_EQ(words_of(all.request(0).bytes()), words_of(all.bytes()));
}

TEST(NetlinkQuestion, CanOnlyHaveACommandThatReads) {
  for (uint16_t command : {DEVLINK_CMD_UNSPEC, DEVLINK_CMD_SET, DEVLINK_CMD_NEW, DEVLINK_CMD_DEL, DEVLINK_CMD_PORT_SET,
                           DEVLINK_CMD_PORT_SPLIT, DEVLINK_CMD_ESWITCH_SET, DEVLINK_CMD_RELOAD, DEVLINK_CMD_PARAM_SET,
                           DEVLINK_CMD_REGION_NEW, DEVLINK_CMD_HEALTH_REPORTER_SET, DEVLINK_CMD_HEALTH_REPORTER_RECOVER,
                           DEVLINK_CMD_HEALTH_REPORTER_DUMP_GET, DEVLINK_CMD_HEALTH_REPORTER_DUMP_CLEAR,
                           DEVLINK_CMD_FLASH_UPDATE, DEVLINK_CMD_RATE_SET, DEVLINK_CMD_SELFTESTS_RUN})
    EXPECT_FALSE(only_reads(NetlinkFamily::kDevlink, command)) << command;
  for (int command : {RDMA_NLDEV_CMD_SET, RDMA_NLDEV_CMD_NEWLINK, RDMA_NLDEV_CMD_DELLINK, RDMA_NLDEV_CMD_SYS_SET,
                      RDMA_NLDEV_CMD_GET_CHARDEV, RDMA_NLDEV_CMD_STAT_SET, RDMA_NLDEV_CMD_STAT_DEL}) {
    const auto type = static_cast<uint16_t>(RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, command));
    EXPECT_FALSE(only_reads(NetlinkFamily::kRdma, type)) << command;
  }
  // A number of one family is none of another.
  EXPECT_TRUE(only_reads(NetlinkFamily::kDevlink, DEVLINK_CMD_GET));
  EXPECT_FALSE(only_reads(NetlinkFamily::kRdma, DEVLINK_CMD_GET));
}

TEST(NetlinkAnswer, ForgetsItsAskerAndTheKernelsNumber) {
  const auto answer = [](uint16_t type) {
    const nlmsghdr header{
        .nlmsg_len = 20, .nlmsg_type = type, .nlmsg_flags = NLM_F_MULTI, .nlmsg_seq = 7, .nlmsg_pid = 99};
    NetlinkMessage message{type, std::vector<uint8_t>(20, 0xee)};
    std::memcpy(message.bytes.data(), &header, sizeof header);
    return message;
  };
  NetlinkMessage generic = answer(0x15);
  forget_asker(NetlinkFamily::kDevlink, generic);
  EXPECT_EQ(generic.type, 0);
  EXPECT_EQ(words_of(generic.bytes), "14000000 00000200 00000000 00000000 eeeeeeee");
  NetlinkMessage rdma = answer(0x1401);
  forget_asker(NetlinkFamily::kRdma, rdma);
  EXPECT_EQ(rdma.type, 0x1401);
  EXPECT_EQ(words_of(rdma.bytes), "14000000 01140200 00000000 00000000 eeeeeeee");
  NetlinkMessage cut{0x15, std::vector<uint8_t>(15, 0xee)};
  forget_asker(NetlinkFamily::kDevlink, cut);
  EXPECT_EQ(cut.bytes, std::vector<uint8_t>(15, 0xee));
}

}  // namespace
}  // namespace railbed::os

// SPDX-License-Identifier: Apache-2.0
#include "os/netlink/devlink.h"

#include <gtest/gtest.h>
#include <linux/genetlink.h>

#include "os/netlink/generic_family.h"
#include "os/netlink/test_messages.h"
#include "os/record/netlink_answers.h"

namespace railbed::os {
namespace {

TEST(DevlinkCodec, ReadsFamilyModeAndFirmware) {
  NetlinkRequest family(GENL_ID_CTRL, 0);
  family.put_header(genlmsghdr{});
  family.put_u16(CTRL_ATTR_FAMILY_ID, 0x15);
  EXPECT_EQ(decode_family(as_message(family, 1)), 0x15);

  auto set = as_message(encode_set_eswitch(0x15, PciAddress{0, 3, 0, 0}, EswitchMode::kSwitchdev), 0x15);
  EXPECT_EQ(decode_eswitch(set), EswitchMode::kSwitchdev);
  auto all = set.attributes_after(sizeof(genlmsghdr));
  EXPECT_EQ(all.at(0).text(), "pci");
  EXPECT_EQ(all.at(1).text(), "0000:03:00.0");

  NetlinkRequest info(0x15, 0);
  info.put_header(genlmsghdr{});
  for (auto [name, value] :
       {std::pair{"fw.psid", "MT_1"}, std::pair{"fw", "28.1"}, std::pair{"fw.version", "28.39.1002"}}) {
    size_t version = info.begin(DEVLINK_ATTR_INFO_VERSION_RUNNING);
    info.put_text(DEVLINK_ATTR_INFO_VERSION_NAME, name);
    info.put_text(DEVLINK_ATTR_INFO_VERSION_VALUE, value);
    info.end(version);
  }
  EXPECT_EQ(decode_firmware(as_message(info, 1)), "28.39.1002");
  read_all_cuts(as_message(info, 1), decode_firmware);
}

// Recordings are searched by these bytes.
TEST(DevlinkQuestions, HaveTheseBytes) {
  const PciAddress pf{0, 3, 0, 0};
  EXPECT_EQ(words_of(encode_get_eswitch(pf).bytes()),
            "30000000 00000500 00000000 00000000 1d010000 08000100 70636900 "
            "11000200 30303030 3a30333a 30302e30 00000000");
  EXPECT_EQ(words_of(encode_get_device_info(pf).bytes()),
            "30000000 00000500 00000000 00000000 33010000 08000100 70636900 "
            "11000200 30303030 3a30333a 30302e30 00000000");
}

TEST(DevlinkQuestions, SayWhatTheDriverDoesNotReport) {
  const PciAddress pf{0, 3, 0, 0};
  NetlinkAnswers answers;
  answers.put(encode_get_eswitch(pf), {});
  answers.put(encode_get_device_info(pf), {});
  const auto kernel = recorded_questions(answers);
  const Error no_mode = eswitch_mode(*kernel, pf).error();
  EXPECT_EQ(no_mode.code, Code::kUnsupported);
  EXPECT_EQ(no_mode.message, "DEVLINK_CMD_ESWITCH_GET pci/0000:03:00.0: the driver reports no mode");
  const Error no_version = firmware_version(*kernel, pf).error();
  EXPECT_EQ(no_version.code, Code::kNotFound);
  EXPECT_EQ(no_version.message, "DEVLINK_CMD_INFO_GET pci/0000:03:00.0: the driver reports no firmware version");
}

}  // namespace
}  // namespace railbed::os

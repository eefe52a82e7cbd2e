// SPDX-License-Identifier: Apache-2.0
#include "os/record/netlink_answers.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <linux/genetlink.h>

#include "os/netlink/devlink.h"

namespace railbed::os {
namespace {

std::vector<uint8_t> key_of(const NetlinkQuestion& question) {
  return {question.bytes().begin(), question.bytes().end()};
}

class RecordedQuestions : public NetlinkQuestions {
 public:
  explicit RecordedQuestions(const NetlinkAnswers& answers) : answers_(answers) {}
  Result<void> reach(NetlinkFamily family) override {
    TRY(answers_.reach(family));
    if (answers_.by_family.contains(family)) return {};
    return fail(Code::kUnsupported, "the recording contains no answers of {}", row_of(family).name);
  }
  Result<std::vector<NetlinkMessage>> ask(const NetlinkQuestion& question) override {
    TRY(answers_.reach(question.family()));
    if (const std::vector<NetlinkMessage>* messages = answers_.find(question)) return *messages;
    return fail(Code::kUnsupported, "{}: the recording contains no answer", question.what());
  }

 private:
  const NetlinkAnswers& answers_;
};

// devlink's answer to `command` about `pf`, whose attributes follow.
NetlinkRequest devlink_answer(uint8_t command, PciAddress pf) {
  NetlinkRequest answer(0, 0);
  answer.put_header(genlmsghdr{.cmd = command, .version = 1, .reserved = 0});
  answer.put_text(DEVLINK_ATTR_BUS_NAME, "pci");
  answer.put_text(DEVLINK_ATTR_DEV_NAME, pf.to_string());
  return answer;
}

std::vector<NetlinkMessage> one_message(const NetlinkRequest& answer) {
  NetlinkMessage message{0, {answer.bytes().begin(), answer.bytes().end()}};
  std::fill_n(message.bytes.begin() + offsetof(nlmsghdr, nlmsg_flags), sizeof(nlmsghdr::nlmsg_flags), uint8_t{0});
  return {std::move(message)};
}

}  // namespace

void NetlinkAnswers::put(const NetlinkQuestion& question, std::vector<NetlinkMessage> messages) {
  by_family[question.family()][key_of(question)] = std::move(messages);
}

const std::vector<NetlinkMessage>* NetlinkAnswers::find(const NetlinkQuestion& question) const {
  const auto family = by_family.find(question.family());
  if (family == by_family.end()) return nullptr;
  const auto answer = family->second.find(key_of(question));
  return answer == family->second.end() ? nullptr : &answer->second;
}

Result<void> NetlinkAnswers::reach(NetlinkFamily family) const {
  const auto refused = unreachable.find(family);
  if (refused != unreachable.end()) return fail(refused->second);
  return {};
}

std::unique_ptr<NetlinkQuestions> recorded_questions(const NetlinkAnswers& answers) {
  return std::make_unique<RecordedQuestions>(answers);
}

void put_eswitch_mode(NetlinkAnswers& answers, PciAddress pf, EswitchMode mode) {
  NetlinkRequest answer = devlink_answer(DEVLINK_CMD_ESWITCH_GET, pf);
  answer.put_u16(DEVLINK_ATTR_ESWITCH_MODE,
                 mode == EswitchMode::kSwitchdev ? DEVLINK_ESWITCH_MODE_SWITCHDEV : DEVLINK_ESWITCH_MODE_LEGACY);
  answers.put(encode_get_eswitch(pf), one_message(answer));
}

void put_firmware_version(NetlinkAnswers& answers, PciAddress pf, const std::string& version) {
  NetlinkRequest answer = devlink_answer(DEVLINK_CMD_INFO_GET, pf);
  const size_t running = answer.begin(DEVLINK_ATTR_INFO_VERSION_RUNNING);
  answer.put_text(DEVLINK_ATTR_INFO_VERSION_NAME, "fw.version");
  answer.put_text(DEVLINK_ATTR_INFO_VERSION_VALUE, version);
  answer.end(running);
  answers.put(encode_get_device_info(pf), one_message(answer));
}

}  // namespace railbed::os

// SPDX-License-Identifier: Apache-2.0
// The contract of NetlinkQuestions on machines in memory: the fake kernel, recordings of it. That of the real kernel is
// in tests/netns.
#include "os/record/netlink_answers.h"

#include <cerrno>

#include <gtest/gtest.h>

#include "os/fake/kernel.h"
#include "os/netlink/devlink.h"
#include "os/netlink/test_messages.h"
#include "os/record/recorded.h"

namespace railbed::os {
namespace {

constexpr PciAddress kWithSwitch{0, 0x3b, 0, 0};
constexpr PciAddress kWithout{0, 1, 0, 0};

constexpr uint16_t rdma_type(int command) {
  return static_cast<uint16_t>(RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, command));
}

// A recording by a reader that does what `read` does. One of an earlier version has no netlink.json.
enum class Version { kNow, kEarlier };
template <typename Read>
std::unique_ptr<Kernel> recorded_by(Kernel& machine, Version version, const Read& read) {
  Recorder recorder(machine);
  read(*recorder.kernel().questions());
  const MemoryFiles* seen = recorder.files().value();
  EXPECT_TRUE(seen->exists("/railbed/netlink.json"));
  auto kept = std::make_unique<MemoryFiles>();
  kept->put_file("/railbed/host.json", seen->read("/railbed/host.json").value());
  if (version == Version::kNow) kept->put_file("/railbed/netlink.json", seen->read("/railbed/netlink.json").value());
  auto recorded = recorded_kernel_over(std::move(kept));
  EXPECT_TRUE(recorded.has_value()) << (recorded ? "" : recorded.error().to_string());
  return std::move(*recorded);
}

enum class Machine { kFake, kRecorded, kRecordedEarlier };

class QuestionsTest : public testing::TestWithParam<Machine> {
 protected:
  void SetUp() override {
    FakeMachine machine;
    machine.pfs = {FakePf::mlx5(kWithSwitch, "eth4"), FakePf::igb(kWithout, "eth0")};
    kernel_ = std::make_unique<FakeKernel>(machine);
    ASSERT_TRUE(kernel_->eswitch().value()->set_mode(kWithSwitch, EswitchMode::kSwitchdev).has_value());
    if (GetParam() == Machine::kFake) return;
    kernel_ = recorded_by(*kernel_, GetParam() == Machine::kRecorded ? Version::kNow : Version::kEarlier,
                          [](NetlinkQuestions& questions) {
                            for (PciAddress pf : {kWithSwitch, kWithout}) {
                              (void)eswitch_mode(questions, pf);
                              (void)firmware_version(questions, pf);
                            }
                          });
  }
  std::unique_ptr<Kernel> kernel_;
};

INSTANTIATE_TEST_SUITE_P(Kernels, QuestionsTest,
                         testing::Values(Machine::kFake, Machine::kRecorded, Machine::kRecordedEarlier));

TEST_P(QuestionsTest, AreAnsweredAboutADeviceThatHasTheValue) {
  const auto questions = kernel_->questions();
  for (int time = 0; time < 2; ++time) {
    EXPECT_EQ(eswitch_mode(*questions, kWithSwitch), EswitchMode::kSwitchdev);
    EXPECT_EQ(firmware_version(*questions, kWithSwitch), "28.39.1002");
  }
}

TEST_P(QuestionsTest, AreUnsupportedAboutOneThatHasNot) {
  const auto questions = kernel_->questions();
  for (PciAddress pf : {kWithout, PciAddress{0, 9, 0, 0}}) {
    EXPECT_EQ(eswitch_mode(*questions, pf).error().code, Code::kUnsupported);
    EXPECT_EQ(firmware_version(*questions, pf).error().code, Code::kUnsupported);
  }
  const std::string message = eswitch_mode(*questions, kWithout).error().message;
  EXPECT_TRUE(message.starts_with("DEVLINK_CMD_ESWITCH_GET pci/0000:01:00.0: ")) << message;
}

// A family that cannot be reached is no family that is missing, and a recording keeps the difference.
TEST(NetlinkAnswers, AFamilyThatCannotBeReachedSaysWhichCallFailed) {
  FakeMachine machine;
  machine.pfs = {FakePf::mlx5(kWithSwitch, "eth4")};
  const struct {
    int sys_errno;
    Code code;
    const char* message;
  } cases[] = {
      {EMFILE, Code::kExhausted, "socket NETLINK_GENERIC: EMFILE (Too many open files)"},
      {EPERM, Code::kDenied, "socket NETLINK_GENERIC: EPERM (Operation not permitted)"},
      {EAFNOSUPPORT, Code::kDenied, "socket NETLINK_GENERIC: EAFNOSUPPORT (Address family not supported by protocol)"},
  };
  for (const auto& one : cases) {
    FakeKernel fake(machine);
    fake.refuse_netlink(NetlinkFamily::kDevlink, one.sys_errno);
    const auto recorded = recorded_by(
        fake, Version::kNow, [](NetlinkQuestions& questions) { (void)questions.reach(NetlinkFamily::kDevlink); });
    for (Kernel* kernel : {static_cast<Kernel*>(&fake), recorded.get()}) {
      const Result<void> reached = kernel->questions()->reach(NetlinkFamily::kDevlink);
      ASSERT_FALSE(reached.has_value());
      EXPECT_EQ(reached.error().message, one.message);
      EXPECT_EQ(reached.error().code, one.code);
      EXPECT_EQ(reached.error().sys_errno, one.sys_errno);
      EXPECT_EQ(eswitch_mode(*kernel->questions(), kWithSwitch).error().message, one.message);
    }
    fake.refuse_netlink(NetlinkFamily::kDevlink, 0);
    EXPECT_TRUE(fake.questions()->reach(NetlinkFamily::kDevlink).has_value());
    EXPECT_EQ(eswitch_mode(*fake.questions(), kWithSwitch), EswitchMode::kLegacy);
  }
}

TEST(NetlinkAnswers, AFamilyThatAKernelLacksIsUnsupportedAndNotRecorded) {
  FakeMachine machine;
  machine.pfs = {FakePf::mlx5(kWithSwitch, "eth4")};
  FakeKernel fake(machine);
  fake.refuse_netlink(NetlinkFamily::kDevlink, EPROTONOSUPPORT);
  EXPECT_EQ(fake.questions()->reach(NetlinkFamily::kDevlink).error().code, Code::kUnsupported);
  Recorder recorder(fake);
  (void)recorder.kernel().questions()->reach(NetlinkFamily::kDevlink);
  EXPECT_FALSE(recorder.files().value()->exists("/railbed/netlink.json"));
}

TEST(NetlinkAnswers, TheRdmaPortIsRefusedWithItsFamilyAlsoInARecording) {
  FakeKernel fake{FakeMachine{}};
  fake.refuse_netlink(NetlinkFamily::kRdma, EMFILE);
  const auto recorded = [&] {
    Recorder recorder(fake);
    (void)recorder.kernel().rdma();
    auto kept = std::make_unique<MemoryFiles>();
    const MemoryFiles* seen = recorder.files().value();
    EXPECT_FALSE(seen->exists("/railbed/rdma.json"));
    kept->put_file("/railbed/netlink.json", seen->read("/railbed/netlink.json").value());
    return std::move(*recorded_kernel_over(std::move(kept)));
  }();
  for (Kernel* kernel : {static_cast<Kernel*>(&fake), recorded.get()}) {
    const auto port = kernel->rdma();
    ASSERT_FALSE(port.has_value());
    EXPECT_EQ(port.error().message, "socket NETLINK_RDMA: EMFILE (Too many open files)");
    EXPECT_EQ(port.error().code, Code::kExhausted);
  }
}

// What a new question costs: the answer in the fake machine, and nothing for the recording.
TEST(NetlinkAnswers, AnyQuestionIsFakedAndRecordedByItsBytes) {
  const NetlinkQuestion all({NetlinkFamily::kRdma, rdma_type(RDMA_NLDEV_CMD_GET)}, "all", NetlinkQuestion::Of::kAll);
  const NetlinkQuestion one({NetlinkFamily::kRdma, rdma_type(RDMA_NLDEV_CMD_GET)}, "one");
  const NetlinkQuestion ports({NetlinkFamily::kRdma, rdma_type(RDMA_NLDEV_CMD_PORT_GET)}, "ports");
  const NetlinkQuestion devices({NetlinkFamily::kDevlink, DEVLINK_CMD_GET}, "devices", NetlinkQuestion::Of::kAll);
  std::vector<NetlinkMessage> two;
  for (const char* name : {"mlx5_0", "mlx5_1"}) {
    NetlinkRequest message(rdma_type(RDMA_NLDEV_CMD_GET), 0);
    message.put_text(RDMA_NLDEV_ATTR_DEV_NAME, name);
    two.push_back(as_message(message, rdma_type(RDMA_NLDEV_CMD_GET)));
  }
  FakeMachine machine;
  machine.answers.put(all, two);
  machine.answers.put(ports, {two[0]});
  machine.answers.put(devices, {});
  FakeKernel fake(machine);
  const auto recorded = recorded_by(fake, Version::kNow, [&](NetlinkQuestions& questions) {
    for (const NetlinkQuestion* question : {&all, &one, &devices}) (void)questions.ask(*question);
  });
  for (Kernel* kernel : {static_cast<Kernel*>(&fake), recorded.get()}) {
    EXPECT_EQ(kernel->questions()->ask(all), two);
    EXPECT_EQ(kernel->questions()->ask(devices), std::vector<NetlinkMessage>{});
  }
  EXPECT_EQ(fake.questions()->ask(one).error().message, "one: ENODEV (No such device)");
  EXPECT_EQ(fake.questions()->ask(ports), std::vector<NetlinkMessage>{two[0]});
  // What was not asked is not in the recording, nor is what had no answer.
  EXPECT_EQ(recorded->questions()->ask(one).error().message, "one: the recording contains no answer");
  EXPECT_EQ(recorded->questions()->ask(ports).error().code, Code::kUnsupported);
}

TEST(NetlinkAnswers, ARecordingOfAnEarlierVersionHasNoOtherAnswers) {
  FakeMachine machine;
  machine.pfs = {FakePf::mlx5(kWithSwitch, "eth4")};
  FakeKernel fake(machine);
  const auto earlier = recorded_by(fake, Version::kEarlier,
                                   [](NetlinkQuestions& questions) { (void)eswitch_mode(questions, kWithSwitch); });
  EXPECT_EQ(eswitch_mode(*earlier->questions(), kWithSwitch), EswitchMode::kLegacy);
  EXPECT_EQ(firmware_version(*earlier->questions(), kWithSwitch).error().code, Code::kUnsupported);
}

}  // namespace
}  // namespace railbed::os

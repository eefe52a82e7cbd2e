// SPDX-License-Identifier: Apache-2.0
// Ports of the real kernel other than interfaces: processes, uevents, RDMA, devlink.
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <sys/wait.h>
#include <unistd.h>

#include "os/netlink/devlink.h"
#include "os/netlink/rdma_codec.h"
#include "scratch.h"

namespace railbed::os {
namespace {

class KernelTest : public ScratchTest {
 protected:
  // The output and the exit status of a child that calls exec_in.
  struct Ended {
    int status = 0;
    std::string output;
  };
  Ended exec(const ExecRequest& request) {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
      dup2(ends[1], STDOUT_FILENO);
      close(ends[0]);
      auto failed = kernel_->processes().exec_in(request);
      std::string text = failed.error().story();
      (void)!write(ends[1], text.data(), text.size());
      _exit(100);
    }
    close(ends[1]);
    Ended ended;
    char buffer[512];
    for (ssize_t count; (count = read(ends[0], buffer, sizeof buffer)) > 0;)
      ended.output.append(buffer, static_cast<size_t>(count));
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    ended.status = WEXITSTATUS(status);
    return ended;
  }
};

TEST_F(KernelTest, ProgramsRunInsideWithTheirOwnSys) {
  make_veth("v0", "v1");
  auto moved = host_->change(link(*host_, "v0").index, {.name = IfName{"net1"}, .netns = pod_.get()});
  ASSERT_TRUE(moved.has_value());
  auto ended = exec({.command = {"sh", "-c", "ls /sys/class/net; echo $GREETING; exit 7"},
                     .environment = {"GREETING=hello there"},
                     .netns_path = "/run/netns/pod"});
  EXPECT_EQ(ended.output, "lo\nnet1\nhello there\n");
  EXPECT_EQ(ended.status, 7);
  EXPECT_FALSE(std::filesystem::exists("/sys/class/net/net1"));  // this process keeps its own /sys
}

TEST_F(KernelTest, KnowsItsOwnNamespaceUnderAnyName) {
  EXPECT_EQ(kernel_->netns().is_own("/proc/self/ns/net"), true);
  EXPECT_EQ(kernel_->netns().is_own("/proc/" + std::to_string(getpid()) + "/ns/net"), true);
  EXPECT_EQ(kernel_->netns().is_own("/run/netns/pod"), false);
  EXPECT_EQ(kernel_->netns().is_own("/run/netns/missing").error().code, Code::kNotFound);
}

TEST_F(KernelTest, AProgramThatCannotRunSaysWhy) {
  EXPECT_EQ(exec({.command = {"no-such-program"}, .netns_path = "/run/netns/pod"}).output,
            "exec no-such-program: ENOENT (No such file or directory)");
  EXPECT_EQ(exec({.command = {"true"}, .netns_path = "/run/netns/none"}).output,
            "open network namespace /run/netns/none: ENOENT (No such file or directory)");
  EXPECT_EQ(exec({.command = {"true"}, .environment = {"=x"}}).output, "exec: \"=x\" is not KEY=value");
  EXPECT_EQ(exec({}).output, "exec: no command is given");
}

TEST_F(KernelTest, CapabilitiesAreThoseOfThisProcess) {
  EXPECT_EQ(kernel_->processes().missing_capabilities({"CAP_NET_ADMIN", "CAP_SYS_ADMIN", "CAP_FLYING"}),
            std::vector<std::string>{"CAP_FLYING"});
}

TEST_F(KernelTest, ModulesThatAreThereOrNot) {
  auto modules = kernel_->files().list("/sys/module");
  ASSERT_TRUE(modules.has_value());
  ASSERT_FALSE(modules->empty());
  EXPECT_TRUE(kernel_->processes().load_module(modules->front()).has_value());
  EXPECT_EQ(kernel_->processes().load_module("x; reboot").error().message, "\"x; reboot\" is not a module name");
  auto missing = kernel_->processes().load_module("no_such_module");
  ASSERT_FALSE(missing.has_value());
  EXPECT_TRUE(missing.error().message.starts_with("module no_such_module: modprobe: ") ||
              missing.error().message.starts_with("run modprobe for module no_such_module: "))
      << missing.error().message;
}

TEST_F(KernelTest, InterfacesAreAnnounced) {
  auto uevents = kernel_->uevents().open();
  ASSERT_TRUE(uevents.has_value()) << uevents.error().to_string();
  auto watch = kernel_->link_watch().value();
  make_veth("v0", "v1");
  auto deadline = kernel_->clock().now() + std::chrono::seconds(60);
  auto event = (*uevents)->next(deadline);
  while (event && event->properties["INTERFACE"] != "v0") event = (*uevents)->next(deadline);
  ASSERT_TRUE(event.has_value()) << event.error().to_string();
  EXPECT_EQ(event->action, "add");
  EXPECT_EQ(event->subsystem, "net");
  EXPECT_TRUE(watch->next(deadline).has_value());
  // The kernel may have more to say of them; some time it has said it all.
  auto change = watch->next(kernel_->clock().now());
  while (change) change = watch->next(kernel_->clock().now());
  EXPECT_EQ(change.error().code, Code::kTimeout);
  event = (*uevents)->next(kernel_->clock().now());
  while (event) event = (*uevents)->next(kernel_->clock().now());
  EXPECT_EQ(event.error().message, "no uevent before the deadline");
}

TEST_F(KernelTest, RdmaIsThereOrSaysWhyNot) {
  auto port = kernel_->rdma();
  if (!port) {
    EXPECT_EQ(port.error().code, Code::kUnsupported);
    EXPECT_EQ(port.error().to_string(),
              "socket NETLINK_RDMA: EPROTONOSUPPORT (Protocol not supported)\n  this kernel has no RDMA, or its "
              "modules are not loaded (modprobe ib_uverbs)");
    return;
  }
  EXPECT_TRUE((*port)->list().has_value());
  EXPECT_TRUE((*port)->netns_mode().has_value());
  EXPECT_EQ((*port)->remove_soft("none").error().code, Code::kNotFound);
}

TEST_F(KernelTest, ADeviceWithoutEswitchSaysSo) {
  const PciAddress nothing{0xffff, 0xff, 31, 7};
  const auto questions = kernel_->questions();
  auto mode = eswitch_mode(*questions, nothing);
  ASSERT_FALSE(mode.has_value());
  EXPECT_EQ(mode.error().code, Code::kUnsupported) << mode.error().to_string();
  EXPECT_EQ(firmware_version(*questions, nothing).error().code, Code::kUnsupported);
  auto port = kernel_->eswitch();
  auto set = port ? (*port)->set_mode(nothing, EswitchMode::kSwitchdev) : Result<void>(fail(port.error()));
  ASSERT_FALSE(set.has_value());
  EXPECT_EQ(set.error().code, Code::kUnsupported) << set.error().to_string();
}

// netlink's header, without what is the asker's.
nlmsghdr header_of(const NetlinkMessage& message) {
  nlmsghdr header{};
  EXPECT_GE(message.bytes.size(), sizeof header);
  std::memcpy(&header, message.bytes.data(), std::min(message.bytes.size(), sizeof header));
  return header;
}

// A kernel without devlink devices, as most have here, answers with nothing.
TEST_F(KernelTest, AllDevlinkDevicesAreListedOrThereIsNoDevlink) {
  const NetlinkQuestion all({NetlinkFamily::kDevlink, DEVLINK_CMD_GET}, "DEVLINK_CMD_GET", NetlinkQuestion::Of::kAll);
  const auto questions = kernel_->questions();
  for (int time = 0; time < 2; ++time) {
    auto messages = questions->ask(all);
    if (!messages) {
      EXPECT_EQ(messages.error().code, Code::kUnsupported) << messages.error().to_string();
      continue;
    }
    for (const NetlinkMessage& message : *messages) {
      const nlmsghdr header = header_of(message);
      EXPECT_EQ(header.nlmsg_len, message.bytes.size());
      EXPECT_EQ(header.nlmsg_type + message.type + header.nlmsg_seq + header.nlmsg_pid, 0U);
    }
  }
}

TEST_F(KernelTest, RdmaDevicesAreThoseOfTheirPort) {
  const NetlinkQuestion all({NetlinkFamily::kRdma, RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_GET)},
                            "RDMA_NLDEV_CMD_GET", NetlinkQuestion::Of::kAll);
  auto messages = kernel_->questions()->ask(all);
  auto port = kernel_->rdma();
  ASSERT_EQ(messages.has_value(), port.has_value());
  if (!messages) {
    EXPECT_EQ(messages.error().code, Code::kUnsupported) << messages.error().to_string();
    return;
  }
  std::vector<std::string> names;
  for (const NetlinkMessage& message : *messages) {
    EXPECT_EQ(message.type, RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_GET));
    if (auto device = decode_rdma_device(message)) names.push_back(device->name);
  }
  std::vector<std::string> wanted;
  const auto devices = (*port)->list();
  for (const RdmaLink& device : devices.value()) wanted.push_back(device.name);
  EXPECT_EQ(names, wanted);
}

TEST_F(KernelTest, ReportsWhatItIs) {
  EXPECT_TRUE(kernel_->live());
  EXPECT_EQ(kernel_->kernel_release() + "\n", kernel_->files().read("/proc/sys/kernel/osrelease").value());
  EXPECT_EQ(kernel_->boot_id().size(), 36U);
  EXPECT_FALSE(kernel_->host_name().empty());
}

}  // namespace
}  // namespace railbed::os

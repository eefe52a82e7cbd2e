// SPDX-License-Identifier: Apache-2.0
// A pod with a user namespace of its own (hostUsers: false) on the real kernel: it has all rights over its network,
// moves its interface to a namespace that it makes, and does not see all sysctls.
#include <cerrno>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attach/attach.h"
#include "attach/held.h"
#include "attach/test_networks.h"
#include "os/real/descriptor.h"
#include "scratch.h"

namespace railbed::attach {
namespace {

using testing::HasSubstr;

constexpr const char* kName = "rootless";
constexpr const char* kPath = "/run/netns/rootless";

// Moves `net1` to a new namespace, in which this process is afterwards. Returns an errno.
int hide() {
  const std::unique_ptr<os::Kernel> kernel = os::real_kernel();
  auto pod = kernel->links();
  if (!pod.has_value()) return pod.error().sys_errno;
  const auto link = (*pod)->find(IfName{"net1"}, os::WithVfs::kNo);
  if (!link.has_value()) return link.error().sys_errno;
  if (::unshare(CLONE_NEWNET) != 0) return errno;
  const auto inner = kernel->netns().open("/proc/self/ns/net");
  if (!inner.has_value()) return inner.error().sys_errno;
  const Result<void> moved = (*pod)->change(link->index, {.name = IfName{"away"}, .netns = inner->get()});
  return moved.has_value() ? 0 : moved.error().sys_errno;
}

// A process in a user namespace and a network namespace of its own, as a pod's. It answers with an errno to each byte.
class RootlessProcess {
 public:
  RootlessProcess() {
    int down[2];
    int up[2];
    if (::pipe2(down, O_CLOEXEC) != 0 || ::pipe2(up, O_CLOEXEC) != 0) return;
    pid_ = ::fork();
    if (pid_ == 0) {
      ::close(down[1]);
      ::close(up[0]);
      run(down[0], up[1]);
    }
    ::close(down[0]);
    ::close(up[1]);
    orders_ = os::Descriptor(down[1]);
    answers_ = os::Descriptor(up[0]);
    begun_ = answer();
  }
  ~RootlessProcess() { end(); }

  int pid() const { return pid_; }
  int begun() const { return begun_; }  // an errno
  int hide_net1() { return ::write(orders_.get(), "h", 1) == 1 ? answer() : errno; }
  void end() {
    orders_ = os::Descriptor();
    if (pid_ > 0) ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

 private:
  [[noreturn]] static void run(int orders, int answers) {
    int failure = ::unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0 ? 0 : errno;
    char order = 0;
    while (::write(answers, &failure, sizeof failure) == sizeof failure && ::read(orders, &order, 1) == 1)
      failure = hide();
    ::_exit(0);
  }
  int answer() const {
    int failure = EIO;
    return ::read(answers_.get(), &failure, sizeof failure) == sizeof failure ? failure : EIO;
  }

  int pid_ = -1;
  int begun_ = EIO;
  os::Descriptor orders_;
  os::Descriptor answers_;
};

class HiddenTest : public ScratchTest {
 protected:
  void SetUp() override {
    ScratchTest::SetUp();
    if (IsSkipped()) return;
    process_ = std::make_unique<RootlessProcess>();
    if (process_->begun() != 0) GTEST_SKIP() << "needs user namespaces: unshare says " << errno_name(process_->begun());
    const std::string file = fmt::format("/proc/{}/ns/net", process_->pid());
    ::close(::open(kPath, O_CREAT | O_RDONLY | O_CLOEXEC, 0444));
    ASSERT_EQ(::mount(file.c_str(), kPath, "none", MS_BIND, nullptr), 0) << errno_name(errno);
    make_veth("v0", "v1");
  }
  void TearDown() override {
    process_.reset();
    ScratchTest::TearDown();
  }

  os::Deadline soon() { return kernel_->clock().now() + std::chrono::seconds(60); }
  std::string attach(const std::vector<std::string>& plugins) {
    return message(attach_with_addresses(
        *kernel_, *store_,
        {.pod = "default/a@c1", .netns_path = kPath, .interfaces = {wanted("net1", plugins)}, .others_stay = true},
        soon()));
  }
  DetachReport detach() {
    auto report = detach_pod(*kernel_, *store_, "default/a@c1", soon());
    EXPECT_EQ(message(report), "");
    return report.value_or(DetachReport{});
  }
  bool is_free() { return store_->attachments()->empty() && store_->all_leases()->empty(); }
  bool has_ended_now() {
    return has_ended(kernel_->files(), store_->attachments()->front(), kernel_->netns().numbers().value());
  }

  std::unique_ptr<RootlessProcess> process_;
  std::unique_ptr<state::Store> store_ = state::memory_store();
};

constexpr const char* kHiddenMacvlan =
    R"({"type":"macvlan","master":"v0","ipam":{"type":"whereabouts","range":"10.9.0.0/24"}})";
constexpr const char* kHiddenDevice =
    R"({"type":"host-device","device":"v0","ipam":{"type":"whereabouts","range":"10.9.0.0/24"}})";

TEST_F(HiddenTest, WhatAPodHidesIsAnOrphanUntilThatNamespaceHasEnded) {
  for (const char* network : {kHiddenMacvlan, kHiddenDevice}) {
    SCOPED_TRACE(network);
    ASSERT_EQ(attach({network}), "");
    ASSERT_EQ(process_->hide_net1(), 0);
    EXPECT_EQ(detach().orphaned, 1);
    ASSERT_EQ(store_->attachments()->size(), 1u);
    EXPECT_EQ(orphaned_by(store_->attachments()->front()), OrphanedBy::kHidden);
    EXPECT_EQ(store_->all_leases()->size(), 1u);
    EXPECT_FALSE(has_ended_now());
    const std::optional<os::Nsid> inner = netns_ref_of(store_->attachments()->front()).nsid;
    const NetnsRef pod = netns_ref_at(*kernel_, kPath).value();
    EXPECT_NE(inner, pod.nsid);
    // The pod's own namespace goes with its sandbox.
    ASSERT_EQ(message(kernel_->netns().remove(kName)), "");
    wait_for_end(pod.nsid);
    EXPECT_FALSE(has_ended_now());
    process_->end();
    wait_for_end(inner);
    EXPECT_TRUE(has_ended_now());
    EXPECT_EQ(detach().detached, 1);
    EXPECT_TRUE(is_free());
    TearDown();
    SetUp();
    if (IsSkipped()) return;
  }
}

TEST_F(HiddenTest, WhatAPodHasRemovedIsNoOrphan) {
  ASSERT_EQ(attach({kHiddenMacvlan}), "");
  const auto pod = kernel_->netns().open(kPath).value();
  EXPECT_FALSE(kernel_->netns().knows_others(*pod).value());
  const auto links = kernel_->netns().links(*pod).value();
  ASSERT_EQ(message(links->remove(link(*links, "net1").index)), "");
  EXPECT_EQ(detach().detached, 1);
  EXPECT_TRUE(is_free());
}

TEST_F(HiddenTest, AnOrdinaryDetachOfSuchAPod) {
  for (const char* network : {kHiddenMacvlan, kHiddenDevice}) {
    ASSERT_EQ(attach({network}), "");
    EXPECT_EQ(detach().detached, 1);
    EXPECT_TRUE(is_free());
  }
}

TEST_F(HiddenTest, ASysctlThatItsNamespaceDoesNotShowSaysSo) {
  const auto rootless = kernel_->netns().open(kPath).value();
  EXPECT_FALSE(kernel_->netns().is_of_initial_user(*rootless).value());
  const auto of_initial = kernel_->netns().is_of_initial_user(*pod_);
  if (!of_initial.value_or(false)) GTEST_SKIP() << "this test itself runs in a user namespace";
  std::string missing;
  for (const char* key : {"net/core/somaxconn", "net/ipv4/neigh/default/gc_stale_time", "net/unix/max_dgram_qlen",
                          "net/core/xfrm_acq_expires", "net/ipv6/route/gc_timeout"})
    if (kernel_->netns().sysctl(*pod_, key).has_value() && !kernel_->netns().sysctl(*rootless, key).has_value())
      missing = key;
  if (missing.empty()) GTEST_SKIP() << "this kernel shows such pods all sysctls";
  const std::string tuning = fmt::format(R"({{"type":"tuning","sysctl":{{"{}":"300"}}}})", missing);
  EXPECT_THAT(attach({kHiddenMacvlan, tuning}),
              HasSubstr(fmt::format("this kernel does not show {} in its network namespace", missing)));
  EXPECT_TRUE(is_free());
}

}  // namespace
}  // namespace railbed::attach

// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <filesystem>

#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include "os/fake/kernel.h"
#include "scratch.h"

namespace railbed {
namespace {

std::string& reason() {
  static std::string text;
  return text;
}

void leave_the_machine() {
  if (::unshare(CLONE_NEWNET | CLONE_NEWNS) != 0) {
    reason() = fmt::format("needs root: unshare says {}", errno_name(errno));
    return;
  }
  std::error_code ignored;
  std::filesystem::create_directories("/run/netns", ignored);
  if (::mount("", "/", "none", MS_SLAVE | MS_REC, nullptr) != 0 ||
      ::mount("railbed", "/run/netns", "tmpfs", 0, "mode=755") != 0)
    reason() = fmt::format("needs root: mount says {}", errno_name(errno));
}

}  // namespace

const std::string& why_no_root() {
  return reason();
}

void ScratchTest::SetUp() {
  if (real() && !why_no_root().empty()) GTEST_SKIP() << why_no_root();
  if (real())
    kernel_ = os::real_kernel();
  else
    kernel_ = std::make_unique<os::FakeKernel>();
  ASSERT_TRUE(kernel_->netns().create("pod").has_value());
  pod_ = kernel_->netns().open("/run/netns/pod").value();
  host_ = kernel_->links().value();
  inside_ = kernel_->netns().links(*pod_).value();
}

void ScratchTest::TearDown() {
  if (!host_) return;
  inside_.reset();
  pod_.reset();
  auto names = kernel_->netns().names();
  for (const std::string& name : names.value()) EXPECT_TRUE(kernel_->netns().remove(name).has_value());
  auto links = host_->list(os::WithVfs::kNo);
  for (const os::Link& left : links.value())
    if (!left.kind.empty()) (void)host_->remove(left.index);  // fails for the other end of a removed pair
}

os::Link ScratchTest::link(os::LinkPort& port, const std::string& name) {
  auto found = port.find(IfName{name}, os::WithVfs::kNo);
  EXPECT_TRUE(found.has_value()) << (found ? "" : found.error().to_string());
  return found.value_or(os::Link{});
}

bool ScratchTest::has(os::LinkPort& port, const std::string& name) {
  return port.find(IfName{name}, os::WithVfs::kNo).has_value();
}

void ScratchTest::wait_for_end(const std::optional<os::Nsid>& nsid) {
  ASSERT_TRUE(nsid.has_value());
  const auto deadline = kernel_->clock().now() + std::chrono::seconds(90);
  while (kernel_->netns().numbers().value().contains(*nsid) && kernel_->clock().now() < deadline)
    kernel_->clock().wait_until(kernel_->clock().now() + std::chrono::milliseconds(10));
}

void ScratchTest::make_veth(const std::string& name, const std::string& peer) {
  os::NewLink pair{.kind = "veth", .name = IfName{name}};
  pair.peer_name = IfName{peer};
  auto made = host_->create(pair);
  ASSERT_TRUE(made.has_value()) << made.error().to_string();
}

}  // namespace railbed

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  railbed::leave_the_machine();
  return RUN_ALL_TESTS();
}

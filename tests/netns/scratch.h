// SPDX-License-Identifier: Apache-2.0
// A place to try things with the real kernel without touching the machine: main() has put this process into
// its own network and mount namespaces, where /run/netns is a directory of its own. The same tests run over
// the fake kernel, which must answer alike.
#pragma once

#include <memory>

#include <gtest/gtest.h>

#include "os/ports/kernel.h"

namespace railbed {

// Why this kernel or user cannot run the tests; they skip themselves with this text.
const std::string& why_no_root();

class ScratchTest : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  os::Link link(os::LinkPort& port, const std::string& name);
  bool has(os::LinkPort& port, const std::string& name);
  // A veth pair in the "host" namespace.
  void make_veth(const std::string& name, const std::string& peer);

  // Until the kernel says that the namespace with this number has ended, which may be a moment after its last holder.
  void wait_for_end(const std::optional<os::Nsid>& nsid);

  virtual bool real() const { return true; }

  std::unique_ptr<os::Kernel> kernel_;
  std::unique_ptr<os::LinkPort> host_;
  std::unique_ptr<os::Netns> pod_;  // namespace "pod" in /run/netns
  std::unique_ptr<os::LinkPort> inside_;
};

// The same tests run on both kernels.
enum class On { kReal, kFake };

class ContractTest : public ScratchTest, public testing::WithParamInterface<On> {
 protected:
  bool real() const override { return GetParam() == On::kReal; }
};

}  // namespace railbed

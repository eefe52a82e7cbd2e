// SPDX-License-Identifier: Apache-2.0
// A node's loop killed at every write of the state and at every call to the machine: the next agent, with the same node
// state, ends in the same machine, and with policies drawn by chance in the one that `up` makes of them.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "agent/cluster/test_node.h"

namespace railbed::agent {
namespace {

// VFs of both PFs; then eth0 is given back and eth1 gets others, of another kind.
const std::string kFirst = two_policies();
const std::string kSecond = policy_text("rail1", "eth1", 4, "  deviceType: vfio-pci\n  mtu: 3000\n");

struct Orders {
  TestNode node;
  doc::Value first = node.state_of(kFirst, 1);
  doc::Value second = node.state_of(kSecond, 2);

  std::string end() {
    const std::string note = node.kept->note(kNodeStateNote).value().value_or("");
    return node.everything() + note + "\n" + node.offers.last();
  }
  // Both orders, the second pass of each for what the first had to hold back.
  void run() {
    node.pass(first);
    node.pass(second);
  }
};

TEST(NodeKilled, AtEveryWriteToTheStateTheNextAgentComesToTheSameEnd) {
  Orders clean;
  clean.run();
  const std::string wanted = clean.end();
  ASSERT_EQ(clean.node.reported("syncStatus"), "Succeeded");
  const int writes = clean.node.store.writes();
  ASSERT_GT(writes, 20);
  for (int nth = 0; nth <= writes; ++nth) {
    SCOPED_TRACE(fmt::format("killed after write {}", nth));
    Orders killed;
    killed.node.store.kill_after(nth, [&] { killed.node.kernel.kill_after(0); });
    killed.run();
    killed.node.restart();
    killed.node.pass(killed.second);
    EXPECT_EQ(killed.node.reported("syncStatus"), "Succeeded") << killed.node.reported("lastSyncError");
    ASSERT_EQ(killed.end(), wanted);
  }
}

class NodeKilledAt : public testing::TestWithParam<os::FakeKernel::Kill> {};

TEST_P(NodeKilledAt, EveryCallTheNextAgentComesToTheSameEnd) {
  Orders clean;
  clean.run();
  const std::string wanted = clean.end();
  const int calls = static_cast<int>(clean.node.kernel.journal().size());
  ASSERT_GT(calls, 20);
  for (int nth = 0; nth <= calls; ++nth) {
    SCOPED_TRACE(fmt::format("killed after call {}", nth));
    Orders killed;
    killed.node.kernel.kill_after(nth, GetParam());
    killed.run();
    killed.node.restart();
    killed.node.pass(killed.second);
    EXPECT_EQ(killed.node.reported("syncStatus"), "Succeeded") << killed.node.reported("lastSyncError");
    ASSERT_EQ(killed.end(), wanted);
  }
}
INSTANTIATE_TEST_SUITE_P(Kinds, NodeKilledAt,
                         testing::Values(os::FakeKernel::Kill::kBetween, os::FakeKernel::Kill::kUnanswered));

// Each call refused once: the pass reports it, and a later one fixes it.
TEST(NodeKilled, EveryRefusedCallIsFixedByALaterPass) {
  Orders clean;
  clean.run();
  const std::string wanted = clean.end();
  const int calls = static_cast<int>(clean.node.kernel.journal().size());
  for (int nth = 1; nth <= calls; ++nth) {
    SCOPED_TRACE(fmt::format("call {} refused", nth));
    Orders refused;
    refused.node.kernel.fail_call(nth, EBUSY);
    refused.run();
    for (int pass = 0; pass < 3; ++pass) {
      refused.node.clock.advance(std::chrono::minutes(10));
      refused.node.pass(refused.second);
    }
    EXPECT_EQ(refused.node.reported("syncStatus"), "Succeeded") << refused.node.reported("lastSyncError");
    EXPECT_EQ(refused.end(), wanted);
  }
}

std::string arbitrary_policies() {
  std::string text;
  for (const char* pf : {"eth0", "eth1"}) {
    const int num_vfs = *rc::gen::inRange(0, 8);
    if (num_vfs == 0) continue;
    const bool vfio = *rc::gen::arbitrary<bool>();
    const std::string mtu = *rc::gen::element<std::string>("", "  mtu: 2000\n", "  mtu: 9000\n");
    const int split = *rc::gen::inRange(0, num_vfs);
    const std::string type = vfio ? "  deviceType: vfio-pci\n" : "";
    if (split == 0)
      text += policy_text(fmt::format("all-{}", pf), pf, num_vfs, type + mtu);
    else
      text +=
          policy_text(fmt::format("low-{}", pf), fmt::format("{}#0-{}", pf, split - 1), num_vfs, mtu) +
          policy_text(fmt::format("high-{}", pf), fmt::format("{}#{}-{}", pf, split, num_vfs - 1), num_vfs, type + mtu);
  }
  return text;
}

RC_GTEST_PROP(NodeStatePath, EndsInTheMachineOfUp, ()) {
  os::FakeKernel other;
  auto store = state::memory_store();
  TestNode node;
  Quiet quiet;
  int generation = 0;
  for (int order = 0; order < 3; ++order) {
    const std::string text = arbitrary_policies();
    if (text.empty()) continue;
    const api::Objects objects = objects_of(text);
    node::Settings settings;
    settings.apply.parallel = false;
    // `up` leaves PFs alone that no policy names any more; a node state gives them back, as `down` does.
    RC_ASSERT(node::down(other, *store, settings, quiet)->complete());
    RC_ASSERT(node::up(other, *store, node::look(other, store.get(), objects, settings).value(), settings, quiet)
                  ->complete());
    const doc::Value state = node.state_of(text, ++generation);
    node.pass(state);
    RC_ASSERT(node.reported("syncStatus") == "Succeeded");
  }
  if (generation == 1) RC_ASSERT(node.kernel.snapshot() == other.snapshot());
  RC_CLASSIFY(generation > 1, "several orders");
}

}  // namespace
}  // namespace railbed::agent

// SPDX-License-Identifier: Apache-2.0
// A sandbox's note as it is kept, and notes that another version wrote.
#include "agent/records/meta_records.h"

#include <gtest/gtest.h>

namespace railbed::agent {
namespace {

std::string shown(const std::optional<SandboxNote>& note) {
  if (!note.has_value()) return "none";
  std::string text = fmt::format("{} {} {} {} {}", note->key, note->network, note->ifname, note->netns, note->pod_uid);
  for (const std::string& file : note->device_info) text += " " + file;
  return text;
}

TEST(SandboxNotes, AreKeptWhole) {
  auto store = state::memory_store();
  ASSERT_TRUE(put_sandbox_note(*store, {.key = "ns/a@c1",
                                        .network = "{}",
                                        .ifname = "eth0",
                                        .netns = "/run/netns/a",
                                        .pod_uid = "u",
                                        .device_info = {"/run/x", "/run/y"}}));
  EXPECT_EQ(shown(*sandbox_note(*store, "ns/a@c1")), "ns/a@c1 {} eth0 /run/netns/a u /run/x /run/y");
  EXPECT_EQ(shown(*sandbox_note(*store, "ns/a")), "none");
  EXPECT_EQ(sandbox_notes(*store)->size(), 1u);
  ASSERT_TRUE(forget_sandbox_note(*store, "ns/a@c1"));
  EXPECT_EQ(sandbox_notes(*store)->size(), 0u);
}

TEST(SandboxNotes, OfAnotherVersionAreReadAsFarAsTheyGo) {
  for (const auto& [text, said] : {std::pair(R"({"network":"n","ifname":"e","netns":"/n","uid":"u"})", "k n e /n u"),
                                   {R"({"network":"n","deviceInfo":"/run/x"})", "k n   "},
                                   {R"({"network":1,"deviceInfo":[1,"/run/x"]})", "k     /run/x"},
                                   {"no JSON", "k    "}}) {
    auto store = state::memory_store();
    ASSERT_TRUE(store->put_note(std::string(kSandboxNote) + "k", text));
    EXPECT_EQ(shown(*sandbox_note(*store, "k")), said) << text;
  }
}

}  // namespace
}  // namespace railbed::agent

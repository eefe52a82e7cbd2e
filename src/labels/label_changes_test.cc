// SPDX-License-Identifier: Apache-2.0
#include "labels/label_changes.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "doc/json.h"
#include "labels/node_keys.h"

namespace railbed::labels {
namespace {

using Values = std::map<std::string, std::string>;

const std::string kRails(kRailsLabel);
const std::string kSriov = "feature.node.kubernetes.io/network-sriov.capable";
constexpr const char* kLeft =
    "label railbed.dev/rails: another writer has changed it 2 times, and it is now set to '9'; railbed does not set it "
    "to '8' until that writer stops and the label's entry in the annotation railbed.dev/written-labels is removed";
constexpr const char* kForeign =
    "label railbed.dev/rails: another writer has set it to '9'; railbed does not set it to '8'";

struct ChangeCase {
  const char* what;
  Values wanted;
  Values current;
  WrittenLabels written;
  LabelChanges expected;
};

TEST(LabelChanges, SetAndRemoveOnlyWhatIsRailbeds) {
  const ChangeCase cases[] = {
      {"a new label", {{kRails, "8"}}, {}, {}, {{{kRails, "8"}}, {}, {{kRails, {"8"}}}, {}}},
      {"written and unchanged", {{kRails, "8"}}, {{kRails, "8"}}, {{kRails, {"8"}}}, {{}, {}, {{kRails, {"8"}}}, {}}},
      {"another value now",
       {{kRails, "7"}},
       {{kRails, "8"}},
       {{kRails, {"8"}}},
       {{{kRails, "7"}}, {}, {{kRails, {"7"}}}, {}}},
      {"not wanted any more", {}, {{kRails, "8"}}, {{kRails, {"8"}}}, {{}, {kRails}, {}, {}}},
      {"not wanted, and another writer's meanwhile", {}, {{kRails, "9"}}, {{kRails, {"8"}}}, {}},
      {"not wanted, never written", {}, {{kRails, "8"}}, {}, {}},
      {"there already", {{kRails, "8"}}, {{kRails, "8"}}, {}, {}},
      {"another writer's", {{kRails, "8"}}, {{kRails, "9"}}, {}, {{}, {}, {}, {kForeign}}},
      {"changed once",
       {{kRails, "8"}},
       {{kRails, "9"}},
       {{kRails, {"8"}}},
       {{{kRails, "8"}}, {}, {{kRails, {"8", 1}}}, {}}},
      {"removed once", {{kRails, "8"}}, {}, {{kRails, {"8"}}}, {{{kRails, "8"}}, {}, {{kRails, {"8", 1}}}, {}}},
      {"changed twice",
       {{kRails, "8"}},
       {{kRails, "9"}},
       {{kRails, {"8", 1}}},
       {{}, {}, {{kRails, {"8", 2}}}, {kLeft}}},
      {"left alone since",
       {{kRails, "8"}},
       {{kRails, "9"}},
       {{kRails, {"8", 2}}},
       {{}, {}, {{kRails, {"8", 2}}}, {kLeft}}},
      {"left alone, and not wanted", {}, {{kRails, "8"}}, {{kRails, {"8", 2}}}, {{}, {}, {{kRails, {"8", 2}}}, {}}},
      {"the other writer came round", {{kRails, "8"}}, {{kRails, "8"}}, {{kRails, {"7", 2}}}, {}},
      {"no key of the table", {{"kubernetes.io/hostname", "x"}}, {}, {{"railbed.dev/managed", {"true"}}}, {}},
  };
  for (const ChangeCase& one : cases)
    EXPECT_TRUE(label_changes(one.wanted, one.current, one.written) == one.expected) << one.what;
}

TEST(LabelChanges, WhatNfdWritesIsNfds) {
  const Nfd nfd{.is_there = true, .owned = {kRails}};
  const auto with = [&](const Values& wanted, const Values& current, const WrittenLabels& written) {
    return label_changes(wanted, current, written, nfd);
  };
  EXPECT_EQ(with({{kSriov, "true"}, {kRails, "8"}}, {}, {}), LabelChanges{}) << "none is set";
  EXPECT_EQ(with({}, {{kRails, "8"}}, {{kRails, {"8"}}}), LabelChanges{}) << "none that NFD has now is removed";
  EXPECT_EQ(with({{kSriov, "true"}}, {{kSriov, "true"}}, {{kSriov, {"true"}}}).written.size(), 1U)
      << "railbed's stays until NFD has it";
  EXPECT_EQ(with({}, {{kSriov, "true"}}, {{kSriov, {"true"}}}).remove, std::set<std::string>{kSriov})
      << "and goes when it is not wanted";
  EXPECT_EQ(with({{"railbed.dev/fabric", "roce"}}, {}, {}).set, (Values{{"railbed.dev/fabric", "roce"}}))
      << "what NFD did not take over may be written on the Node";
}

TEST(WrittenLabels, ComeBackFromTheAnnotation) {
  const WrittenLabels written{{kRails, {"8", 1}}, {kSriov, {"true"}}};
  EXPECT_EQ(annotation_of(written), R"({"feature.node.kubernetes.io/network-sriov.capable":{"value":"true"},)"
                                    R"("railbed.dev/rails":{"value":"8","losses":1}})");
  EXPECT_EQ(written_labels(annotation_of(written)), written);
  EXPECT_EQ(annotation_of({}), "");
}

TEST(WrittenLabels, WhatCannotBeReadIsNothing) {
  for (const char* text : {"", "{", "[]", "8", R"({"railbed.dev/rails":8})", R"({"railbed.dev/rails":{"value":8}})",
                           R"({"kubernetes.io/hostname":{"value":"gpu1"}})"})
    EXPECT_EQ(written_labels(text), WrittenLabels{}) << text;
  EXPECT_EQ(written_labels(R"({"railbed.dev/rails":{"value":"8","losses":99}})"), (WrittenLabels{{kRails, {"8", 2}}}));
  EXPECT_EQ(written_labels(R"({"railbed.dev/rails":{"value":"8","losses":-5}})"), (WrittenLabels{{kRails, {"8", 0}}}));
}

TEST(NodePatch, HasLabelsTheirRecordAndTheVersionThatWasRead) {
  const NodeLabels wanted{{{std::string(kMeasuredLabel), "386"}}, {{std::string(kMeasuredAtAnnotation), "T1"}}};
  const NodeMeta node{.labels = {{kRails, "8"}},
                      .annotations = {{std::string(kWrittenAnnotation), R"({"railbed.dev/rails":{"value":"8"}})"}},
                      .resource_version = "7"};
  const LabelChanges changes =
      label_changes(wanted.labels, node.labels, written_labels(node.annotations.at(std::string(kWrittenAnnotation))));
  const std::optional<doc::Value> patch = node_patch(wanted, node, changes);
  ASSERT_TRUE(patch.has_value());
  EXPECT_EQ(doc::to_json(*patch),
            R"({"metadata":{"resourceVersion":"7",)"
            R"("labels":{"railbed.dev/measured-gbps":"386","railbed.dev/rails":null},)"
            R"("annotations":{"railbed.dev/written-labels":)"
            R"("{\"railbed.dev/measured-gbps\":{\"value\":\"386\"}}","railbed.dev/measured-at":"T1"}}})");
}

TEST(NodePatch, TheTimeGoesWithItsLabel) {
  const std::string measured(kMeasuredLabel), at(kMeasuredAtAnnotation), record(kWrittenAnnotation);
  const std::string written = R"({"railbed.dev/measured-gbps":{"value":"386"}})";
  const NodeMeta ours{
      .labels = {{measured, "386"}}, .annotations = {{at, "T1"}, {record, written}}, .resource_version = "7"};
  const auto patch_of = [](const NodeLabels& wanted, const NodeMeta& node) -> std::string {
    const auto found = node.annotations.find(std::string(kWrittenAnnotation));
    const WrittenLabels before = found == node.annotations.end() ? WrittenLabels{} : written_labels(found->second);
    const std::optional<doc::Value> patch = node_patch(wanted, node, label_changes(wanted.labels, node.labels, before));
    return patch ? doc::to_json(*patch) : "nothing";
  };
  EXPECT_EQ(patch_of({{{measured, "386"}}, {{at, "T1"}}}, ours), "nothing");
  EXPECT_EQ(patch_of({{{measured, "386"}}, {{at, "T2"}}}, ours),
            R"({"metadata":{"resourceVersion":"7","annotations":{"railbed.dev/measured-at":"T2"}}})");
  EXPECT_EQ(patch_of({}, ours),
            R"({"metadata":{"resourceVersion":"7","labels":{"railbed.dev/measured-gbps":null},)"
            R"("annotations":{"railbed.dev/written-labels":null,"railbed.dev/measured-at":null}}})");
  const NodeMeta theirs{.labels = {{measured, "100"}}, .annotations = {}, .resource_version = "7"};
  EXPECT_EQ(patch_of({{{measured, "386"}}, {{at, "T2"}}}, theirs), "nothing") << "the label is another writer's";
}

RC_GTEST_PROP(WrittenLabels, AnyAnnotationIsRead, ()) {
  const std::string text = *rc::gen::element<std::string>("", "{", R"({"railbed.dev/rails":)") +
                           *rc::gen::arbitrary<std::string>() + *rc::gen::element<std::string>("", "}", "}}");
  for (const auto& [name, label] : written_labels(text)) {
    RC_ASSERT(find_key(name, KeyKind::kLabel) != nullptr);
    RC_ASSERT(label.losses >= 0 && label.losses <= kMostLosses);
  }
}

Values arbitrary_values() {
  Values out;
  for (const std::string& name : {kRails, kSriov, std::string("railbed.dev/fabric"), std::string("example.com/a")})
    if (*rc::gen::arbitrary<bool>()) out[name] = *rc::gen::element<std::string>("true", "8", "9");
  return out;
}

WrittenLabels arbitrary_written() {
  WrittenLabels out;
  for (const auto& [name, value] : arbitrary_values()) out[name] = {value, *rc::gen::inRange(0, 3)};
  return out;
}

void apply_changes(const LabelChanges& changes, Values& labels) {
  for (const auto& [name, value] : changes.set) labels[name] = value;
  for (const std::string& name : changes.remove) labels.erase(name);
}

RC_GTEST_PROP(LabelChanges, TouchOnlyRailbedsOwnAndHaveAnEnd, ()) {
  const Values wanted = arbitrary_values(), before = arbitrary_values();
  const WrittenLabels written = arbitrary_written();
  Nfd nfd;
  nfd.is_there = *rc::gen::arbitrary<bool>();
  for (const auto& [name, value] : arbitrary_values())
    if (nfd.is_there) nfd.owned.insert(name);
  const LabelChanges changes = label_changes(wanted, before, written, nfd);
  for (const auto& [name, value] : changes.set) {
    RC_ASSERT(find_key(name, KeyKind::kLabel) != nullptr && !nfd.owned.contains(name));
    RC_ASSERT(!before.contains(name) || written.contains(name));
  }
  for (const std::string& name : changes.remove) {
    RC_ASSERT(!nfd.owned.contains(name) && !wanted.contains(name));
    RC_ASSERT(written.contains(name) && written.at(name).value == before.at(name));
  }
  Values after = before;
  apply_changes(changes, after);
  const LabelChanges again = label_changes(wanted, after, changes.written, nfd);
  RC_ASSERT(again.set.empty() && again.remove.empty());
  RC_ASSERT(again.written == changes.written);
}

// A writer that never stops: railbed writes a label twice at most.
RC_GTEST_PROP(LabelChanges, NeverFightAnotherWriter, ()) {
  Values labels;
  WrittenLabels written;
  int writes = 0;
  const int rounds = *rc::gen::inRange(1, 20);
  for (int i = 0; i < rounds; ++i) {
    const LabelChanges changes = label_changes({{kRails, "8"}}, labels, written);
    writes += static_cast<int>(changes.set.size());
    apply_changes(changes, labels);
    written = written_labels(annotation_of(changes.written));
    if (*rc::gen::arbitrary<bool>())
      labels.erase(kRails);
    else
      labels[kRails] = "9";
  }
  RC_ASSERT(writes <= 2);
}

}  // namespace
}  // namespace railbed::labels

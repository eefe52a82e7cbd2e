// SPDX-License-Identifier: Apache-2.0
#include "check/findings/unread_objects.h"

#include <string>

#include <gtest/gtest.h>

#include "check/case_files.h"
#include "check/findings/output.h"
#include "doc/members.h"

namespace railbed::check {
namespace {

std::string label_at(const std::string& text, const std::string& mark) {
  const doc::Subject subject = object_by_lines(text, text.find(mark));
  return subject.object.empty() ? subject.kind : subject.kind + " " + subject.object;
}

TEST(UnreadObjects, AreNamedByTheirLines) {
  const std::string two =
      "apiVersion: v1\nkind: Pod\nmetadata:\n  labels:\n    name: no\n  name: a  # the first\nspec: HERE\n---\n"
      "kind: \"Service\"\nmetadata: {name: b, namespace: ai}\nspec: THERE\n";
  EXPECT_EQ(label_at(two, "HERE"), "Pod a");
  EXPECT_EQ(label_at(two, "THERE"), "Service ai/b");
  EXPECT_EQ(label_at(two, "no"), "Pod a");
  const std::string joined =
      "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  namespace: ai\nspec: HERE\napiVersion: v1\nkind: Service\n"
      "metadata:\n  name: b\nspec: THERE\n";
  EXPECT_EQ(label_at(joined, "HERE"), "Pod ai/a");
  EXPECT_EQ(label_at(joined, "THERE"), "Service b");
  EXPECT_EQ(label_at("# Page\n\n```yaml\n  kind: Job\n  metadata:\n    name: j\n  spec: HERE\n```\nkind: No\n", "HERE"),
            "Job j");
  EXPECT_EQ(label_at("a: b\nc: HERE\n", "HERE"), "");
  EXPECT_EQ(label_at("HERE\nkind: Pod\nmetadata:\n  name: 'late'\n", "HERE"), "Pod late");
  EXPECT_EQ(label_at("kind: Pod\n" + std::string(40000, '#') + "\nx: HERE\n", "HERE"), "");  // too far away
  EXPECT_EQ(object_by_lines("", 0).kind, "");
}

// The finding of a text that cannot be read has the object and the class in JSON.
TEST(UnreadObjects, AreInTheReportOfPrograms) {
  for (const char* broken : {"spec:\n\tcontainers: []\n", "spec:\n  a: \"b\n", "spec:\n  a: b: c\n",
                             "spec:\n  a: b\n c: d\n", "spec: *none\n"}) {
    const std::string text =
        "apiVersion: v1\nkind: Pod\nmetadata:\n  name: worker\n  namespace: ai\n" + std::string(broken);
    const Report report = testing_cases::report_of("a.yaml", text);
    const doc::Value value = to_value(report);
    ASSERT_FALSE(value.find("findings")->as_array()->empty()) << text;
    for (const doc::Value& finding : *value.find("findings")->as_array()) {
      EXPECT_EQ(doc::text_in(finding, "object"), "Pod ai/worker") << text;
      EXPECT_EQ(doc::text_in(finding, "class"), "manifest") << text;
    }
  }
}

}  // namespace
}  // namespace railbed::check

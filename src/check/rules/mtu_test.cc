// SPDX-License-Identifier: Apache-2.0
// Numbers at the edges of the rules about MTU and traffic classes; what they say whole is in testdata/check.
#include <gtest/gtest.h>

#include "base/testdata.h"
#include "check/check.h"

namespace railbed::check {
namespace {

// The messages of the findings with this id in the bundle of a case, with `from` written as `to`.
std::vector<std::string> findings(const std::string& id, const std::string& from, const std::string& to) {
  std::string yaml = content(testdata() / "check" / id / "bad.yaml");
  const size_t at = yaml.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  yaml.replace(at, from.size(), to);
  std::vector<std::string> out;
  const Report report = check({std::make_shared<doc::Source>(doc::Source{"bundle.yaml", yaml})}, {}, {});
  for (const doc::Diagnostic& one : report.findings.all())
    if (one.id == id) out.push_back(one.message);
  return out;
}

TEST(TrafficClass, IsADscpWhosePriorityIsLossless) {
  const struct {
    const char* written;
    const char* said;  // the beginning; "" for nothing
  } cases[] = {
      {"\"160\"", "traffic class 160 is DSCP 40, priority 5, "},
      {"\"0\"", "traffic class 0 is DSCP 0, priority 0, "},
      {"\"95\"", "traffic class 95 is DSCP 23, priority 2, "},
      {"\"96\"", ""},
      {"\"127\"", ""},
      {"\"128\"", "traffic class 128 is DSCP 32, priority 4, "},
      {"\"255\"", "traffic class 255 is DSCP 63, priority 7, "},
      {"\"256\"", ""},
      {"\"-1\"", ""},
      {"\"160x\"", ""},
      {"\"\"", ""},
  };
  for (const auto& c : cases) {
    const auto said = findings("RB-MTU-005", "\"160\"", c.written);
    EXPECT_EQ(said.empty() ? "" : said[0].substr(0, std::string_view(c.said).size()), c.said) << c.written;
    EXPECT_EQ(said.size(), *c.said == '\0' ? 0u : 1u) << c.written;
  }
}

}  // namespace
}  // namespace railbed::check

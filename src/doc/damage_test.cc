// SPDX-License-Identifier: Apache-2.0
// A manifest and a configuration damaged by one slip at many places: what is reported, by id and location, and what
// would be changed. testdata/damage holds it: a line for each slip. RAILBED_UPDATE=1 rewrites the files; read the
// difference before you commit it: a slip that was reported well must not be reported worse.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "base/testdata.h"
#include "doc/json.h"
#include "doc/yaml.h"

namespace railbed::doc {
namespace {

const char* const kManifest =
    "# What the cluster needs\n"
    "apiVersion: sriovnetwork.openshift.io/v1\n"
    "kind: SriovNetworkNodePolicy\n"
    "metadata: {name: rails, labels: {a: \"b\", c: 'd'}}\n"
    "spec:\n"
    "  nodeSelector:\n"
    "    feature.node.kubernetes.io/rdma: \"true\"\n"
    "  numVfs: 8   # for each\n"
    "  nicSelector:\n"
    "    vendor: '15b3'\n"
    "    pfNames: [\"ens1f0#0-3\", ens2f0]\n"
    "    rootDevices:\n"
    "    - 0000:3c:00.0\n"
    "    - 0000:4d:00.0\n"
    "  text: |\n"
    "    {\"type\": \"host-local\"}\n"
    "      more\n"
    "  folded: >-\n"
    "    one\n"
    "    two\n"
    "  anchor: &a {x: 1}\n"
    "  alias: *a\n"
    "  list:\n"
    "    - name: one\n"
    "      value: 1.5\n"
    "    - name: two\n"
    "      value: ~\n"
    "---\n"
    "kind: Second\n";

const char* const kConfig =
    "{\n"
    "  \"type\": \"host-local\",\n"
    "  \"list\": [1, -2.5e3, true, false, null, \"\\u00e4\\n\"],\n"
    "  \"inner\": {\"a\": {}, \"b\": []},\n"
    "  \"last\": \"end\"\n"
    "}\n";

// "RB-YAML-002 at 7:3+4" (line, column, length) of each finding, "~" where it offers edits, "fix" where it has one.
std::string reported(const Diagnostics& findings) {
  std::string out;
  for (const Diagnostic& one : findings.all())
    out += fmt::format(" {} at {}:{}+{}{}{}", one.id, one.span.line, one.span.column, one.span.length,
                       one.edits.empty() ? "" : " ~", one.fix.empty() ? "" : " fix");
  return out;
}

std::string name_of(char c) {
  return c == '\t' ? "tab" : c == ' ' ? "blank" : c == '\n' ? "end" : std::string(1, c);
}

// What each slip of a kind gives; `read` gives the rest of the line.
template <typename Read>
std::string slips(const std::string& text, size_t step, const Read& read) {
  std::string out;
  const auto slip = [&](const std::string& what, const std::string& broken) {
    out += what + ":" + read(broken) + "\n";
  };
  size_t start = 0;  // another one for each kind, so that all bytes are met
  for (const char c : std::string("\" \t:-{[}],'#&*|\n")) {
    for (size_t at = start++ % step; at < text.size(); at += step)
      slip(fmt::format("{} before {}", name_of(c), at), text.substr(0, at) + c + text.substr(at));
  }
  for (size_t at = 0; at < text.size(); ++at)
    if (std::string_view("abcdefghijklmnopqrstuvwxyz").find(text[at]) == std::string_view::npos)
      slip(fmt::format("without {} at {}", name_of(text[at]), at), text.substr(0, at) + text.substr(at + 1));
  for (size_t at = 0; at < text.size(); at += 2 * step) slip(fmt::format("cut at {}", at), text.substr(0, at));
  return out;
}

SourcePtr file_source(const std::string& text) {
  return std::make_shared<const Source>(Source{"a.yaml", text});
}

TEST(Damage, OfAManifestIsReportedWhereItIs) {
  expect_golden(testdata() / "damage/manifest.expected", slips(kManifest, 16, [](const std::string& text) {
                  Diagnostics findings;
                  const auto values = parse_yaml(file_source(text), findings);
                  return fmt::format("{} {}", reported(findings), values.size());
                }));
}

TEST(Damage, OfAConfigurationIsReportedWhereItIs) {
  expect_golden(testdata() / "damage/configuration.expected", slips(kConfig, 6, [](const std::string& text) {
                  Diagnostics findings;
                  const auto value = parse_json(file_source(text), findings);
                  return fmt::format("{} {}", reported(findings), value ? to_json(*value) : "nothing");
                }));
}

}  // namespace
}  // namespace railbed::doc

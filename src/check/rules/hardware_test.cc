// SPDX-License-Identifier: Apache-2.0
// Rows of the tables of GPUs and releases, and what stands beside them.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "check/case_files.h"

namespace railbed::check {
namespace {

std::vector<std::string> hardware_messages(const Report& report, std::string_view id) {
  std::vector<std::string> out;
  for (const doc::Diagnostic& one : report.findings.all())
    if (one.id == id) out.push_back(one.message);
  return out;
}

TEST(HardwareRules, GpusBeforePascalAreKnownByTheirId) {
  const struct {
    const char* vendor;
    const char* device;
    bool before_pascal;
  } rows[] = {
      {"10de", "1023", true},   // Tesla K40m
      {"10de", "102d", true},   // Tesla K80
      {"10de", "13f2", true},   // Tesla M60
      {"10de", "15c1", true},   // no device
      {"10de", "15c2", false},  // CMP 100-100
      {"10de", "15f0", false},  // Quadro GP100
      {"10de", "15f8", false},  // Tesla P100 PCIe
      {"10de", "15ff", false},  // GP100
      {"10de", "1617", true},   // GeForce GTX 980M
      {"10de", "1725", false},  // GP100
      {"10de", "172e", false},  // GP100
      {"10de", "172f", false},  // GP100
      {"10de", "174d", true},   // GeForce MX130, a Maxwell
      {"10de", "17fd", true},   // Tesla M40
      {"10de", "1b38", false},  // Tesla P40
      {"10de", "1db4", false},  // Tesla V100
      {"10de", "1eb8", false},  // Tesla T4
      {"10de", "20b0", false},  // A100
      {"10de", "2330", false},  // H100
      {"10de", "2901", false},  // B200
      {"1002", "740f", false},  // another vendor's
      {"1002", "1023", false}, {"10de", "", false}, {"10de", "102g", false},
  };
  const std::string text = content(testdata() / "check/RB-HW-001/bad.yaml");
  for (const auto& row : rows) {
    std::vector<facts::NodeFacts> nodes = testing_cases::facts_named_in(text);
    ASSERT_EQ(nodes.size(), 1U);
    ASSERT_FALSE(nodes.front().gpus.empty());
    for (facts::Gpu& gpu : nodes.front().gpus) {
      gpu.pci.vendor = row.vendor;
      gpu.pci.device = row.device;
      gpu.pci.model.clear();
    }
    const Report report = check({std::make_shared<doc::Source>(doc::Source{"a.yaml", text})}, nodes, {});
    EXPECT_EQ(!hardware_messages(report, "RB-HW-001").empty(), row.before_pascal) << row.vendor << ":" << row.device;
  }
}

TEST(HardwareRules, ReleasesOfImagesAndDriversAreComparedByTheQuarter) {
  const struct {
    const char* image;
    const char* drivers;
    const char* release;  // of the image, where it is far from the drivers
  } rows[] = {
      {"doca:2.5.6-full-rt-host", "24.10-0.7.0.0-0", "23.10"},
      {"doca:2.5.6-full-rt-host", "24.07-0.6.1.0-0", ""},
      {"doca:2.6.0-devel", "25.01-0.6.0.0-0", "24.01"},
      {"doca:2.10.0-full-rt-host", "doca3.3.0-26.01-1.0.0.0-0", "25.01"},
      {"doca:3.0.0-full-rt-host", "doca3.4.0-26.04-0.8.6.0-0", "25.04"},
      {"doca:3.3.0-full-rt-host", "25.01-0.6.0.0-0", "26.01"},
      {"doca:3.3.0-full-rt-host", "25.04-0.6.1.0-2", ""},
      {"doca:3.4.0-full-rt-host", "25.04-0.6.1.0-2", "26.04"},
      {"doca:2.1.0-full-rt-host", "25.10-1.2.8.0-2", ""},   // not 2.10, and in no row
      {"doca:3.10.0-full-rt-host", "23.10-0.5.5.0-0", ""},  // not 3.1
      {"doca:3.1", "23.10-0.5.5.0-0", ""},
      {"doca:latest", "23.10-0.5.5.0-0", ""},
      {"doca:3.1.0-full-rt-host", "5.8-2.0.3.0", ""},  // an older numbering
      {"doca:3.1.0-full-rt-host", "24.13-1.0.0.0", ""},
      {"doca:3.1.0-full-rt-host", "{{ version }}", ""},
  };
  const std::string text = content(testdata() / "check/RB-HW-004/bad.yaml");
  for (const auto& row : rows) {
    std::string changed = text;
    for (const auto& [from, to] : {std::pair<std::string, std::string>("doca:3.1.0-full-rt-host", row.image),
                                   {"version: 24.07-0.6.1.0-0", fmt::format("version: \"{}\"", row.drivers)}}) {
      const size_t at = changed.find(from);
      ASSERT_NE(at, std::string::npos) << from;
      changed.replace(at, from.size(), to);
    }
    const std::vector<std::string> got = hardware_messages(testing_cases::report_of("a.yaml", changed), "RB-HW-004");
    const std::string begin = fmt::format("this image has libraries of release {}, ", row.release);
    EXPECT_EQ(got.size(), *row.release == '\0' ? 0U : 1U) << row.image << " with " << row.drivers;
    if (*row.release != '\0' && !got.empty()) {
      EXPECT_TRUE(got.front().starts_with(begin)) << got.front();
    }
  }
}

}  // namespace
}  // namespace railbed::check

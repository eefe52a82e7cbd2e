// SPDX-License-Identifier: Apache-2.0
#include "findings/printers.h"

#include <set>

#include <gtest/gtest.h>

#include "base/format.h"
#include "doc/json.h"

namespace railbed::findings {
namespace {

Finding narrow_link() {
  return {
      .id = "RB-PCIE-001",
      .severity = doc::Severity::kWarning,
      .subject = {Subject::Kind::kPci, "0000:3b:00.0"},
      .message = "PCIe at 32 GT/s x8, both ends can 32 GT/s x16",
      .evidence = {{.source = "sysfs", .what = "/sys/bus/pci/devices/0000:3b:00.0/current_link_width", .value = "8"},
                   {.source = "sysfs",
                    .what = "/sys/bus/pci/devices/0000:3b:00.0/max_link_width",
                    .value = "16",
                    .at = std::chrono::system_clock::time_point(std::chrono::milliseconds(1'772'360'430'040))}},
      .fix = "move the card to another slot"};
}

Finding bare() {
  return {.id = "RB-X-001", .severity = doc::Severity::kNote, .subject = {Subject::Kind::kNodes, ""}, .message = "odd"};
}

TEST(FindingPrinters, LinesAreTheMessageWithItsFix) {
  EXPECT_EQ(to_line(narrow_link()), "PCIe at 32 GT/s x8, both ends can 32 GT/s x16 (move the card to another slot)");
  EXPECT_EQ(to_line(bare()), "odd");
}

TEST(FindingPrinters, TextsHaveIdAndEvidenceWhereAskedFor) {
  EXPECT_EQ(to_text(narrow_link(), "warning", Detail::kFull),
            "warning  PCIe at 32 GT/s x8, both ends can 32 GT/s x16 [RB-PCIE-001]\n"
            "         where: PCI function 0000:3b:00.0\n"
            "         seen:  8 in /sys/bus/pci/devices/0000:3b:00.0/current_link_width (sysfs)\n"
            "         seen:  16 in /sys/bus/pci/devices/0000:3b:00.0/max_link_width (sysfs, 2026-03-01T10:20:30.040Z)\n"
            "         do:    move the card to another slot\n");
  EXPECT_EQ(to_text(narrow_link(), "BLOCKER", Detail::kShort),
            "BLOCKER  PCIe at 32 GT/s x8, both ends can 32 GT/s x16\n"
            "         where: PCI function 0000:3b:00.0\n"
            "         do:    move the card to another slot\n");
  EXPECT_EQ(to_text(bare(), "to know", Detail::kShort),
            "to know  odd\n"
            "         where: nodes\n");
}

TEST(FindingPrinters, JsonHasEveryMember) {
  EXPECT_EQ(doc::to_json(to_value(narrow_link()), 2),
            R"({
  "id": "RB-PCIE-001",
  "severity": "warning",
  "subject": {
    "kind": "pci",
    "name": "0000:3b:00.0"
  },
  "message": "PCIe at 32 GT/s x8, both ends can 32 GT/s x16",
  "fix": "move the card to another slot",
  "evidence": [
    {
      "source": "sysfs",
      "what": "/sys/bus/pci/devices/0000:3b:00.0/current_link_width",
      "value": "8"
    },
    {
      "source": "sysfs",
      "what": "/sys/bus/pci/devices/0000:3b:00.0/max_link_width",
      "value": "16",
      "at": "2026-03-01T10:20:30.040Z"
    }
  ]
})");
  const doc::Value value = to_value(bare());
  EXPECT_EQ(value.find("fix"), nullptr);
  EXPECT_EQ(*value.find("evidence"), doc::Value::array());
}

// Names come from machines and clusters.
TEST(FindingPrinters, TextsDoNotSteerTheTerminal) {
  Finding hostile = narrow_link();
  hostile.subject = {Subject::Kind::kInterface, "a\x1b[2J"};
  hostile.message = "a\x1b[2J is off";
  hostile.evidence[0].value = "b\n";
  hostile.fix = "c\r";
  for (const std::string& text : {to_line(hostile), to_text(hostile, "error", Detail::kFull)}) {
    EXPECT_EQ(text.find('\x1b'), std::string::npos) << text;
    EXPECT_EQ(text.find('\r'), std::string::npos) << text;
  }
  EXPECT_EQ(to_text(hostile, "error", Detail::kFull).find("b\n"), std::string::npos);
}

TEST(FindingSubjects, HaveANameAndANounForEachKind) {
  const std::pair<Subject::Kind, const char*> cases[] = {
      {Subject::Kind::kPci, "pci: PCI function x"},
      {Subject::Kind::kCardModel, "card-model: card model x"},
      {Subject::Kind::kInterface, "interface: interface x"},
      {Subject::Kind::kRdmaDevice, "rdma-device: RDMA device x"},
      {Subject::Kind::kRdmaPort, "rdma-port: RDMA port x"},
      {Subject::Kind::kLink, "link: link x"},
      {Subject::Kind::kRail, "rail: rail x"},
      {Subject::Kind::kNode, "node: node x"},
      {Subject::Kind::kNodes, "nodes: nodes x"},
      {Subject::Kind::kNodePath, "node-path: node x"},
      {Subject::Kind::kPod, "pod: pod x"},
      {Subject::Kind::kObject, "object: x"},
      {Subject::Kind::kApiServer, "api-server: API server x"},
      {Subject::Kind::kRequest, "request: x"},
  };
  std::set<std::string_view> names;
  for (const auto& [kind, expected] : cases) {
    EXPECT_EQ(fmt::format("{}: {}", kind_name(kind), Subject{kind, "x"}.to_string()), expected);
    EXPECT_TRUE(names.insert(kind_name(kind)).second) << expected;
  }
}

}  // namespace
}  // namespace railbed::findings

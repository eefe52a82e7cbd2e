// SPDX-License-Identifier: Apache-2.0
#include "report/fleet_tables.h"

#include "base/format.h"
#include "base/well_known.h"
#include "doc/members.h"
#include "doc/text.h"
#include "report/node_tables.h"

namespace railbed::report {
namespace {

using facts::FleetDifference;
using facts::FleetGroup;
using facts::FleetRail;

constexpr size_t kMostNames = 8;

Cell cell(const std::string& value) {
  return value.empty() ? Cell() : Cell(value, value == facts::kDiffers ? Paint::kBad : Paint::kNone);
}

Table group_rail_table(const FleetGroup& group) {
  Table table({{"RAIL", "rail", Align::kRight},
               {"NODES", "nodes", Align::kRight},
               {"CARD", "card"},
               {"PCI", "pci"},
               {"FIRMWARE", "firmware"},
               {"RATE", "rate", Align::kRight},
               {"PCIE", "pcie"},
               {"VFS", "vfs", Align::kRight}});
  for (const FleetRail& rail : group.rails)
    table.row({rail.number,
               Cell(static_cast<int64_t>(rail.nodes), rail.nodes < group.nodes.size() ? Paint::kBad : Paint::kNone),
               cell(rail.card), cell(rail.place), cell(rail.firmware), cell(rail.rate), cell(rail.pcie),
               cell(rail.vfs)});
  return table;
}

// "16 nodes with H100 SXM5 80GB", and which where they are few.
std::string group_headline(const FleetGroup& group) {
  const size_t count = group.nodes.size();
  std::string text = fmt::format("{} node{} {}", count, count == 1 ? "" : "s",
                                 group.gpu.empty() ? "without GPUs" : "with " + group.gpu);
  if (count <= kMostNames) text += fmt::format(": {}", fmt::join(group.nodes, ", "));
  return doc::printable(text) + "\n\n";
}

std::string rails_text(const FleetDifference& difference) {
  if (difference.rails.empty()) return "";
  return fmt::format("rail{} {}: ", difference.rails.size() == 1 ? "" : "s", number_list(difference.rails));
}

doc::Value difference_value(const FleetDifference& difference) {
  doc::Value out = doc::Value::object();
  doc::Value& rails = out.set("rails", doc::Value::array());
  for (int rail : difference.rails) rails.push(rail);
  out.set("what", difference.what);
  doc::Value& values = out.set("values", doc::Value::array());
  for (const facts::FleetValue& one : difference.values) {
    doc::Value value = doc::Value::object();
    value.set("value", one.value);
    value.set("nodes", doc::texts(one.nodes));
    values.push(std::move(value));
  }
  return out;
}

}  // namespace

std::string fleet_text(const std::vector<FleetGroup>& groups, Colour colour) {
  std::string text;
  for (const FleetGroup& group : groups) {
    text += text.empty() ? "" : "\n";
    text += group_headline(group);
    text += group.rails.empty() ? "No port of them is a rail.\n" : group_rail_table(group).to_text(colour);
    if (group.differences.empty()) continue;
    text += "\nDiffers:\n";
    for (const FleetDifference& difference : group.differences)
      text += fmt::format("  - {}{}\n", rails_text(difference), doc::printable(facts::difference_text(difference)));
  }
  return text;
}

doc::Value fleet_value(const std::vector<FleetGroup>& groups) {
  doc::Value out = doc::Value::object();
  out.set("apiVersion", kOwnApiVersion);
  out.set("kind", "Fleet");
  doc::Value& list = out.set("groups", doc::Value::array());
  for (const FleetGroup& group : groups) {
    doc::Value one = doc::Value::object();
    if (!group.gpu.empty()) one.set("gpu", group.gpu);
    one.set("nodes", doc::texts(group.nodes));
    one.set("rails", group_rail_table(group).to_value());
    doc::Value& differences = one.set("differences", doc::Value::array());
    for (const FleetDifference& difference : group.differences) differences.push(difference_value(difference));
    list.push(std::move(one));
  }
  return out;
}

}  // namespace railbed::report

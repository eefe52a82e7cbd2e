// SPDX-License-Identifier: Apache-2.0
// railbed attachments: pods with their sandboxes, interfaces, devices and addresses. Needs neither root nor the lock.
#include <cstdio>
#include <map>

#include <fmt/core.h>

#include "agent/records/exec_records.h"
#include "attach/result.h"
#include "base/well_known.h"
#include "command/output.h"
#include "command/state_options.h"
#include "doc/json.h"
#include "report/table.h"
#include "state/sandbox.h"
#include "verb.h"

namespace railbed {

namespace {

using doc::Value;
using report::Cell;
using report::Paint;

// One record, as text and JSON show it.
struct Row {
  std::string pod;
  std::string container;
  std::string netns;
  std::string interface;  // "net1", "net1/tuning"
  std::string type;
  std::string network;
  std::string device;
  std::string resource;
  std::vector<std::string> addresses;
  std::string mac;
  int mtu = 0;
  std::string rdma;
  std::vector<std::string> char_devices;
  bool soft = false;
  std::string status;
  bool executed = false;
};

std::string status_text(state::AttachmentStatus status) {
  switch (status) {
    case state::AttachmentStatus::kBegun:
      return "begun";
    case state::AttachmentStatus::kAttached:
      return "attached";
    case state::AttachmentStatus::kDetaching:
      return "detaching";
  }
  return "";
}

void add_result(const state::Attachment& record, Row& row) {
  if (agent::is_of_program(record)) {
    row.executed = true;
    row.type = record.type.substr(record.type.find(':') + 1);
    auto execution = agent::execution_of(record, cni::Command::kCheck);
    if (execution) row.interface = execution->ifname;
    auto result = agent::result_of_program(record);
    if (!result || !result->has_value()) return;
    for (const cni::Address& one : (*result)->addresses) row.addresses.push_back(one.address.to_string());
    for (const cni::Interface& one : (*result)->interfaces)
      if (!one.sandbox.empty() && one.name == row.interface) {
        row.mac = one.mac;
        row.mtu = one.mtu;
      }
    return;
  }
  auto result = attach::result_from_json(record.result);
  if (!result) return;
  for (const IpPrefix& address : result->addresses) row.addresses.push_back(address.to_string());
  row.mac = result->mac;
  row.mtu = result->mtu;
  row.rdma = result->rdma;
  row.char_devices = result->char_devices;
  row.soft = result->soft;
}

Row row_of(const state::Attachment& record) {
  state::Sandbox sandbox = state::Sandbox::of_key(record.pod);
  Row row{.pod = sandbox.pod,
          .container = sandbox.container,
          .netns = record.netns,
          .interface = record.interface,
          .type = record.type,
          .network = record.network,
          .device = record.device,
          .resource = record.resource,
          .status = status_text(record.status)};
  add_result(record, row);
  return row;
}

Value interface_value(const Row& row) {
  Value value = Value::object();
  auto set_if = [&](std::string_view key, const std::string& text) {
    if (!text.empty()) value.set(key, text);
  };
  value.set("interface", row.interface);
  value.set("type", row.type);
  set_if("network", row.network);
  set_if("device", row.device);
  set_if("resource", row.resource);
  Value& addresses = value.set("addresses", Value::array());
  for (const std::string& one : row.addresses) addresses.push(one);
  set_if("mac", row.mac);
  if (row.mtu > 0) value.set("mtu", row.mtu);
  set_if("rdma", row.rdma);
  if (!row.rdma.empty()) value.set("soft", row.soft);
  if (!row.char_devices.empty()) {
    Value& files = value.set("charDevices", Value::array());
    for (const std::string& one : row.char_devices) files.push(one);
  }
  value.set("status", row.status);
  if (row.executed) value.set("executed", true);
  return value;
}

// Sandboxes with their interfaces, in the order in which they were attached.
Result<Value> rows_value(state::Store& store, const std::vector<Row>& rows) {
  Value list = Value::array();
  std::map<std::string, size_t> places;
  for (const Row& row : rows) {
    std::string key = state::Sandbox{row.pod, row.container}.key();
    auto [place, is_new] = places.emplace(key, places.size());
    if (is_new) {
      Value sandbox = Value::object();
      sandbox.set("pod", row.pod);
      if (!row.container.empty()) sandbox.set("container", row.container);
      sandbox.set("netns", row.netns);
      sandbox.set("interfaces", Value::array());
      if (auto status = TRY(store.note("network-status/" + key)); status.has_value()) {
        doc::Diagnostics unread;
        auto source = std::make_shared<doc::Source>(doc::Source{"network-status", *status});
        if (auto value = doc::parse_json(source, unread)) sandbox.set("networkStatus", *std::move(value));
      }
      list.push(std::move(sandbox));
    }
    (*list.as_array())[place->second].find("interfaces")->push(interface_value(row));
  }
  Value out = Value::object();
  out.set("apiVersion", kOwnApiVersion);
  out.set("kind", "Attachments");
  out.set("sandboxes", std::move(list));
  return out;
}

void print_rows(const std::vector<Row>& rows) {
  if (rows.empty()) {
    print("nothing is attached\n");
    return;
  }
  report::Table table(
      {{"POD"}, {"CONTAINER"}, {"INTERFACE"}, {"TYPE"}, {"NETWORK"}, {"DEVICE"}, {"ADDRESSES"}, {"RDMA"}, {"STATUS"}});
  for (const Row& row : rows)
    table.row({row.pod, row.container.substr(0, 13), row.interface, row.type + (row.executed ? " (executed)" : ""),
               row.network, row.device, fmt::format("{}", fmt::join(row.addresses, ", ")),
               row.rdma + (row.soft ? " (soft)" : ""),
               Cell(row.status, row.status == "attached" ? Paint::kGood : Paint::kWarning)});
  print("{}", table.to_text(colour_of(stdout)));
}

Result<void> print_attachments(const StateOptions& options, const std::string& output) {
  std::unique_ptr<os::Kernel> kernel = os::real_kernel();
  std::unique_ptr<state::Store> store = TRY(options.look(*kernel));
  if (store == nullptr) store = state::memory_store();  // no state: railbed has attached nothing
  std::vector<Row> rows;
  for (const state::Attachment& record : TRY(store->attachments())) rows.push_back(row_of(record));
  if (output == "table")
    print_rows(rows);
  else
    print_value(TRY(rows_value(*store, rows)), output);
  return {};
}

}  // namespace

int attachments_verb(CommandLine& line) {
  StateOptions state;
  std::string output = "table";
  line.about("Lists pods with their sandboxes, interfaces, devices and addresses.");
  line.option("-o,--output", &output, "table, json or yaml").one_of({"table", "json", "yaml"});
  line.option("--state-dir", &state.directory, "state directory").show_default().directory();
  if (auto status = line.parse()) return *status;
  auto done = print_attachments(state, output);
  return done ? kExitOk : give_up(done.error());
}

}  // namespace railbed

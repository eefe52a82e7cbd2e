// SPDX-License-Identifier: Apache-2.0
// railbed status: the state of this machine, and what failed. Needs neither root nor the lock.
#include "node/status.h"

#include <cstdio>
#include <optional>

#include <fmt/core.h>

#include "command/agent_client.h"
#include "command/output.h"
#include "command/state_options.h"
#include "doc/members.h"
#include "doc/text.h"
#include "facts/collect.h"
#include "report/table.h"
#include "verb.h"

namespace railbed {

namespace {

using report::Cell;
using report::Paint;

std::string joined(const std::vector<std::string>& texts) {
  return fmt::format("{}", fmt::join(texts, ", "));
}

Paint paint_of(const std::string& state) {
  if (state == "failed" || state == "refused") return Paint::kBad;
  if (state == "applied") return Paint::kGood;
  return state == "partly" || state == "shadowed" || state == "no match" ? Paint::kWarning : Paint::kNone;
}

void print_policies(const node::Status& status, report::Colour colour) {
  if (status.policies.empty()) return;
  report::Table table({{"POLICY"}, {"STATE"}, {"PFS"}, {"SHADOWED BY"}, {"DETAIL"}});
  for (const node::PolicyStatus& policy : status.policies)
    table.row({policy.policy, Cell(policy.state, paint_of(policy.state)), joined(policy.pfs),
               joined(policy.shadowed_by), policy.failed_step.empty() ? policy.detail : "step " + policy.failed_step});
  print("{}\n", table.to_text(colour));
  for (const node::PolicyStatus& policy : status.policies)
    if (!policy.error.empty())
      print("policy {} failed at {}:\n  {}\n\n", policy.policy, policy.failed_step, policy.error);
}

// "100G, 25G for each VF in use"; empty where no rate is known.
std::string rate_text(const node::PfStatus& pf) {
  if (!pf.rate_gbps) return "";
  const std::optional<double> share = pf.share_gbps();
  if (!share || *share == *pf.rate_gbps) return fmt::format("{:g}G", *pf.rate_gbps);
  return fmt::format("{:g}G, {:.3g}G for each VF in use", *pf.rate_gbps, *share);
}

void print_vfs(const node::Status& status, report::Colour colour) {
  report::Table table(
      {{"PF"}, {"PCI ADDRESS"}, {"VFS"}, {"VF"}, {"VF ADDRESS"}, {"DRIVER"}, {"INTERFACE"}, {"OWNER"}, {"RATE"}});
  for (const node::PfStatus& pf : status.pfs) {
    table.row({Cell(pf.name, Paint::kStrong), pf.pci, fmt::format("{} of {}", pf.num_vfs, pf.total_vfs), Cell(), Cell(),
               Cell(), Cell(), Cell(), rate_text(pf)});
    for (const node::VfStatus& vf : pf.vfs)
      table.row({Cell(), Cell(), Cell(), vf.index, vf.pci, vf.driver, vf.name, vf.owner});
  }
  if (table.empty())
    print("no NIC of this machine can make VFs\n\n");
  else
    print("{}\n", table.to_text(colour));
}

void print_pods(const node::Status& status, report::Colour colour) {
  if (status.pods.empty()) return;
  report::Table table({{"POD"},
                       {"INTERFACE"},
                       {"NETWORK"},
                       {"DEVICE"},
                       {"RAIL"},
                       {"ADDRESSES"},
                       {"MAC"},
                       {"MTU"},
                       {"RDMA"},
                       {"STATE"}});
  for (const node::PodStatus& pod : status.pods) {
    std::string key = pod.ns + "/" + pod.name;
    if (pod.interfaces.empty()) table.row({key});
    for (const node::InterfaceStatus& one : pod.interfaces)
      table.row({key, one.name, one.network, one.vf, one.rail, joined(one.addresses), one.mac,
                 one.mtu > 0 ? Cell(one.mtu) : Cell(), one.rdma + (one.soft ? " (soft)" : ""),
                 Cell(one.state, one.state == "attached" ? Paint::kGood : Paint::kWarning)});
  }
  print("{}\n", table.to_text(colour));
  for (const node::PodStatus& pod : status.pods)
    if (!pod.error.empty()) print("pod {}/{}: {}\n\n", pod.ns, pod.name, pod.error);
}

void print_rest(const node::Status& status) {
  for (const std::string& held : status.held_back) print("deferred: {}\n", held);
  if (!status.prefix_conflict.empty()) print("resource names: {}\n", status.prefix_conflict);
  for (const std::string& step : status.interrupted) print("started but not finished: {}\n", step);
  if (status.leases.empty()) return;
  print("addresses:\n");
  for (const state::AddressLease& lease : status.leases)
    print("  {}  {} {}\n", lease.address, lease.pod, lease.interface);
}

std::string text_of(const doc::Value& object, std::string_view key) {
  const doc::Value* value = object.find(key);
  if (value == nullptr) return "";
  if (const std::string* text = value->as_string()) return doc::printable(*text);
  const int64_t* number = value->as_int();
  return number == nullptr ? "" : std::to_string(*number);
}

// The elements of an array; none where there is no such array.
std::vector<doc::Value> list_of(const doc::Value& object, std::string_view key) {
  const doc::Value* value = object.find(key);
  const doc::Value::Array* all = value == nullptr ? nullptr : value->as_array();
  return all == nullptr ? std::vector<doc::Value>() : std::vector<doc::Value>(all->begin(), all->end());
}

// What the agent knows of its API server; nothing on a machine of its own.
void print_cluster(const doc::Value& agent) {
  const doc::Value* cluster = agent.find("cluster");
  if (cluster == nullptr) return;
  print("API server {}, node {}\n", text_of(*cluster, "server"), text_of(*cluster, "node"));
  if (text_of(*cluster, "tenantDefinitions") == "restrict")
    print(
        "  --tenant-definitions restrict: network definitions may only use resources, unless their namespace has the\n"
        "  label railbed.dev/host-devices=allowed\n");
  else
    print(
        "  --tenant-definitions allow: network definitions may use everything on the node; `railbed preflight` shows "
        "who\n"
        "  may write them\n");
  for (const doc::Value& cache : list_of(*cluster, "caches")) {
    const std::string age = text_of(cache, "ageSeconds");
    print("  {} {} known, {}", text_of(cache, "objects"), text_of(cache, "kind"),
          age.empty() ? "never received" : age + " s old");
    const doc::Value* from_file = cache.find("fromFile");
    if (from_file != nullptr && *from_file == doc::Value(true)) print(", from an earlier agent's file");
    const std::string error = text_of(cache, "error");
    print("{}{}\n", error.empty() ? "" : "; ", error);
  }
  const std::string error = text_of(*cluster, "statusError");
  print("  {} network-status not written yet{}{}\n\n", text_of(*cluster, "statusesPending"), error.empty() ? "" : "; ",
        error);
  for (const doc::Value& reason : list_of(agent, "vfs"))
    if (const std::string* text = reason.as_string()) print("VFs: {}\n\n", doc::printable(*text));
}

// Addresses that this node has leased of ranges that nodes share.
void print_addresses(const doc::Value& agent) {
  const doc::Value* addresses = agent.find("addresses");
  if (addresses == nullptr) return;
  const std::string heard = text_of(*addresses, "heardSeconds");
  print("addresses: {} leased in {} cells, {} ADDs waiting; last update from the API server {}\n",
        text_of(*addresses, "addresses"), text_of(*addresses, "cells"), text_of(*addresses, "waiting"),
        heard.empty() ? "never" : heard + " s ago");
  if (const std::string error = text_of(*addresses, "error"); !error.empty())
    print("  the API server is unreachable: {}\n", error);
  for (const char* kind : {"lacking", "conflicts"})
    for (const doc::Value& one : list_of(*addresses, kind))
      if (const std::string* text = one.as_string()) print("  {}\n", doc::printable(*text));
  print("\n");
}

void print_agent(const Result<doc::Value>& agent, report::Colour colour) {
  if (!agent.has_value()) {
    print("events are not available, no agent answers: {}\n\n", agent.error().story());
    return;
  }
  const std::vector<doc::Value> reasons = list_of(*agent, "notReady");
  print("agent {}, process {}: {}\n\n", text_of(*agent, "version"), text_of(*agent, "pid"),
        reasons.empty() ? "ready" : "not ready");
  for (const doc::Value& reason : reasons)
    if (const std::string* text = reason.as_string()) print("not ready: {}\n\n", doc::printable(*text));
  if (const std::vector<std::string> types = doc::texts_in(*agent, "unfenced"); !types.empty())
    print("plugins that run with all rights of the agent (--unfenced): {}\n\n",
          doc::printable(fmt::format("{}", fmt::join(types, ", "))));
  print_cluster(*agent);
  print_addresses(*agent);
  report::Table table({{"EVENT"}, {"ABOUT"}, {"TIMES"}, {"FIRST"}, {"LAST"}, {"LAST ERROR"}});
  for (const doc::Value& event : list_of(*agent, "events"))
    table.row({Cell(text_of(event, "kind"), Paint::kWarning), text_of(event, "about"), text_of(event, "count"),
               text_of(event, "first"), text_of(event, "last"), text_of(event, "lastError")});
  if (!table.empty()) print("{}\n", table.to_text(colour));
}

Result<void> print_status(const StateOptions& options, const std::string& node, const std::string& socket,
                          const std::string& output) {
  std::unique_ptr<os::Kernel> kernel = os::real_kernel();
  std::unique_ptr<state::Store> store = TRY(options.look(*kernel));
  facts::NodeFacts facts = facts::collect(*kernel, {.node = node});
  node::Status status = TRY(node::read_status(facts, store.get()));
  const Result<doc::Value> agent = ask_for_report(socket, kernel->clock());
  if (output != "table") {
    doc::Value value = node::to_value(status);
    value.set("agent", agent.has_value() ? *agent : doc::Value());
    print_value(value, output);
    return {};
  }
  const Colour colour = colour_of(stdout);
  if (store == nullptr) print("railbed has changed nothing on this machine\n\n");
  print_policies(status, colour);
  print_vfs(status, colour);
  print_pods(status, colour);
  print_rest(status);
  print_agent(agent, colour);
  return {};
}

}  // namespace

int status_verb(CommandLine& line) {
  StateOptions state;
  std::string output = "table";
  std::string node;
  std::string socket = kAgentSocket;
  line.about("Shows policies, VFs by owner, pods with their interfaces, and failures.");
  line.option("-o,--output", &output, "table, json or yaml").one_of({"table", "json", "yaml"});
  line.option("--node", &node, "this machine's node name (the one of the last up, or its host name)");
  line.option("--state-dir", &state.directory, "state directory").show_default().directory();
  line.option("--socket", &socket, "the agent's socket; the agent shows its events to root only").show_default().file();
  if (auto status = line.parse()) return *status;
  auto done = print_status(state, node, socket, output);
  if (done) return kExitOk;
  return give_up(done.error());
}

}  // namespace railbed

// SPDX-License-Identifier: Apache-2.0
// railbed generate: manifests that fit the given nodes. railbed size: their VFs and addresses as a table.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <optional>

#include <fmt/core.h>

#include "base/well_known.h"
#include "command/output.h"
#include "doc/members.h"
#include "generate/design.h"
#include "generate/manifests.h"
#include "machine.h"
#include "manifests.h"
#include "report/table.h"
#include "verb.h"

namespace railbed {
namespace {

using generate::Profile;
using generate::Rail;

struct GenerateOptions {
  std::vector<std::string> facts;
  std::string profile;
  generate::DesignRequest request;
  std::string output = "text";
};

const std::map<std::string, Profile> kProfiles = {
    {"infiniband", Profile::kInfiniband}, {"roce", Profile::kRoce}, {"host-device", Profile::kHostDevice}};

void add_options(CommandLine& line, GenerateOptions& options) {
  line.option("--facts", &options.facts, "node facts (railbed discover -o yaml) or recordings (FILE.tar), one or more")
      .existing_file();
  line.option("--profile", &options.profile, "infiniband, roce or host-device")
      .required()
      .one_of({"infiniband", "roce", "host-device"})
      .in_any_case();
  options.request.vfs = 0;
  line.option("--vfs", &options.request.vfs, "VFs per PF (default: what the pods take, and --spare more)")
      .between(1, 128);
  line.option("--pods-per-node", &options.request.pods_per_node, "pods that run on a node at the same time")
      .between(1, 128)
      .show_default();
  line.option("--vfs-per-pod", &options.request.vfs_per_pod, "VFs of each pod on every rail")
      .between(1, 16)
      .show_default();
  line.option("--spare", &options.request.spare_percent,
              "VFs beyond those that the pods take, in percent, without --vfs")
      .between(0, 100)
      .show_default();
  line.option("--mtu", &options.request.mtu, "MTU of PFs and VFs (default: 9000 for RoCE in hardware)")
      .between(1280, 9978);
  line.option("--addresses", &options.request.addresses, "prefix that is divided into the rails' ranges")
      .show_default();
  line.option("--soft-rdma", &options.request.soft_rdma, "also use ports without RDMA, with soft-RoCE (for tests)");
  line.option(
      "--taint", &options.request.taint,
      "KEY or KEY=VALUE of a taint for these nodes: the pods tolerate it, a comment has the command that sets it");
  line.option("--namespace", &options.request.pod_namespace, "namespace of the pods").show_default();
  line.option("--image", &options.request.image, "image of the test pods").show_default();
  line.option("--resource-prefix", &options.request.resource_prefix, "prefix of resource names").show_default();
}

// The nodes in the given files, or this machine.
Result<std::vector<facts::NodeFacts>> read_facts(const GenerateOptions& options) {
  std::vector<facts::NodeFacts> nodes;
  if (options.facts.empty()) {
    auto kernel = TRY(open_machine({}));
    nodes.push_back(facts::collect(*kernel, collect_options({}, *kernel)));
    return nodes;
  }
  doc::Diagnostics diagnostics;
  nodes = TRY(read_nodes_of(options.facts, diagnostics));
  print_diagnostics(diagnostics);
  if (diagnostics.has_errors()) return fail(Code::kInvalid, "the facts have errors");
  return nodes;
}

// In tenths: more digits say nothing about a plan.
report::Cell share_cell(const generate::Design& design, const Rail& rail) {
  const std::optional<double> share = generate::share_gbps(design, rail);
  return share ? report::Cell(std::floor(*share * 10) / 10) : report::Cell();
}

report::Table size_table(const generate::Design& design) {
  using report::Align;
  report::Table table({{"RAIL", "rail"},
                       {"PFS", "pfs", Align::kRight},
                       {"VFS PER PF", "vfsPerPf", Align::kRight},
                       {"DECIDED BY", "decidedBy"},
                       {"VFS", "vfs", Align::kRight},
                       {"USED BY PODS", "vfsUsed", Align::kRight},
                       {"SPARE %", "sparePercent", Align::kRight},
                       {"PODS PER NODE", "podsPerNode", Align::kRight},
                       {"GBIT/S PER VF", "gbpsPerVf", Align::kRight},
                       {"ADDRESSES NEEDED", "addressesNeeded", Align::kRight},
                       {"RANGE", "range"},
                       {"ROOM", "room", Align::kRight}});
  for (const Rail& rail : design.rails) {
    const auto pfs = static_cast<int>(rail.ports.size());
    const int used = generate::vfs_needed(design) * pfs;
    const int all = generate::addresses_needed(rail);
    const int64_t room = (int64_t{1} << (rail.range.address.bits() - rail.range.length)) - 2;
    const int pods = rail.vfs / design.request.vfs_per_pod;
    table.row({rail.name, pfs, rail.vfs, generate::limit_name(rail.limit), all, used, (all - used) * 100 / all, pods,
               share_cell(design, rail), all, rail.range.to_string(), room});
  }
  return table;
}

doc::Value size_value(const generate::Design& design, const report::Table& table) {
  doc::Value value = doc::Value::object();
  value.set("apiVersion", kOwnApiVersion);
  value.set("kind", "Size");
  value.set("rails", table.to_value());
  value.set("notes", doc::texts(design.notes));
  return value;
}

Result<int> print_design(const GenerateOptions& options, bool only_size) {
  const std::vector<facts::NodeFacts> nodes = TRY(read_facts(options));
  const generate::Design design = TRY(generate::design(nodes, options.request));
  if (!only_size) {
    print_document(generate::to_yaml(design));
    return kExitOk;
  }
  const report::Table table = size_table(design);
  if (options.output != "text") {
    print_value(size_value(design, table), options.output);
    return kExitOk;
  }
  print("{}", table.to_text());
  for (const std::string& note : design.notes) print("- {}\n", note);
  for (const facts::NodeFacts* node : design.nodes)
    if (!node->gpus.empty()) print("- {}\n", generate::rails_per_gpu(design, *node));
  return kExitOk;
}

int run_design(CommandLine& line, GenerateOptions& options, bool only_size) {
  if (auto status = line.parse()) return *status;
  options.request.profile = kProfiles.at(options.profile);
  Result<int> done = print_design(options, only_size);
  if (done) return *done;
  return give_up(done.error());
}

}  // namespace

int generate_verb(CommandLine& line) {
  GenerateOptions options;
  line.about(
      "Writes manifests for these nodes (or this machine): a policy and a network per rail, addresses\n"
      "for all VFs, a test pod per node with all rails and the environment that NCCL, UCX and NVSHMEM need.\n"
      "Check them: railbed generate … | railbed check --facts FILE -");
  add_options(line, options);
  return run_design(line, options, false);
}

int size_verb(CommandLine& line) {
  GenerateOptions options;
  line.about(
      "Shows how many VFs and addresses the rails of these nodes (or of this machine) have and need: per rail\n"
      "PFs, VFs and what decided their number, VFs that pods use at once, spare VFs, the pods that fit on a node, the\n"
      "share of each VF when all that are in use send, and a range with 20 % more addresses than VFs.");
  add_options(line, options);
  line.option("-o,--output", &options.output, "text, json or yaml").one_of({"text", "json", "yaml"});
  return run_design(line, options, true);
}

}  // namespace railbed

// SPDX-License-Identifier: Apache-2.0
// railbed discover: the facts of this node (or of a recorded one), for people and for programs.
#include <cerrno>
#include <cstdio>
#include <fstream>
#include <memory>

#include <fmt/core.h>

#include "command/output.h"
#include "facts/collect.h"
#include "facts/facts_json.h"
#include "facts/machine_file.h"
#include "facts/nccl_topology.h"
#include "facts/troubles.h"
#include "findings/printers.h"
#include "machine.h"
#include "manifests.h"
#include "os/record/recorded.h"
#include "report/fleet_tables.h"
#include "report/node_tables.h"
#include "verb.h"

namespace railbed {
namespace {

struct DiscoverOptions {
  std::string output = "table";
  std::string record;
  std::string nccl_topology;
  std::vector<std::string> facts;
  Machine machine;
};

Result<void> print_node(const facts::NodeFacts& node, const std::string& output) {
  if (output == "json" || output == "yaml") {
    print_value(facts::to_value(node), output);
  } else if (output == "nccl") {
    print_document(facts::print_nccl_topology(node));
  } else {
    auto colour = colour_of(stdout);
    auto detail = output == "wide" ? report::Detail::kWide : report::Detail::kNormal;
    print("{}", report::node_text(node, detail, colour));
  }
  flush_output();
  for (const std::string& problem : node.problems) print_error("could not be read: {}\n", problem);
  return {};
}

// Writes a tar file or, for fixtures, one text that can be read and edited.
Result<void> write_recording(os::Recorder& recorder, const std::string& path) {
  if (!path.ends_with(".machine")) return recorder.write(path);
  const os::MemoryFiles* files = TRY(recorder.files());
  const std::string temporary = path + ".part";
  std::ofstream out(temporary, std::ios::binary);
  out << facts::print_machine(*files);
  out.close();
  if (out && std::rename(temporary.c_str(), path.c_str()) == 0) return {};
  const int problem = errno;
  std::remove(temporary.c_str());
  return fail(system_error(problem, "write " + path));
}

// What NCCL's file says goes into the facts; where the machine reports something else, a person should know.
Result<void> print_node_with(facts::NodeFacts node, const DiscoverOptions& options) {
  std::vector<std::string> differences;
  if (!options.nccl_topology.empty()) {
    const doc::SourcePtr file = TRY(read_source(options.nccl_topology));
    const facts::NcclTopology topology = TRY(facts::parse_nccl_topology(file->text, file->name));
    differences = TRY(facts::take_nccl_paths(topology, node).context("{}", options.nccl_topology));
  }
  TRY(print_node(node, options.output));
  for (const std::string& difference : differences) print_error("{}: {}\n", options.nccl_topology, difference);
  return {};
}

// The problems of all nodes, which the tables of each node show as lines.
doc::Value findings_of(const std::vector<facts::NodeFacts>& nodes) {
  doc::Value out = doc::Value::array();
  for (const facts::NodeFacts& node : nodes)
    for (const findings::Finding& one : facts::troubles_of(node))
      out.push(findings::to_value(one)).set("node", node.node);
  return out;
}

// Nodes whose facts are there: one as it is, several beside each other.
Result<void> print_facts(const DiscoverOptions& options) {
  doc::Diagnostics diagnostics;
  std::vector<facts::NodeFacts> nodes = TRY(read_nodes_of(options.facts, diagnostics, options.machine.collect.pci_ids));
  print_diagnostics(diagnostics);
  if (diagnostics.has_errors()) return fail(Code::kInvalid, "the facts have errors");
  if (nodes.size() == 1) return print_node_with(std::move(nodes.front()), options);
  if (options.output == "nccl" || !options.nccl_topology.empty())
    return fail(Code::kInvalid, "an NCCL topology describes one node, found {} nodes", nodes.size());
  const std::vector<facts::FleetGroup> groups = facts::compare_nodes(nodes);
  if (options.output != "json" && options.output != "yaml") {
    print("{}", report::fleet_text(groups, colour_of(stdout)));
    return {};
  }
  doc::Value fleet = report::fleet_value(groups);
  fleet.set("findings", findings_of(nodes));
  print_value(fleet, options.output);
  return {};
}

Result<void> discover(const DiscoverOptions& options) {
  if (!options.facts.empty()) return print_facts(options);
  std::unique_ptr<os::Kernel> kernel = TRY(open_machine(options.machine));
  const facts::CollectOptions collect = collect_options(options.machine, *kernel);
  if (options.record.empty()) return print_node_with(facts::collect(*kernel, collect), options);
  os::Recorder recorder(*kernel);
  facts::NodeFacts node = facts::collect(recorder.kernel(), collect);
  TRY(write_recording(recorder, options.record));
  return print_node_with(std::move(node), options);
}

}  // namespace

int discover_verb(CommandLine& line) {
  DiscoverOptions options;
  options.machine.collect.pci_ids = "/usr/share/misc/pci.ids";
  line.about("Shows this node's NICs, VFs, RDMA devices, GPUs and fabrics.");
  line.option("-o,--output", &options.output,
              "table, wide (VFs too), json or yaml (node facts), nccl (for NCCL_TOPO_FILE)")
      .one_of({"table", "wide", "json", "yaml", "nccl"});
  Option& root =
      line.option("--root", &options.machine.root, "read a machine's files (/sys, /proc) below this directory")
          .existing_directory();
  const Option& from =
      line.option("--from", &options.machine.from, "read a recording: FILE.tar, or FILE.machine").existing_file();
  root.excludes(from);
  Option& facts =
      line.option("--facts", &options.facts,
                  "node facts (railbed discover -o yaml) or recordings; one is shown, several are compared");
  facts.existing_file().excludes(root).excludes(from);
  line.option("--record", &options.record,
              "also record what was read in FILE.tar (or FILE.machine, a text), for --from on another machine")
      .file()
      .excludes(facts);
  line.option("--nccl-topo", &options.nccl_topology,
              "NCCL topology of this machine (XML), the source of the distances between NICs and GPUs")
      .existing_file();
  line.option("--node", &options.machine.collect.node, "node name in the facts (default: the host name)")
      .excludes(facts);
  line.option("--pci-ids", &options.machine.collect.pci_ids, "file with the names of PCI devices")
      .show_default()
      .file();
  if (auto status = line.parse()) return *status;
  if (Result<void> done = discover(options); !done) return give_up(done.error());
  return kExitOk;
}

}  // namespace railbed

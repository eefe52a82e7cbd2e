// SPDX-License-Identifier: Apache-2.0
// railbed discover: what this node is (or the recorded one), for people and for programs.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/core.h>
#include <unistd.h>

#include "command_line.h"
#include "doc/json.h"
#include "doc/yaml.h"
#include "facts/collect.h"
#include "facts/facts_json.h"
#include "facts/machine_file.h"
#include "machine.h"
#include "os/recorded.h"
#include "os/tar.h"
#include "report/node_tables.h"
#include "verb.h"

namespace railbed {
namespace {

struct Options {
  std::string output = "table";
  std::string record;
  Machine machine;
};

Result<void> print(const facts::NodeFacts& node, const std::string& output) {
  if (output == "json") {
    fmt::print("{}\n", doc::to_json(facts::to_value(node), 2));
  } else if (output == "yaml") {
    fmt::print("{}", doc::to_yaml(facts::to_value(node)));
  } else {
    auto colour = report::Colour{isatty(STDOUT_FILENO) == 1};
    auto detail = output == "wide" ? report::Detail::kWide : report::Detail::kNormal;
    fmt::print("{}", report::node_text(node, detail, colour));
  }
  std::fflush(stdout);
  for (const std::string& problem : node.problems) fmt::print(stderr, "could not be read: {}\n", problem);
  return {};
}

// As a tar, or, for fixtures, as one text that can be read and edited.
Result<void> write_recording(os::Recorder& recorder, const std::string& path) {
  if (!path.ends_with(".machine")) return recorder.write(path);
  std::string tar = path + ".tar";
  TRY(recorder.write(tar));
  os::MemoryFiles files;
  Result<void> read = os::read_tar(tar, files);
  std::filesystem::remove(tar);
  TRY(std::move(read));
  std::ofstream out(path, std::ios::binary);
  out << facts::print_machine(files);
  if (!out.flush()) return fail(Code::kIo, "write {}: failed", path);
  return {};
}

Result<void> discover(const Options& options) {
  std::unique_ptr<os::Kernel> kernel = TRY(open_machine(options.machine));
  const facts::CollectOptions collect = collect_options(options.machine, *kernel);
  if (options.record.empty()) return print(facts::collect(*kernel, collect), options.output);
  os::Recorder recorder(*kernel);
  facts::NodeFacts node = facts::collect(recorder.kernel(), collect);
  TRY(write_recording(recorder, options.record));
  return print(node, options.output);
}

}  // namespace

int discover_verb(std::span<char*> arguments) {
  Options options;
  CLI::App app("What this node has: NICs, VFs, RDMA devices, GPUs and fabrics.", "railbed discover");
  app.add_option("-o,--output", options.output, "table, wide (VFs too), json or yaml (node facts)")
      ->check(CLI::IsMember({"table", "wide", "json", "yaml"}));
  auto* root = app.add_option("--root", options.machine.root,
                              "read a machine's files (/sys, /proc) below this directory")
                   ->check(CLI::ExistingDirectory);
  auto* from = app.add_option("--from", options.machine.from, "read a recording: FILE.tar, or FILE.machine")
                   ->check(CLI::ExistingFile);
  root->excludes(from);
  app.add_option("--record", options.record,
                 "also write what was read to FILE.tar (or FILE.machine, a text), for --from elsewhere");
  app.add_option("--node", options.machine.collect.node,
                 "the node's name in the facts; its host name otherwise");
  app.add_option("--pci-ids", options.machine.collect.pci_ids, "names of PCI devices")->capture_default_str();
  if (auto status = parse_command_line(app, arguments)) return *status;
  if (Result<void> done = discover(options); !done) return give_up(done.error());
  return kExitOk;
}

}  // namespace railbed

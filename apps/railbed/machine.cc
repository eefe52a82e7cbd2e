// SPDX-License-Identifier: Apache-2.0
#include "machine.h"

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "facts/facts_json.h"
#include "facts/machine_file.h"
#include "manifests.h"
#include "os/ports/file_tree.h"
#include "os/record/recorded.h"

namespace railbed {
namespace {

std::string fallback_name(const Machine& machine) {
  std::string path = machine.root.empty() ? machine.from : machine.root;
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return machine.root.empty() ? std::filesystem::path(path).stem() : std::filesystem::path(path).filename();
}

}  // namespace

Result<std::unique_ptr<os::Kernel>> open_machine(const Machine& machine) {
  if (!machine.root.empty()) return os::recorded_kernel(machine.root);
  if (machine.from.empty()) return os::real_kernel();
  if (!machine.from.ends_with(".machine")) return os::recorded_kernel_from_tar(machine.from);
  std::string text = TRY(os::real_files("/")->read(std::filesystem::absolute(machine.from)));
  return os::recorded_kernel_over(TRY(facts::parse_machine(text, machine.from)));
}

facts::CollectOptions collect_options(const Machine& machine, const os::Kernel& kernel) {
  facts::CollectOptions options = machine.collect;
  if (options.node.empty() && kernel.host_name().empty()) options.node = fallback_name(machine);
  return options;
}

namespace {

Result<std::vector<facts::NodeFacts>> read_nodes_in(const std::string& path, doc::Diagnostics& diagnostics) {
  const std::string ending = std::filesystem::path(path).extension().string();
  if (ending != ".machine" && ending != ".tar") return facts::parse_facts(TRY(read_source(path)), diagnostics);
  Machine machine;
  machine.from = path;
  auto kernel = TRY(open_machine(machine));
  std::vector<facts::NodeFacts> nodes;
  nodes.push_back(facts::collect(*kernel, collect_options(machine, *kernel)));
  return nodes;
}

}  // namespace

Result<std::vector<facts::NodeFacts>> read_nodes_of(const std::vector<std::string>& paths,
                                                    doc::Diagnostics& diagnostics) {
  std::vector<facts::NodeFacts> nodes;
  for (const std::string& path : paths) {
    auto found = TRY(read_nodes_in(path, diagnostics));
    std::ranges::move(found, std::back_inserter(nodes));
  }
  return nodes;
}

}  // namespace railbed

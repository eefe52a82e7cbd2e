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
  std::string name = std::filesystem::path(path).filename();
  if (!machine.root.empty()) return name;
  while (os::is_tar_name(name) || name.ends_with(".machine")) name.erase(name.rfind('.'));
  return name;
}

// A folder or an archive without /sys is none of a machine: to call it one without NICs would be wrong.
Result<std::unique_ptr<os::Kernel>> with_sysfs(std::unique_ptr<os::Kernel> kernel, const std::string& path) {
  if (kernel->files().exists("/sys")) return kernel;
  Error error{.code = Code::kNotFound,
              .message = fmt::format("{} is not a recorded machine: it has no sys/", path),
              .context = {}};
  error.hint = "it needs sys/ and may have proc/, as railbed discover --record writes them";
  return std::unexpected(std::move(error));
}

}  // namespace

Result<std::unique_ptr<os::Kernel>> open_machine(const Machine& machine) {
  if (!machine.root.empty()) return with_sysfs(TRY(os::recorded_kernel(machine.root)), machine.root);
  if (machine.from.empty()) return os::real_kernel();
  if (!machine.from.ends_with(".machine"))
    return with_sysfs(TRY(os::recorded_kernel_from_tar(machine.from)), machine.from);
  std::string text = TRY(os::real_files("/")->read(std::filesystem::absolute(machine.from)));
  auto files = TRY(facts::parse_machine(text, machine.from));
  return with_sysfs(TRY(os::recorded_kernel_over(std::move(files))), machine.from);
}

facts::CollectOptions collect_options(const Machine& machine, const os::Kernel& kernel) {
  facts::CollectOptions options = machine.collect;
  if (options.node.empty() && kernel.host_name().empty()) options.node = fallback_name(machine);
  return options;
}

namespace {

Result<std::vector<facts::NodeFacts>> read_nodes_in(const std::string& path, const std::string& pci_ids,
                                                    doc::Diagnostics& diagnostics) {
  if (!path.ends_with(".machine") && !os::is_tar_name(path))
    return facts::parse_facts(TRY(read_source(path)), diagnostics);
  Machine machine;
  machine.from = path;
  machine.collect.pci_ids = pci_ids;
  auto kernel = TRY(open_machine(machine));
  std::vector<facts::NodeFacts> nodes;
  nodes.push_back(facts::collect(*kernel, collect_options(machine, *kernel)));
  return nodes;
}

}  // namespace

Result<std::vector<facts::NodeFacts>> read_nodes_of(const std::vector<std::string>& paths,
                                                    doc::Diagnostics& diagnostics, const std::string& pci_ids) {
  std::vector<facts::NodeFacts> nodes;
  for (const std::string& path : paths) {
    auto found = TRY(read_nodes_in(path, pci_ids, diagnostics));
    std::ranges::move(found, std::back_inserter(nodes));
  }
  return nodes;
}

}  // namespace railbed

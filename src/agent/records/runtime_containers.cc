// SPDX-License-Identifier: Apache-2.0
#include "agent/records/runtime_containers.h"

#include <algorithm>

namespace railbed::agent {
namespace {

constexpr const char* kMultus = "/var/lib/cni/multus";

}  // namespace

RuntimeContainers RuntimeContainers::look(os::Disk& disk) {
  RuntimeContainers all;
  if (auto names = disk.list(kMultus)) all.multus_.insert(names->begin(), names->end());
  for (const char* directory : kLibraryResults)
    if (auto names = disk.list(directory)) std::ranges::move(*names, std::back_inserter(all.results_));
  return all;
}

bool RuntimeContainers::knows(const std::string& container) const {
  const std::string part = "-" + container + "-";
  return multus_.contains(container) ||
         std::ranges::any_of(results_, [&](const std::string& name) { return name.find(part) != std::string::npos; });
}

}  // namespace railbed::agent

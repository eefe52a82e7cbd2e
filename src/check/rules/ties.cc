// SPDX-License-Identifier: Apache-2.0
#include "check/rules/ties.h"

#include <string>

#include "check/read/paths.h"
#include "check/read/rendered.h"

namespace railbed::check {
namespace {

const SourcePlace* place_in_project(const Policy& policy, const std::string& name) {
  const auto found = policy.places.find(name);
  return found == policy.places.end() || !found->second.project ? nullptr : &found->second;
}

// Whether a project file says it: an environment belongs together, with everything that is in none.
bool are_of_one_project_environment(const Policy& policy, const std::string& one, const std::string& other) {
  const SourcePlace* first = place_in_project(policy, one);
  const SourcePlace* second = place_in_project(policy, other);
  if (first == nullptr || second == nullptr || first->project != second->project) return false;
  const ProjectFile& project = policy.projects[*first->project];
  if (project.environments.empty()) return false;
  const auto a = project.environment_of(first->path);
  const auto b = project.environment_of(second->path);
  return a == b || !a || !b;
}

}  // namespace

bool belong_together(const Ties& ties, const Document& one, const Document& other) {
  const World* world = ties.world;
  if (world == nullptr || &one == &other || world->tied(one, other)) return true;
  const std::string& first = one.value.span.source->name;  // what has no source is tied
  const std::string& second = other.value.span.source->name;
  if (first == second) return true;  // a page, whose class says that it shows examples
  if (ties.policy != nullptr && are_of_one_project_environment(*ties.policy, first, second)) return true;
  if (is_page(first) || is_page(second) || is_rendered(first) || is_rendered(second)) return false;
  if (world->versions.contains(first) || world->versions.contains(second)) return false;
  return folder_of(first) == folder_of(second) ||
         (!world->apart(first, second) && world->environments.complete_each_other(first, second));
}

}  // namespace railbed::check

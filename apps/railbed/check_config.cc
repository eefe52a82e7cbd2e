// SPDX-License-Identifier: Apache-2.0
#include "check_config.h"

#include <fmt/core.h>

#include "base/well_known.h"
#include "check/project/rule_names.h"
#include "check_files.h"
#include "doc/text.h"

namespace railbed {
namespace {

Result<void> require_known_rules(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (check::is_rule_name(name)) continue;
    const std::string_view near = check::nearest_rule_name(name);
    return fail(
        Error{.code = Code::kInvalid,
              .message = fmt::format("unknown rule \"{}\"", doc::printable(name)),
              .hint = near.empty() ? "railbed explain --list shows the rules" : fmt::format("did you mean {}?", near)});
  }
  return {};
}

// Networks and prefix of the project files.
Result<void> add_projects(const CheckProjects& projects, check::Settings& settings) {
  const check::ProjectFile* first = nullptr;  // with a prefix
  for (const check::ProjectFile& project : projects.all()) {
    for (const IpPrefix& network : project.cluster_networks) settings.cluster_networks.push_back(network);
    if (project.resource_prefix.empty()) continue;
    if (first == nullptr) first = &project;
    if (first->resource_prefix != project.resource_prefix)
      return fail(Error{
          .code = Code::kInvalid,
          .message = fmt::format("{} and {} set different resource-prefix", first->source->name, project.source->name),
          .hint = "check each of the two projects in a run of its own"});
  }
  const bool typed = settings.graph.resource_prefix != check::Settings().graph.resource_prefix;
  if (first != nullptr && !typed) settings.graph.resource_prefix = first->resource_prefix;
  return {};
}

doc::Value list_of(const std::vector<std::string>& texts) {
  doc::Value list = doc::Value::array();
  for (const std::string& text : texts) list.push(text);
  return list;
}

}  // namespace

Result<void> settle(CheckOptions& options, const CheckProjects& projects, check::Policy& policy) {
  TRY(require_known_rules(options.select));
  TRY(require_known_rules(options.ignore));
  check::Settings& settings = options.settings;
  for (const std::string& network : options.cluster_networks)
    settings.cluster_networks.push_back(TRY(IpPrefix::parse(network)));
  TRY(add_projects(projects, settings));
  policy.projects = projects.all();
  policy.select = options.select;
  policy.ignore = options.ignore;
  settings.policy = &policy;
  settings.object_states = !options.since.empty();
  settings.least_repair = options.fix == "safe" ? doc::Applicability::kSafe : doc::Applicability::kSuggested;
  if (options.strict) options.fail_on = "warning";
  return {};
}

doc::Value config_value(const CheckOptions& options, const CheckProjects& projects) {
  doc::Value out = doc::Value::object();
  out.set("apiVersion", kOwnApiVersion);
  out.set("kind", "CheckConfig");
  doc::Value& files = out.set("projects", doc::Value::array());
  for (const check::ProjectFile& project : projects.all()) {
    doc::Value one = doc::Value::object();
    one.set("file", project.source->name);
    one.set("content", check::to_value(project));
    files.push(std::move(one));
  }
  out.set("resourcePrefix", options.settings.graph.resource_prefix);
  doc::Value& networks = out.set("clusterNetworks", doc::Value::array());
  for (const IpPrefix& network : options.settings.cluster_networks) networks.push(network.to_string());
  out.set("select", list_of(options.select));
  out.set("ignore", list_of(options.ignore));
  out.set("exclude", list_of(options.excluded));
  doc::Value& skipped = out.set("skippedFolders", doc::Value::array());
  for (const std::string_view name : skipped_folders()) skipped.push(name);
  out.set("skipsWhatGitIgnores", true);
  out.set("failOn", options.fail_on);
  if (!options.baseline.empty()) out.set("baseline", options.baseline);
  if (!options.since.empty()) out.set("since", options.since);
  return out;
}

}  // namespace railbed

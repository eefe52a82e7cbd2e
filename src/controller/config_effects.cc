// SPDX-License-Identifier: Apache-2.0
#include "controller/config_effects.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "api/cluster_labels.h"
#include "base/format.h"
#include "doc/diagnostic.h"
#include "doc/fields.h"

namespace railbed::controller {

namespace {

constexpr std::string_view kNoInjector = "this version has no injector: pods need the request themselves";
constexpr std::string_view kNoOvs = "railbed does not configure Open vSwitch";
constexpr std::string_view kNoFirmware = "railbed changes no firmware";

// Why a gate does nothing; empty: it asks for what is so anyway.
struct Gate {
  std::string_view name;
  std::string_view on, off;
};
constexpr Gate kGates[] = {
    {"parallelNicConfig", "", "PFs are always configured in parallel"},
    {"resourceInjectorMatchCondition", kNoInjector, ""},
    {"metricsExporter", "the agent's metrics have no traffic of VFs", ""},
    {"manageSoftwareBridges", kNoOvs, ""},
    {"blockDevicePluginUntilConfigured", "", "VFs are offered only when they are configured"},
    {"mellanoxFirmwareReset", kNoFirmware, ""},
    {"dynamicResourceAllocation", "VFs are offered by a device plugin only", ""},
};
static_assert(std::ranges::equal(kGates, api::kFeatureGates, {}, &Gate::name));

void add_gates(const api::SriovOperatorConfig& config, std::vector<FieldEffect>& out) {
  for (const auto& [name, on] : config.feature_gates) {
    const auto* known = std::ranges::find(kGates, name, &Gate::name);
    const std::string_view what =
        known == std::end(kGates) ? "this version does not know it" : (on ? known->on : known->off);
    if (!what.empty()) out.push_back({false, "featureGates." + name, std::string(what)});
  }
}

// The object that counts among those of the namespaces that do; null where there is none.
kube::ObjectPtr first_of(const ConfigView& view, kube::ObjectKey& key) {
  std::vector<std::string> order{view.own_namespace};
  std::ranges::copy(view.namespaces.served, std::back_inserter(order));
  for (const std::string& ns : order) {
    key = {ns, std::string(api::kOperatorConfigName)};
    if (const auto found = view.stored->find(key); found != view.stored->end()) return found->second;
  }
  return nullptr;
}

// What counted before goes on, whatever it was.
ConfigChoice kept_as(const ConfigChoice& before, ConfigChoice::Source source) {
  ConfigChoice out = before;
  out.source = source;
  out.problem.clear();
  return out;
}

std::string labels_text(const graph::Labels& labels) {
  std::string out;
  for (const auto& [key, value] : labels) out += fmt::format("{}{}={}", out.empty() ? "" : ",", key, value);
  return out;
}

}  // namespace

ConfigChoice choose_config(const ConfigView& view) {
  using Source = ConfigChoice::Source;
  const bool had_one = view.before.source != Source::kDefaults;
  if (view.stored == nullptr) return had_one ? kept_as(view.before, Source::kGone) : ConfigChoice{};
  kube::ObjectKey key;
  const kube::ObjectPtr object = first_of(view, key);
  if (object == nullptr) {
    const bool stays = had_one && (view.upstream_operator || view.before.source == Source::kGone);
    return stays ? kept_as(view.before, Source::kGone) : ConfigChoice{};
  }
  doc::Diagnostics found;
  if (std::optional<api::SriovOperatorConfig> config = api::parse_operator_config(*object, found))
    return {.source = Source::kStored, .key = key.to_string(), .config = *std::move(config), .problem = ""};
  ConfigChoice out = kept_as(view.before, Source::kUnreadable);
  out.key = key.to_string();
  out.problem = doc::first_error(found).error().message;
  if (!had_one) out.config.disable_drain = true;  // the more careful of what it may say
  return out;
}

std::string why_left_alone(const ConfigChoice& choice, const graph::Labels& node_labels) {
  const graph::Labels& selector = choice.config.daemon_selector;
  const auto managed = node_labels.find(std::string(api::kManagedLabel));
  const bool is_chosen = managed != node_labels.end() && managed->second == "true";
  if (is_chosen || graph::labels_match(selector, node_labels)) return "";
  return fmt::format(
      "configDaemonNodeSelector ({}) of SriovOperatorConfig {} does not select the node, and it has no label {}=true",
      labels_text(selector), choice.key, api::kManagedLabel);
}

std::vector<FieldEffect> effects_of(const api::SriovOperatorConfig& config) {
  std::vector<FieldEffect> out;
  const auto used = [&](std::string_view field, std::string what) {
    out.push_back({true, std::string(field), std::move(what)});
  };
  const auto ignored = [&](bool is_set, std::string_view field, std::string_view why) {
    if (is_set) out.push_back({false, std::string(field), std::string(why)});
  };
  if (!config.daemon_selector.empty())
    used("configDaemonNodeSelector", fmt::format("nodes without {} are left as they are, but for those with {}=true",
                                                 labels_text(config.daemon_selector), api::kManagedLabel));
  if (config.disable_drain) used("disableDrain", "no pod is evicted, and changes that need it wait");
  if (config.log_level) used("logLevel", fmt::format("logs of level {}", *config.log_level));
  if (!config.disabled_plugins.empty())
    used("disablePlugins", fmt::format("{} is off: {}", fmt::join(config.disabled_plugins, ", "), kNoFirmware));
  ignored(config.injector.value_or(false), "enableInjector", kNoInjector);
  ignored(config.webhook.value_or(false), "enableOperatorWebhook",
          "this version has no webhook: definitions and `railbed check` refuse mistakes");
  ignored(config.configuration_mode == "systemd", "configurationMode", "agents configure nodes after every boot");
  ignored(config.cdi.value_or(false), "useCDI", "containers get devices without CDI");
  ignored(config.ovs_offload.value_or(false), "enableOvsOffload", kNoOvs);
  ignored(!config.daemon_variables.empty(), "configDaemonEnvVars", "railbed has no such daemon");
  add_gates(config, out);
  for (const std::string& field : config.unknown) ignored(true, field, "this version does not know it");
  return out;
}

Readiness config_readiness(const kube::ObjectKey& key, const ConfigChoice& choice, const PolicyNamespaces& namespaces) {
  using Source = ConfigChoice::Source;
  if (key.name != api::kOperatorConfigName)
    return {"False", "Ignored", fmt::format("only an object named {} counts", api::kOperatorConfigName)};
  if (std::string why = namespaces.why_not(key.ns); !why.empty()) return {"False", "Ignored", std::move(why)};
  if (choice.key != key.to_string())
    return {"False", "Ignored", fmt::format("SriovOperatorConfig {} counts", choice.key)};
  if (choice.source == Source::kUnreadable) return {"False", "Invalid", choice.problem + "; what counted before stays"};
  std::string used, without;
  for (const FieldEffect& one : effects_of(choice.config)) {
    if (one.used)
      used += fmt::format("{}{}", used.empty() ? "" : "; ", one.what);
    else
      without += fmt::format("{}{} ({})", without.empty() ? "ignored: " : ", ", one.field, one.what);
  }
  if (used.empty()) used = "all nodes, as by default";
  if (without.empty()) return {"True", "Used", std::move(used)};
  return {"True", "UsedInPart", without + "; used: " + used};
}

}  // namespace railbed::controller

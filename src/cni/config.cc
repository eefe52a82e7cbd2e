// SPDX-License-Identifier: Apache-2.0
#include "cni/config.h"

#include <algorithm>

#include "cni/fields.h"
#include "cni/request.h"
#include "doc/json.h"

namespace railbed::cni {

namespace {
using doc::Value;

constexpr std::string_view kConfigName = "network configuration";

Outcome<std::string> network_name(const Fields& fields) {
  std::string name = TRY_CNI(fields.text("name"));
  if (!name.empty() && !valid_network_name(name))
    return fields.wrong(*fields.find("name"), "name",
                        "a network's name is a letter or digit, then letters, digits, '_', '.' and '-'");
  return name;
}

Outcome<std::string> plugin_type(const Fields& fields, const Value& object) {
  std::string type = TRY_CNI(fields.text("type"));
  if (type.empty()) return fields.wrong(object, "type", "the plugin's type is missing");
  if (type.find('/') != std::string::npos || type == "." || type == ".." ||
      std::ranges::any_of(type, [](char c) { return static_cast<unsigned char>(c) < 0x20; }))
    return fields.wrong(*fields.find("type"), "type", "a type is the name of a program, without its folder");
  return type;
}

Outcome<void> read_valid(const Fields& fields, const Value& object, PluginConfig& out) {
  constexpr std::string_view keys[] = {"cni.dev/valid-attachments", "cni.dev/attachments"};
  for (std::string_view key : keys) {
    // The reference library writes null for an empty list.
    if (object.find(key) == nullptr) continue;
    out.valid_is_given = true;
    const Value::Array* items = TRY_CNI(fields.array(key));
    if (items == nullptr) return {};
    for (size_t i = 0; i < items->size(); ++i) {
      const Value& item = (*items)[i];
      const Fields inner(item, fmt::format("{}[{}]", key, i), kInvalidConfig);
      AttachmentId id;
      id.container_id = TRY_CNI(inner.text("containerID"));
      id.ifname = TRY_CNI(inner.text("ifname"));
      // A list that is not understood must not look like one that is short: GC deletes what is not in it.
      if (!item.is_object() || !valid_container_id(id.container_id) || !valid_interface_name(id.ifname))
        return inner.wrong(item, "", "an attachment has a containerID and an ifname");
      out.valid.push_back(std::move(id));
    }
    return {};
  }
  return {};
}

Outcome<std::string> list_version(const Fields& fields) {
  const std::string told = TRY_CNI(fields.text("cniVersion"));
  const Version single = TRY_CNI(parse_version(told));
  std::optional<Version> best;
  for (const std::string& text : TRY_CNI(fields.texts("cniVersions"))) {
    const auto version = supported_version(text);
    if (version && (!best || *best < *version)) best = *version;
  }
  // cniVersion counts as one of cniVersions.
  if (best && *best < single && supported_version(told)) best = single;
  return best.value_or(single).to_string();
}

void erase(Value& object, std::string_view key) {
  Value::Object* members = object.as_object();
  std::erase_if(*members, [&](const Value::Member& member) { return member.key == key; });
}
}  // namespace

Outcome<PluginConfig> read_plugin_config(const std::string& json) {
  PluginConfig out;
  out.object = TRY_CNI(read_object(json, kConfigName));
  const Fields fields(out.object, "", kInvalidConfig);
  const std::string version = TRY_CNI(fields.text("cniVersion"));
  out.version = TRY_CNI(supported_version(version));
  out.network = TRY_CNI(network_name(fields));
  if (out.network.empty()) return fields.wrong(out.object, "name", "the network's name is missing");
  out.type = TRY_CNI(plugin_type(fields, out.object));
  const Value* previous = TRY_CNI(fields.object("prevResult"));
  if (previous != nullptr) out.previous = TRY_CNI(read_result(*previous, out.version.to_string()));
  const Value* runtime = TRY_CNI(fields.object("runtimeConfig"));
  if (runtime != nullptr) out.runtime = *runtime;
  const Value* args = TRY_CNI(fields.object("args"));
  if (args != nullptr) {
    const Fields inner(*args, "args", kInvalidConfig);
    const Value* cni = TRY_CNI(inner.object("cni"));
    if (cni != nullptr) out.args = *cni;
  }
  TRY_CNI(read_valid(fields, out.object, out));
  return out;
}

Outcome<void> require_valid_attachments(const PluginConfig& config) {
  if (config.valid_is_given) return {};
  return std::unexpected(
      Failure{kInvalidConfig, "GC needs cni.dev/valid-attachments: without it every attachment would be removed",
              "send the attachments that are still valid, [] for none (cnitool gc sends no list); \"railbed gc\" shows "
              "and removes what no namespace owns"});
}

Outcome<ListConfig> read_list_config(const std::string& json) {
  ListConfig out;
  Value object = TRY_CNI(read_object(json, kConfigName));
  const Fields fields(object, "", kInvalidConfig);
  out.version = TRY_CNI(list_version(fields));
  out.name = TRY_CNI(network_name(fields));
  out.disable_check = TRY_CNI(fields.flag("disableCheck"));
  out.disable_gc = TRY_CNI(fields.flag("disableGC"));
  const Value::Array* plugins = TRY_CNI(fields.array("plugins"));
  if (plugins == nullptr) {
    TRY_CNI(plugin_type(fields, object));
    out.plugins.push_back(std::move(object));
    return out;
  }
  for (size_t i = 0; i < plugins->size(); ++i) {
    const Value& plugin = (*plugins)[i];
    const Fields inner(plugin, fmt::format("plugins[{}]", i), kInvalidConfig);
    if (!plugin.is_object()) return inner.wrong(plugin, "", "a plugin's configuration is an object");
    TRY_CNI(plugin_type(inner, plugin));
    out.plugins.push_back(plugin);
  }
  if (out.plugins.empty()) return fields.wrong(*fields.find("plugins"), "plugins", "at least one is needed");
  return out;
}

std::string plugin_input(const ListConfig& list, size_t index, const std::optional<AddResult>& previous,
                         const std::map<std::string, Value>& capability_args, const Value* cni_args) {
  Value out = list.plugins.at(index);
  out.set("cniVersion", list.version);
  out.set("name", list.name);
  Value runtime = Value::object();
  if (const Value* declared = out.find("capabilities"))
    for (const auto& [name, value] : capability_args) {
      const Value* wanted = declared->find(name);
      if (wanted != nullptr && wanted->as_bool() != nullptr && *wanted->as_bool()) runtime.set(name, value);
    }
  if (!runtime.as_object()->empty()) out.set("runtimeConfig", std::move(runtime));
  if (cni_args != nullptr) {
    Value* args = out.find("args");
    if (args == nullptr || !args->is_object()) args = &out.set("args", Value::object());
    args->set("cni", *cni_args);
  }
  erase(out, "prevResult");
  if (previous) {
    const auto version = parse_version(list.version);
    out.set("prevResult", to_value(*previous, version ? *version : kLatest));
  }
  return doc::to_json(out);
}

}  // namespace railbed::cni

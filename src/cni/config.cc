// SPDX-License-Identifier: Apache-2.0
#include "cni/config.h"

#include <algorithm>

#include "cni/reading.h"
#include "cni/request.h"
#include "doc/json.h"

namespace railbed::cni {

namespace {
using doc::Fields;
using doc::Value;

constexpr std::string_view kConfigName = "network configuration";

// Empty where there is none.
std::string network_name(Fields& fields) {
  std::string name;
  fields.read("name", name);
  if (!name.empty() && !valid_network_name(name))
    fields.wrong("name", "a network's name is a letter or digit, then letters, digits, '_', '.' and '-'");
  return name;
}

std::string plugin_type(Fields& fields) {
  std::string type;
  fields.read("type", type);
  if (type.empty())
    fields.wrong("type", "the plugin's type is missing");
  else if (type.find('/') != std::string::npos || type == "." || type == ".." ||
           std::ranges::any_of(type, [](char c) { return static_cast<unsigned char>(c) < 0x20; }))
    fields.wrong("type", "a type is the name of a program, without its folder");
  return type;
}

void read_valid(Fields& fields, const Value& object, PluginConfig& out) {
  constexpr std::string_view keys[] = {"cni.dev/valid-attachments", "cni.dev/attachments"};
  for (std::string_view key : keys) {
    // The reference library writes null for an empty list.
    if (object.find(key) == nullptr) continue;
    out.valid_is_given = true;
    fields.each(key, out.valid, [](Fields& inner, AttachmentId& id) {
      inner.read("containerID", id.container_id);
      inner.read("ifname", id.ifname);
      // An entry that cannot be parsed must be an error: GC deletes everything that is not in the list.
      if (!valid_container_id(id.container_id) || !valid_interface_name(id.ifname))
        inner.wrong("", "an attachment has a containerID and an ifname");
    });
    return;
  }
}

Result<std::string> list_version(Fields& fields, const doc::Diagnostics& found) {
  std::string declared;
  std::vector<std::string> all;
  fields.read("cniVersion", declared);
  fields.read("cniVersions", all);
  TRY(understood(found, kInvalidConfig));
  const Version single = TRY(parse_version(declared));
  std::optional<Version> best;
  for (const std::string& text : all) {
    const auto version = supported_version(text);
    if (version && (!best || *best < *version)) best = *version;
  }
  // cniVersion counts as one of cniVersions.
  if (best && *best < single && supported_version(declared)) best = single;
  return best.value_or(single).to_string();
}

void erase(Value& object, std::string_view key) {
  Value::Object* members = object.as_object();
  std::erase_if(*members, [&](const Value::Member& member) { return member.key == key; });
}
}  // namespace

Result<PluginConfig> read_plugin_config(const std::string& json) {
  PluginConfig out;
  out.object = TRY(read_object(json, kConfigName));
  doc::Diagnostics found;
  Fields fields(out.object, "", doc::kNoFamily, found);
  std::string version;
  fields.read("cniVersion", version);
  TRY(understood(found, kInvalidConfig));
  out.version = TRY(supported_version(version));
  out.network = network_name(fields);
  if (out.network.empty()) fields.wrong("name", "the network's name is missing");
  out.type = plugin_type(fields);
  const Value* previous = fields.object("prevResult");
  TRY(understood(found, kInvalidConfig));
  if (previous != nullptr) out.previous = TRY(read_result(*previous, out.version.to_string()));
  if (const Value* runtime = fields.object("runtimeConfig")) out.runtime = *runtime;
  fields.inside("args", [&](Fields& args) {
    if (const Value* cni = args.object("cni")) out.args = *cni;
  });
  read_valid(fields, out.object, out);
  TRY(understood(found, kInvalidConfig));
  return out;
}

Result<void> require_valid_attachments(const PluginConfig& config) {
  if (config.valid_is_given) return {};
  return fail_with(kInvalidConfig, "GC needs cni.dev/valid-attachments: without it every attachment would be removed",
                   "send the attachments that are still valid, [] for none (cnitool gc sends no list); \"railbed gc\" "
                   "shows and removes what no namespace owns");
}

Result<ListConfig> read_list_config(const std::string& json) {
  return list_config_of(TRY(read_object(json, kConfigName)));
}

Result<ListConfig> list_config_of(Value object) {
  ListConfig out;
  doc::Diagnostics found;
  Fields fields(object, "", doc::kNoFamily, found);
  out.version = TRY(list_version(fields, found));
  out.name = network_name(fields);
  out.disable_check = read_flag(fields, "disableCheck");
  out.disable_gc = read_flag(fields, "disableGC");
  const Value::Array* plugins = fields.list("plugins");
  if (plugins != nullptr) {
    fields.each("plugins", [](Fields& plugin) { plugin_type(plugin); });
    out.plugins = *plugins;
    if (out.plugins.empty()) fields.wrong("plugins", "at least one is needed");
  } else {
    plugin_type(fields);
  }
  TRY(understood(found, kInvalidConfig));
  if (plugins == nullptr) out.plugins.push_back(std::move(object));
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

// SPDX-License-Identifier: Apache-2.0
#include "api/attachment.h"

#include <algorithm>

#include "api/cni_schema.h"
#include "api/load.h"
#include "api/metadata.h"
#include "doc/fields.h"
#include "doc/json.h"

namespace railbed::api {

using doc::Value;

namespace {

constexpr std::string_view kResourceAnnotation = "k8s.v1.cni.cncf.io/resourceName";

bool is_network_name(std::string_view text) {
  return !text.empty() && std::isalnum(static_cast<unsigned char>(text[0])) &&
         std::ranges::all_of(text, [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '.' || c == '-'; });
}

class ConfigReader {
 public:
  ConfigReader(std::string_view name, doc::Diagnostics& out) : name_(name), out_(out) {}

  NetworkConfig read(const Value& config) {
    doc::Fields top(config, "config", "RB-CNI", out_);
    if (!config.is_object()) return {};
    const auto version = top.choice("cniVersion", {"0.1.0", "0.2.0", "0.3.0", "0.3.1", "0.4.0", "1.0.0", "1.1.0"});
    read_.cni_version = version.present ? version.value : "0.1.0";
    const auto name = top.text("name");
    read_.name = name.present && !name.value.empty() ? name.value : std::string(name_);
    if (!is_network_name(read_.name))
      top.error(5, name.span,
                fmt::format("config.name: \"{}\" is not a network name: letters, digits, '_', '.' and '-', "
                            "with a letter or digit first",
                            read_.name));
    if (config.find("plugins") != nullptr)
      read_list(top);
    else
      read_single(config, top);
    return std::move(read_);
  }

 private:
  void read_list(doc::Fields& top) {
    top.boolean("disableCheck");
    top.boolean("disableGC");
    top.boolean("loadOnlyInlinedPlugins");
    top.ignore({"cniVersions"});
    if (const Value::Array* plugins = top.list("plugins")) {
      if (plugins->empty()) top.error(6, top.span(), "config.plugins is empty");
      for (size_t i = 0; i < plugins->size(); ++i) add((*plugins)[i], fmt::format("plugins[{}]", i));
    }
    top.finish({{"type", "is a field of an element of plugins", "move it into plugins"},
                {"ipam", "is a field of an element of plugins", "move it into the plugin's object"}});
  }

  // For a configuration of one plugin: the list's keys are removed from the plugin's.
  void read_single(const Value& config, doc::Fields& top) {
    if (config.find("type") == nullptr) {
      top.error(6, config.span, "config has neither \"plugins\" nor \"type\"");
      return;
    }
    Value plugin = config;
    std::erase_if(*plugin.as_object(), [](const Value::Member& m) { return m.key == "cniVersion" || m.key == "name"; });
    add(plugin, "config");
  }

  void add(const Value& config, const std::string& path) {
    doc::Fields fields(config, path, "RB-CNI", out_);
    if (!config.is_object()) return;
    fields.require("type");
    Plugin plugin{fields.text("type").value, config};
    if (plugin.type.empty()) return;
    if (plugin.type.find('/') != std::string::npos) {
      fields.error(5, config.find("type")->span, fmt::format("{}: a plugin's type has no '/'", path));
      return;
    }
    check_plugin(plugin, path, out_);
    read_.plugins.push_back(std::move(plugin));
  }

  std::string_view name_;
  doc::Diagnostics& out_;
  NetworkConfig read_;
};

bool is_blank(const Value& text) {
  return text.is_string() && text.as_string()->find_first_not_of(" \t\r\n") == std::string::npos;
}

}  // namespace

Value to_value(const NetworkConfig& config) {
  Value out = Value::object();
  out.set("cniVersion", config.cni_version);
  out.set("name", config.name);
  if (config.plugins.size() == 1) {
    for (const Value::Member& member : *config.plugins[0].config.as_object()) out.set(member.key, member.value);
    return out;
  }
  Value& plugins = out.set("plugins", Value::array());
  for (const Plugin& plugin : config.plugins) plugins.push(plugin.config);
  return out;
}

std::optional<NetworkConfig> parse_network_config(const Value& text, std::string_view name,
                                                  doc::Diagnostics& diagnostics) {
  doc::Diagnostics found;
  NetworkConfig config;
  if (!text.is_string())
    found
        .error("RB-CNI-004", text.span,
               fmt::format("spec.config must be a text that holds JSON, found {}", kind_name(text.kind())))
        .with_fix("config: |")
        .of(doc::Layer::kEmbedded)
        .that_says(doc::Says::kWrongType)
        .about_field("spec.config");
  else if (auto json = doc::parse_embedded_json(text, found))
    config = ConfigReader(name, found).read(*json);
  const bool right = !found.has_errors();
  diagnostics.append(std::move(found));
  if (!right) return std::nullopt;
  return config;
}

std::optional<NetworkAttachmentDefinition> parse_attachment(const Value& object, doc::Diagnostics& diagnostics) {
  doc::Diagnostics found;
  NetworkAttachmentDefinition definition;
  doc::Fields top(object, "", "RB-API", found);
  top.ignore({"apiVersion", "kind", "status"});
  definition.meta = read_metadata(top, found);
  const auto annotation = definition.meta.annotations.find(std::string(kResourceAnnotation));
  if (annotation != definition.meta.annotations.end() && annotation->second->is_string())
    definition.resource_name = {*annotation->second->as_string(), true, annotation->second.span};
  const Value* spec = top.object("spec");
  const Value* text = nullptr;
  if (spec != nullptr) {
    doc::Fields fields(*spec, "spec", "RB-API", found);
    text = fields.take("config");
    fields.finish({{"ipam", "is a field of the JSON text in spec.config", ""},
                   {"resourceName", "is an annotation (k8s.v1.cni.cncf.io/resourceName)", ""}});
  }
  top.finish(top_level({{"config", "is a field of spec", "indent it below 'spec:'"}}));
  // Without it the configuration is a file of the node that has the definition's name.
  if (text != nullptr && !text->is_null() && !is_blank(*text)) {
    if (auto config = parse_network_config(*text, *definition.meta.name, found)) definition.config = *std::move(config);
  }
  const bool right = !found.has_errors();
  diagnostics.append(std::move(found));
  if (!right) return std::nullopt;
  return definition;
}

std::string config_text(const NetworkConfig& config) {
  return doc::to_json(to_value(config), 4);
}

Value to_value(const NetworkAttachmentDefinition& definition) {
  Value out = Value::object();
  constexpr const Kind& kind = kind_named("NetworkAttachmentDefinition");
  out.set("apiVersion", kind.api_version());
  out.set("kind", kind.name);
  Value& meta = out.set("metadata", Value::object());
  meta.set("name", *definition.meta.name);
  meta.set("namespace", *definition.meta.ns);
  if (!definition.meta.annotations.empty()) {
    Value& annotations = meta.set("annotations", Value::object());
    for (const auto& [key, value] : definition.meta.annotations) annotations.set(key, *value);
  }
  out.set("spec", Value::object()).set("config", config_text(definition.config));
  return out;
}

}  // namespace railbed::api

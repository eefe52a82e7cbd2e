// SPDX-License-Identifier: Apache-2.0
#include "api/attachment.h"

#include <algorithm>

#include "api/cni_plugin.h"
#include "api/compare.h"
#include "api/metadata.h"
#include "base/well_known.h"
#include "doc/fields.h"
#include "doc/json.h"
#include "doc/members.h"

namespace railbed::api {

using doc::Value;

namespace {

constexpr std::string_view kDefinition = kind_named("NetworkAttachmentDefinition").name;

bool is_network_name(std::string_view text) {
  return !text.empty() && std::isalnum(static_cast<unsigned char>(text[0])) &&
         std::ranges::all_of(text, [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '.' || c == '-'; });
}

class ConfigReader {
 public:
  ConfigReader(std::string_view name, doc::Diagnostics& out) : name_(name), out_(out) {}

  NetworkConfig read(const Value& config) {
    const auto version = doc::text_field(config, "cniVersion");
    read_.cni_version = version.present ? version.value : "0.1.0";
    const auto name = doc::text_field(config, "name");
    read_.name = name.present && !name.value.empty() ? name.value : std::string(name_);
    if (!is_network_name(read_.name))
      error(
          5, name.span,
          fmt::format("config.name: \"{}\" is not a network name: letters, digits, '_', '.' and '-', with a letter or "
                      "digit first",
                      read_.name));
    if (config.find("plugins") != nullptr)
      read_list(config);
    else
      read_single(config);
    return std::move(read_);
  }

 private:
  doc::Diagnostic& error(int number, const doc::Span& span, std::string message) {
    constexpr doc::Family kFamily{"RB-CNI"};
    return out_.error(fmt::format("{}-{:03}", kFamily.name, number), span, std::move(message))
        .of(kFamily.layer)
        .that_says(doc::said_by(kFamily, number));
  }

  void read_list(const Value& config) {
    const Value::Array* plugins = doc::list_in(config, "plugins");
    if (plugins == nullptr) return;
    if (plugins->empty()) error(6, config.span, "config.plugins is empty");
    for (size_t i = 0; i < plugins->size(); ++i) add((*plugins)[i], fmt::format("plugins[{}]", i));
  }

  // For a configuration of one plugin: the list's keys are removed from the plugin's.
  void read_single(Value plugin) {
    std::erase_if(*plugin.as_object(), [](const Value::Member& m) { return m.key == "cniVersion" || m.key == "name"; });
    add(std::move(plugin), "config");
  }

  void add(Value config, const std::string& path) {
    std::string type = doc::text_in(config, "type");
    if (type.empty()) return;
    const Plugin& plugin = read_.plugins.emplace_back(std::move(type), std::move(config));
    check_plugin(plugin, path, out_);
  }

  std::string_view name_;
  doc::Diagnostics& out_;
  NetworkConfig read_;
};

bool is_blank(const Value& text) {
  return text.as_string()->find_first_not_of(" \t\r\n") == std::string::npos;
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

NetworkAttachmentDefinition read_attachment(const Value& object, doc::Diagnostics& out) {
  NetworkAttachmentDefinition definition{.meta = read_metadata(object, out), .resource_name = {}, .config = {}};
  const auto annotation = definition.meta.annotations.find(std::string(kResourceAnnotation));
  if (annotation != definition.meta.annotations.end() && annotation->second->is_string())
    definition.resource_name = {*annotation->second->as_string(), true, annotation->second.span};
  // Without a text the configuration is a file of the node that has the definition's name.
  const Value* text = doc::at(object, "spec.config");
  if (text == nullptr || !text->is_string() || is_blank(*text)) return definition;
  doc::Diagnostics reported;
  const auto config = doc::parse_embedded_json(*text, reported);
  if (config && config->is_object()) definition.config = ConfigReader(*definition.meta.name, out).read(*config);
  return definition;
}

std::optional<NetworkAttachmentDefinition> parse_attachment(const Value& object, doc::Diagnostics& diagnostics) {
  return parsed<read_attachment>(kDefinition, object, StatusPart::kSkipped, diagnostics);
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

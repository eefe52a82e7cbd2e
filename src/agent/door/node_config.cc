// SPDX-License-Identifier: Apache-2.0
#include "agent/door/node_config.h"

#include <algorithm>

#include "doc/json.h"
#include "doc/members.h"

namespace railbed::agent {
namespace {

// The plugins of a configuration; empty for what is none. A runtime takes a list from *.conflist only.
std::vector<doc::Value> plugins_of(const ConfigFile& file) {
  doc::Diagnostics problems;
  const auto value = doc::parse_json(std::make_shared<doc::Source>(file.name, file.text), problems);
  if (!value.has_value()) return {};
  if (!file.name.ends_with(".conflist"))
    return doc::text_in(*value, "type").empty() ? std::vector<doc::Value>() : std::vector{*value};
  const doc::Value::Array* list = doc::list_in(*value, "plugins");
  return list == nullptr ? std::vector<doc::Value>() : *list;
}

bool asks_for_all_networks(const std::vector<doc::Value>& plugins) {
  return std::ranges::any_of(plugins, [](const doc::Value& plugin) {
    const std::string type = doc::text_in(plugin, "type");
    return type == "railbed" || type.starts_with("multus");
  });
}

std::string config_version_of(const ConfigFile& file) {
  doc::Diagnostics problems;
  const auto value = doc::parse_json(std::make_shared<doc::Source>(file.name, file.text), problems);
  const std::string version = value.has_value() ? doc::text_in(*value, "cniVersion") : "";
  return version.empty() ? "0.4.0" : version;
}

}  // namespace

bool is_configuration(std::string_view name) {
  return name.ends_with(".conf") || name.ends_with(".conflist") || name.ends_with(".json");
}

std::optional<ConfigFile> default_network(std::vector<ConfigFile> files) {
  std::ranges::sort(files, {}, &ConfigFile::name);
  for (ConfigFile& file : files) {
    if (!is_configuration(file.name)) continue;
    const std::vector<doc::Value> plugins = plugins_of(file);
    if (!plugins.empty() && !asks_for_all_networks(plugins)) return std::move(file);
  }
  return std::nullopt;
}

std::string node_config(const std::string& folder, const ConfigFile& file) {
  doc::Value config = doc::Value::object();
  config.set("cniVersion", config_version_of(file));
  config.set("name", "railbed");
  config.set("type", "railbed");
  doc::Value capabilities = doc::Value::object();
  for (const doc::Value& plugin : plugins_of(file))
    if (const doc::Value* declared = doc::object_in(plugin, "capabilities"))
      for (const doc::Value::Member& one : *declared->as_object())
        if (doc::flag_in(*declared, one.key)) capabilities.set(one.key, true);
  if (!capabilities.as_object()->empty()) config.set("capabilities", std::move(capabilities));
  config.set("clusterNetwork", folder + "/" + file.name);
  return doc::to_json(config, 2) + "\n";
}

Result<void> NodeConfig::keep() {
  const std::string path = folder_ + "/" + std::string(kNodeConfigName);
  const Result<std::string> now = disk_.read(path);
  if (!now.has_value() && now.error().code != Code::kNotFound) return fail(now.error());
  if (written_ && !now.has_value()) {
    if (backup() == old_backup_) return {};
    const std::lock_guard lock(mutex_);
    renamed_ = fmt::format("Cilium has renamed {}, so no pod gets its networks", path);
    return fail(Error{.code = Code::kConflict,
                      .message = renamed_,
                      .hint = "set cni.exclusive=false in Cilium's Helm values, then restart this agent"});
  }
  std::vector<ConfigFile> files;
  for (std::string& name : TRY(disk_.list(folder_)))
    if (is_configuration(name) && name != kNodeConfigName)
      // A file that has just gone, or that cannot be read, is none for the runtime either.
      if (auto text = disk_.read(folder_ + "/" + name)) files.push_back({std::move(name), std::move(*text)});
  const auto chosen = default_network(std::move(files));
  if (!chosen.has_value())
    return fail(Code::kNotFound, "{} has no configuration of a default network yet; pods wait for it", folder_);
  const std::string wanted = node_config(folder_, *chosen);
  if (!written_) old_backup_ = backup();
  if (!now.has_value() || *now != wanted) TRY(disk_.replace(path, wanted, 0600));
  written_ = true;
  return {};
}

std::optional<os::FileStamp> NodeConfig::backup() const {
  const Result<os::FileStamp> stamp = disk_.stamp(fmt::format("{}/{}{}", folder_, kNodeConfigName, kCiliumBackup));
  return stamp.has_value() ? std::optional(*stamp) : std::nullopt;
}

std::vector<std::string> NodeConfig::not_ready() const {
  const std::lock_guard lock(mutex_);
  return renamed_.empty() ? std::vector<std::string>() : std::vector{renamed_};
}

Result<void> remove_node_config(os::Disk& disk, const std::string& folder) {
  return disk.remove(folder + "/" + std::string(kNodeConfigName));
}

}  // namespace railbed::agent

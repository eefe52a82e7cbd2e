// SPDX-License-Identifier: Apache-2.0
#include "agent/records/exec.h"

#include <algorithm>
#include <optional>

namespace railbed::agent {
namespace {

// The runtime gives up on the whole pod after two to four minutes.
constexpr std::chrono::seconds kPluginTime{90};
constexpr size_t kMostOutputShown = 2000;
// Plugins call iptables, nft, ip.
constexpr std::string_view kProgramPath =
    "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/opt/cni/bin";

std::string shown(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  if (text.size() > kMostOutputShown) text = text.substr(0, kMostOutputShown) + " …";
  return text;
}

struct SearchPath {
  std::vector<std::string> allowed, refused;
};
SearchPath search_path(const RunningPlugins& plugins, const std::vector<std::string>& asked) {
  const std::vector<std::string>& folders = plugins.policy().folders;
  SearchPath path;
  for (const std::string& one : asked) {
    const std::string directory = without_slash(one);
    const bool allowed = std::ranges::find(folders, directory) != folders.end();
    (allowed ? path.allowed : path.refused).push_back(directory);
  }
  return path;
}

// A plugin executes others in turn, from CNI_PATH, too.
std::vector<std::string> environment(const RunningPlugins& plugins, const Execution& execution) {
  std::vector<std::string> all = {
      "CNI_COMMAND=" + std::string(cni::command_name(execution.command)),
      fmt::format("CNI_PATH={}", fmt::join(search_path(plugins, execution.path).allowed, ":")),
      std::string(kProgramPath),
      "CNI_RAILBED_AGENT=" + plugins.kernel().processes().identity(),  // what the plugin asks of us in turn names its
                                                                       // caller; railbed-cni hands on CNI_*
  };
  auto add = [&](const char* key, const std::string& value) {
    if (!value.empty()) all.push_back(std::string(key) + "=" + value);
  };
  add("CNI_CONTAINERID", execution.container_id);
  add("CNI_IFNAME", execution.ifname);
  add("CNI_ARGS", execution.args);
  // For DEL without a namespace the variable exists and is empty, as with the reference library.
  if (!execution.container_id.empty()) all.push_back("CNI_NETNS=" + execution.netns);
  return all;
}

std::string plugin_context(const std::string& type) {
  return fmt::format("plugin {}", type);
}

// The failure of a plugin: JSON on standard output, otherwise text on standard error.
Error error_of_plugin(const std::string& type, const os::RunResult& run) {
  if (auto answer = cni::read_error(run.output)) {
    answer->message = shown(std::move(answer->message));
    answer->hint = shown(std::move(answer->hint));
    answer->context.push_back(plugin_context(type));
    return *std::move(answer);
  }
  std::string how =
      run.signal != 0 ? fmt::format("ended by signal {}", run.signal) : fmt::format("exit status {}", run.exit_status);
  std::string text = shown(run.errors.empty() ? run.output : run.errors);
  Error error = cni::error_with(cni::kInternal, how + (text.empty() ? "" : ": ") + text);
  error.context.push_back(plugin_context(type));
  return error;
}

Result<os::RunResult> run(const RunningPlugins& plugins, const Execution& execution) {
  os::Kernel& kernel = plugins.kernel();
  const bool fenced = !plugins.policy().unfenced.contains(execution.type);
  os::RunRequest request{.program = TRY(find_plugin(plugins, execution.type, execution.path)),
                         .arguments = {},
                         .environment = environment(plugins, execution),
                         .input = execution.config,
                         .deadline = kernel.clock().now() + kPluginTime,
                         .trust = fenced ? os::Trust::kOthers : os::Trust::kOthersUnfenced};
  os::RunResult result = TRY(kernel.processes().run(request).context("plugin {}", execution.type));
  if (result.exit_status != 0 || result.signal != 0) return fail(error_of_plugin(execution.type, result));
  return result;
}

Result<void> leads_to_pod(os::Kernel& kernel, const Execution& execution, const os::Netns* netns,
                          std::string_view when) {
  if (netns == nullptr || TRY(kernel.netns().leads_to(execution.netns, *netns))) return {};
  return cni::fail_with(cni::kInvalidNetns,
                        fmt::format("plugin {}: CNI_NETNS {} was replaced by another network namespace {} the plugin "
                                    "ran; its DEL runs without a namespace",
                                    execution.type, execution.netns, when),
                        "find the program that mounts over that path or removes it while pods start");
}

}  // namespace

Result<std::string> find_plugin(const RunningPlugins& plugins, const std::string& type,
                                const std::vector<std::string>& path) {
  if (type.empty() || type == "." || type == ".." || type.find('/') != std::string::npos)
    return cni::fail_with(cni::kInvalidConfig, fmt::format("\"{}\" is not the name of a program", shown(type)));
  const auto [allowed, refused] = search_path(plugins, path);
  for (const std::string& directory : allowed)
    if (std::string program = directory + "/" + type; plugins.kernel().files().exists(program)) return program;
  if (!refused.empty())
    return cni::fail_with(cni::kInvalidConfig,
                          fmt::format("plugin {} not found in {}; plugins are not executed from {}", type,
                                      fmt::join(path, ":"), fmt::join(refused, ":")),
                          fmt::format("plugins are executed from {}; `railbed agent --plugin-dir DIRECTORY` adds one",
                                      fmt::join(plugins.policy().folders, ":")));
  return cni::fail_with(cni::kInvalidConfig, fmt::format("plugin {} not found in {}", type, fmt::join(path, ":")),
                        "install it, or correct the network's \"type\"");
}

Result<cni::AddResult> execute_add(const RunningPlugins::Slot& slot, const Execution& execution,
                                   const std::string& version) {
  os::Kernel& kernel = slot.kernel();
  // A plugin opens the path itself: it must lead to the pod's namespace before it does, and still when it has done.
  std::unique_ptr<os::Netns> netns;
  if (!execution.netns.empty()) netns = TRY(kernel.netns().open(execution.netns));
  TRY(leads_to_pod(kernel, execution, netns.get(), "before"));
  os::RunResult result = TRY(run(slot.plugins(), execution));
  TRY(leads_to_pod(kernel, execution, netns.get(), "while"));
  return cni::read_result(result.output, version).context("plugin {}: the answer cannot be read", execution.type);
}

Result<void> execute(RunningPlugins& plugins, const Execution& execution) {
  // No pod waits for STATUS and GC, and the server asks each network only once at a time.
  std::optional<RunningPlugins::Slot> slot;
  if (!execution.container_id.empty()) slot.emplace(TRY(plugins.slot(execution.type)));
  TRY(run(plugins, execution));
  return {};
}

}  // namespace railbed::agent

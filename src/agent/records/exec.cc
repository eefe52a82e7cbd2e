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

cni::Failure failure(int code, std::string message, std::string details = {}) {
  return {code, std::move(message), std::move(details)};
}

std::string joined(const std::vector<std::string>& texts, char separator) {
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "" : std::string(1, separator)) + text;
  return all;
}

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
      "CNI_PATH=" + joined(search_path(plugins, execution.path).allowed, ':'), std::string(kProgramPath),
      "CNI_RAILBED_AGENT=" + plugins.kernel().processes().identity(),  // what the plugin asks of us in turn says for
                                                                       // whom; railbed-cni hands on CNI_*
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

// The failure of a plugin: JSON on standard output, otherwise text on standard error.
cni::Failure told(const std::string& type, const os::RunResult& run) {
  if (auto answer = cni::read_failure(run.output))
    return failure(answer->code, fmt::format("plugin {}: {}", type, shown(answer->message)), shown(answer->details));
  std::string how =
      run.signal != 0 ? fmt::format("ended by signal {}", run.signal) : fmt::format("exit status {}", run.exit_status);
  std::string text = shown(run.errors.empty() ? run.output : run.errors);
  return failure(cni::kInternal, fmt::format("plugin {}: {}{}{}", type, how, text.empty() ? "" : ": ", text));
}

cni::Outcome<os::RunResult> run(const RunningPlugins& plugins, const Execution& execution) {
  os::Kernel& kernel = plugins.kernel();
  const bool fenced = !plugins.policy().unfenced.contains(execution.type);
  os::RunRequest request{.program = TRY_CNI(find_plugin(plugins, execution.type, execution.path)),
                         .arguments = {},
                         .environment = environment(plugins, execution),
                         .input = execution.config,
                         .deadline = kernel.clock().now() + kPluginTime,
                         .trust = fenced ? os::Trust::kOthers : os::Trust::kOthersUnfenced};
  Result<os::RunResult> result = kernel.processes().run(request);
  if (!result.has_value()) {
    cni::Failure why = cni::failure_of(result.error());
    why.message = fmt::format("plugin {}: {}", execution.type, why.message);
    return std::unexpected(std::move(why));
  }
  if (result->exit_status != 0 || result->signal != 0) return std::unexpected(told(execution.type, *result));
  return std::move(*result);
}

cni::Outcome<void> leads_to_pod(os::Kernel& kernel, const Execution& execution, const os::Netns* netns,
                                std::string_view when) {
  if (netns == nullptr || TRY_CNI(kernel.netns().leads_to(execution.netns, *netns))) return {};
  return std::unexpected(failure(cni::kInvalidNetns,
                                 fmt::format("plugin {}: CNI_NETNS {} was replaced by another network namespace {} the "
                                             "plugin ran; its DEL runs without a namespace",
                                             execution.type, execution.netns, when),
                                 "find the program that mounts over that path or removes it while pods start"));
}

}  // namespace

cni::Outcome<std::string> find_plugin(const RunningPlugins& plugins, const std::string& type,
                                      const std::vector<std::string>& path) {
  if (type.empty() || type == "." || type == ".." || type.find('/') != std::string::npos)
    return std::unexpected(
        failure(cni::kInvalidConfig, fmt::format("\"{}\" is not the name of a program", shown(type))));
  const auto [allowed, refused] = search_path(plugins, path);
  for (const std::string& directory : allowed)
    if (std::string program = directory + "/" + type; plugins.kernel().files().exists(program)) return program;
  if (!refused.empty())
    return std::unexpected(
        failure(cni::kInvalidConfig,
                fmt::format("plugin {} not found in {}; plugins are not executed from {}", type, joined(path, ':'),
                            joined(refused, ':')),
                fmt::format("plugins are executed from {}; `railbed agent --plugin-dir DIRECTORY` adds one",
                            joined(plugins.policy().folders, ':'))));
  return std::unexpected(failure(cni::kInvalidConfig, fmt::format("plugin {} not found in {}", type, joined(path, ':')),
                                 "install it, or correct the network's \"type\""));
}

cni::Outcome<cni::AddResult> execute_add(const RunningPlugins::Slot& slot, const Execution& execution,
                                         const std::string& version) {
  os::Kernel& kernel = slot.kernel();
  // A plugin opens the path itself: it must lead to the pod's namespace before it does, and still when it has done.
  std::unique_ptr<os::Netns> netns;
  if (!execution.netns.empty()) netns = TRY_CNI(kernel.netns().open(execution.netns));
  TRY_CNI(leads_to_pod(kernel, execution, netns.get(), "before"));
  os::RunResult result = TRY_CNI(run(slot.plugins(), execution));
  TRY_CNI(leads_to_pod(kernel, execution, netns.get(), "while"));
  cni::Outcome<cni::AddResult> read = cni::read_result(result.output, version);
  if (!read.has_value())
    read.error().message =
        fmt::format("plugin {}: the answer cannot be read: {}", execution.type, read.error().message);
  return read;
}

cni::Outcome<void> execute(RunningPlugins& plugins, const Execution& execution) {
  // No pod waits for STATUS and GC, and the server asks each network only once at a time.
  std::optional<RunningPlugins::Slot> slot;
  if (!execution.container_id.empty()) slot.emplace(TRY_CNI(plugins.slot(execution.type)));
  TRY_CNI(run(plugins, execution));
  return {};
}

}  // namespace railbed::agent

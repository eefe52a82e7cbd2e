// SPDX-License-Identifier: Apache-2.0
// railbed exec: a command inside a pod's network namespace.
#include <cerrno>

#include <fmt/core.h>

#include "command/output.h"
#include "command/state_options.h"
#include "state/sandbox.h"
#include "verb.h"

namespace railbed {

namespace {

constexpr const char* kUsage =
    "usage: railbed exec [--state-dir DIR] POD -- CMD...\n"
    "Runs CMD in the pod's network namespace, with that namespace's /sys. POD is a name, namespace/name, or\n"
    "namespace/name@container.\n";

struct Request {
  StateOptions state;
  std::string pod;
  std::vector<std::string> command;
};

// Parsed by hand, because everything after POD belongs to the command, including its options.
Result<Request> parse(std::span<char* const> arguments) {
  Request request;
  size_t at = 1;
  if (at + 1 < arguments.size() && std::string_view(arguments[at]) == "--state-dir") {
    request.state.directory = arguments[at + 1];
    at += 2;
  }
  if (at < arguments.size()) request.pod = arguments[at++];
  if (at < arguments.size() && std::string_view(arguments[at]) == "--") ++at;
  for (; at < arguments.size(); ++at) request.command.emplace_back(arguments[at]);
  if (request.pod.empty() || request.command.empty() || request.pod.starts_with("-"))
    return fail(Error{.code = Code::kInvalid, .message = "exec needs a pod and a command", .hint = kUsage});
  return request;
}

Result<state::PodRecord> find_pod(const std::vector<state::PodRecord>& pods, const std::string& name) {
  std::vector<state::PodRecord> found;
  std::string known;
  for (const state::PodRecord& pod : pods) {
    known += (known.empty() ? "" : ", ") + pod.pod;
    if (pod.pod == name) return pod;
    // Pods of a container runtime are recorded as "namespace/name@container".
    std::string pod_name = state::Sandbox::of_key(pod.pod).pod;
    if (pod_name == name || (name.find('/') == std::string::npos && pod_name.ends_with("/" + name)))
      found.push_back(pod);
  }
  if (found.size() == 1) return found.front();
  if (found.empty())
    return fail(Code::kNotFound, "pod {} not found on this node (found: {})", name, known.empty() ? "none" : known);
  return fail(Code::kConflict, "{} pods are named {}; use {} or {}", found.size(), name, found[0].pod, found[1].pod);
}

// Returns only when the command could not be started, with a status as shells have it.
Result<int> run_in_pod(const Request& request) {
  std::unique_ptr<os::Kernel> kernel = os::real_kernel();
  std::unique_ptr<state::Store> store = TRY(request.state.look(*kernel));
  std::vector<state::PodRecord> pods;
  if (store) pods = TRY(store->pods());
  state::PodRecord pod = TRY(find_pod(pods, request.pod));
  store.reset();
  const auto started =
      kernel->processes()
          .exec_in({.command = request.command, .environment = {"RAILBED_POD=" + pod.pod}, .netns_path = pod.netns})
          .context("pod {}", pod.pod);
  give_up(started.error());
  if (started.error().code == Code::kNotFound) return kExitNoCommand;
  return started.error().sys_errno == EACCES ? kExitNotExecutable : kExitError;
}

}  // namespace

int exec_verb(CommandLine& line) {
  Request declared;
  line.about("Runs CMD in the pod's network namespace, with that namespace's /sys.");
  line.option("--state-dir", &declared.state.directory, "state directory").show_default().directory();
  line.option("POD", &declared.pod, "a name, namespace/name, or namespace/name@container").required();
  line.option("CMD", &declared.command, "after --: the command with its arguments").required().file();
  line.exit_status(kExitNotExecutable, "CMD cannot be executed; otherwise CMD's own status");
  line.exit_status(kExitNoCommand, "CMD not found");
  if (line.described_only()) return kExitOk;
  const std::span<char* const> arguments = line.arguments();
  if (arguments.size() > 1 && (std::string_view(arguments[1]) == "--help" || std::string_view(arguments[1]) == "-h")) {
    print("{}", kUsage);
    return kExitOk;
  }
  auto request = parse(arguments);
  return status_of(request ? run_in_pod(*request) : Result<int>(fail(request.error())));
}

}  // namespace railbed

// SPDX-License-Identifier: Apache-2.0
// railbed: one program with one file per verb. This file only selects the verb.
//
//   railbed VERB …        the verb
//   railbed help [VERB]   as --help, as VERB --help
//   railbed version       as -V, --version
#include <array>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>

#include "command/addresses_options.h"
#include "command/agent_options.h"
#include "command/operator_options.h"
#include "command/output.h"
#include "command/preflight_options.h"
#include "doc/diagnostic.h"
#include "doc/text.h"
#include "os/real/service_manager.h"
#include "serving_program.h"
#include "verb.h"

namespace railbed {
namespace {

constexpr Verb kVerbs[] = {
    {"discover", "show this node's NICs, VFs, RDMA devices, GPUs and fabrics", discover_verb},
    {"check", "find errors in manifests, across objects and against node facts, with fixes", check_verb},
    {"explain", "explain a finding of check, discover, preflight or perf report", explain_verb},
    {"generate", "write manifests for nodes: a network per rail, a test pod per node", generate_verb},
    {"size", "show how many VFs and addresses the rails of nodes have and need", size_verb},
    {"plan", "show the steps that would apply the manifests, with reasons and disrupted pods", plan_verb},
    {"up", "apply the manifests to this machine and attach its pods", up_verb},
    {"down", "detach all pods and restore this machine to its state before up", down_verb},
    {"status", "show policies, VFs by owner, pods with their interfaces, and failures", status_verb},
    {"attachments", "list pods with their sandboxes, interfaces, devices and addresses", attachments_verb},
    {"gc", "list orphaned resources of pods; --yes releases them", gc_verb},
    {"exec", "run a command inside a pod's network namespace", exec_verb},
    {"agent", "run the node agent that serves CNI requests", serving_verb<AgentOptions>},
    {"operator", "run the operator: node states from policies, network definitions from networks",
     serving_verb<OperatorOptions>},
    {"preflight", "check whether a cluster is ready for railbed", serving_verb<PreflightOptions>},
    {"addresses", "list the addresses that nodes have leased; release those of a machine that is off",
     serving_verb<AddressesOptions>},
    {"cni", "replace CNI plugins with railbed-cni, or restore the originals", cni_verb},
    {"perf", "measure bandwidth, latency and jitter over RDMA and TCP; write the HTML report", perf_verb},
    {"completion", "print the completion script for bash, zsh or fish", completion_verb},
    {"man", "print the manual page of a verb", man_verb},
};

void print_usage(FILE* out) {
  print_text(out, fmt::format("railbed {} gives LLM training and inference pods SR-IOV + RDMA networks.\n"
                              "\n"
                              "usage: railbed VERB [options]     (run `railbed VERB --help` for details)\n"
                              "\n",
                              RAILBED_VERSION));
  for (const Verb& verb : kVerbs) print_text(out, fmt::format("  {:<12}{}\n", verb.name, verb.summary));
}

int print_version() {
  print("railbed {}\n", RAILBED_VERSION);
  return kExitOk;
}

int run_verb(std::string_view name, std::span<char* const> arguments) {
  for (const Verb& verb : kVerbs)
    if (verb.name == name) {
      CommandLine line(verb.name, arguments);
      return verb.run(line);
    }
  return give_up(no_verb(name));
}

// `railbed help`, `railbed help VERB`.
int help(std::span<char* const> arguments) {
  if (arguments.size() < 2) {
    print_usage(stdout);
    return kExitOk;
  }
  std::string name = arguments[1];
  std::string option = "--help";
  std::array<char*, 2> asked = {name.data(), option.data()};
  return run_verb(name, asked);
}

int run(std::span<char* const> arguments) {
  if (arguments.size() < 2) {
    print_usage(stderr);
    return kExitError;
  }
  std::string_view name = arguments[1];
  if (name == "--help" || name == "-h" || name == "help") return help(arguments.subspan(1));
  if (name == "--version" || name == "-V" || name == "version") return print_version();
  return run_verb(name, arguments.subspan(1));
}

}  // namespace

std::span<const Verb> all_verbs() {
  return kVerbs;
}

Error no_verb(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Verb& verb : kVerbs) names.push_back(verb.name);
  names.emplace_back("help");
  names.emplace_back("version");
  const std::string near = doc::nearest(name, names);
  return {.code = Code::kNotFound,
          .message = fmt::format("unknown verb \"{}\"{}", doc::printable(name),
                                 near.empty() ? "" : fmt::format(" (did you mean {}?)", near)),
          .hint = "railbed --help lists them"};
}

}  // namespace railbed

int main(int argc, char** argv) {
  // A file that is opened as 0 to 2 would get what is printed, and be lost to programs that are started.
  railbed::os::open_standard_descriptors();
  return railbed::end_of_output(railbed::run(std::span(argv, static_cast<size_t>(argc))));
}

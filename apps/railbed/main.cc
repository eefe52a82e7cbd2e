// SPDX-License-Identifier: Apache-2.0
// railbed: one program, one verb per file. This file only finds the verb.
#include <cstdio>
#include <span>
#include <string_view>

#include <fmt/core.h>

#include "verb.h"

namespace railbed {
namespace {

constexpr Verb kVerbs[] = {
    {"discover", "what this node has: NICs, VFs, RDMA devices, GPUs, fabrics", discover_verb},
    {"check", "what is wrong in manifests, across objects and with the nodes' facts, and the fix",
     check_verb},
    {"explain", "the longer story of a finding of check", explain_verb},
    {"generate", "manifests that fit nodes: a network per rail, a test pod per node", generate_verb},
    {"size", "how many VFs and addresses the rails of nodes have and need, as a table", size_verb},
    {"plan", "what would be done to make manifests true: steps, reasons, whom they disturb", plan_verb},
    {"up", "make this machine what the manifests say and attach its pods", up_verb},
    {"down", "give this machine back as it was before up", down_verb},
    {"status", "policies, VFs by owner, pods with their interfaces, what failed", status_verb},
    {"attachments", "pods with their sandboxes, interfaces, devices, addresses", attachments_verb},
    {"gc", "what no namespace owns any more; --yes removes it", gc_verb},
    {"exec", "run a command inside a pod's network namespace", exec_verb},
    {"agent", "serve CNI requests of railbed-cni until told to stop", agent_verb},
    {"cni", "put railbed-cni in the place of CNI plugins, keeping the originals, and back", cni_verb},
    {"perf", "measure bandwidth, latency and jitter of a path over RDMA and TCP; the HTML report", perf_verb},
};

void print_usage(FILE* out) {
  fmt::print(out,
             "railbed {} gives LLM training and inference pods SR-IOV + RDMA networks.\n\n"
             "usage: railbed VERB [options]     (railbed VERB --help tells more)\n\n",
             RAILBED_VERSION);
  for (const Verb& verb : kVerbs) fmt::print(out, "  {:<12}{}\n", verb.name, verb.summary);
}

int run(std::span<char* const> arguments) {
  if (arguments.size() < 2) {
    print_usage(stderr);
    return kExitError;
  }
  std::string_view name = arguments[1];
  if (name == "--help" || name == "-h" || name == "help") {
    print_usage(stdout);
    return kExitOk;
  }
  if (name == "--version") {
    fmt::print("railbed {}\n", RAILBED_VERSION);
    return kExitOk;
  }
  for (const Verb& verb : kVerbs)
    if (verb.name == name) {
      CommandLine line(verb.name, arguments.subspan(1));
      return verb.run(line);
    }
  fmt::print(stderr, "railbed: there is no verb \"{}\"; railbed --help lists them\n", name);
  return kExitError;
}

}  // namespace
}  // namespace railbed

int main(int argc, char** argv) {
  return railbed::run(std::span(argv, static_cast<size_t>(argc)));
}

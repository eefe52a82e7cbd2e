// SPDX-License-Identifier: Apache-2.0
// railbed-cluster: the verbs that serve in a cluster (served_verbs.h), and those that ask its API server, with the HTTP
// and gRPC libraries that they need.
//
// Why beside railbedd: an agent on a machine of its own would have twice its memory with them. People type
// `railbed agent` and `railbed operator` anyway; the options say which program it is (command/programs.h).
#include "addresses.h"
#include "agent.h"
#include "command/programs.h"
#include "node_in_cluster.h"
#include "operator.h"
#include "os/real/service_manager.h"
#include "perf_report.h"
#include "preflight.h"
#include "served_verbs.h"

namespace railbed {
namespace {

constexpr ServedVerb kVerbs[] = {
    {"agent", [](CommandLine& line) { return serve_agent(line, join_cluster); }},
    {"operator", operator_verb},
    {"preflight", preflight_verb},
    {"addresses", addresses_verb},
    {"perf", perf_report_verb},
};

}  // namespace
}  // namespace railbed

int main(int argc, char** argv) {
  railbed::os::open_standard_descriptors();
  return railbed::serve(railbed::kClusterProgram, railbed::kVerbs, std::span(argv, static_cast<size_t>(argc)));
}

// SPDX-License-Identifier: Apache-2.0
// railbedd: `railbed agent` on a machine of its own (served_verbs.h).
//
// Why a program of its own: it is linked with what only servers need, which each `railbed status` would have to load,
// too, and without what only a cluster needs (railbed-cluster). People type `railbed agent` anyway.
#include "agent.h"
#include "command/programs.h"
#include "os/real/service_manager.h"
#include "served_verbs.h"

namespace railbed {
namespace {

constexpr ServedVerb kVerbs[] = {
    {"agent", [](CommandLine& line) { return serve_agent(line, nullptr); }},
};

}  // namespace
}  // namespace railbed

int main(int argc, char** argv) {
  railbed::os::open_standard_descriptors();
  return railbed::serve(railbed::kAloneProgram, railbed::kVerbs, std::span(argv, static_cast<size_t>(argc)));
}

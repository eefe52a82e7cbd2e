// SPDX-License-Identifier: Apache-2.0
// railbedd: the verbs of railbed that serve until they are told to stop.
//
//   railbedd --for VERSION VERB …   as railbed of that version starts it, which has read the options before
//   railbedd --version
//
// Why a program of its own: it is linked with what only servers need (metrics, and the cluster's protocols), which each
// `railbed status` would have to load, too. People type `railbed VERB` all the same.
#include <cstdio>
#include <span>
#include <string_view>

#include "command/output.h"
#include "os/real/service_manager.h"
#include "verbs.h"

namespace railbed {
namespace {

struct Verb {
  std::string_view name;
  int (*run)(CommandLine& line);
};

constexpr Verb kVerbs[] = {
    {"agent", agent_verb},
    {"operator", operator_verb},
};

Error called_by_hand() {
  return {.code = Code::kInvalid,
          .message = "railbedd is started by railbed",
          .hint = "use `railbed agent`; `railbed agent --help` tells its options"};
}

Error other_version(std::string_view caller) {
  return {.code = Code::kConflict,
          .message = fmt::format("railbed {} started railbedd {}: one of the two is left from another version", caller,
                                 RAILBED_VERSION),
          .hint = "install railbed again, which puts both in place"};
}

int run(std::span<char* const> arguments) {
  if (arguments.size() == 2 && std::string_view(arguments[1]) == "--version") {
    print("railbedd {}\n", RAILBED_VERSION);
    return kExitOk;
  }
  if (arguments.size() < 4 || std::string_view(arguments[1]) != "--for") return give_up(called_by_hand());
  if (arguments[2] != std::string_view(RAILBED_VERSION)) return give_up(other_version(arguments[2]));
  for (const Verb& verb : kVerbs)
    if (verb.name == arguments[3]) {
      CommandLine line(verb.name, arguments.subspan(3));
      return verb.run(line);
    }
  return give_up(called_by_hand());
}

}  // namespace
}  // namespace railbed

int main(int argc, char** argv) {
  railbed::os::open_standard_descriptors();
  return railbed::end_of_output(railbed::run(std::span(argv, static_cast<size_t>(argc))));
}

// SPDX-License-Identifier: Apache-2.0
#include "served_verbs.h"

#include "command/output.h"

namespace railbed {
namespace {

Error called_by_hand(std::string_view program, const ServedVerb& verb) {
  return {.code = Code::kInvalid,
          .message = fmt::format("{} is started by railbed", program),
          .hint = fmt::format("use `railbed {0}`; `railbed {0} --help` shows its options", verb.name)};
}

Error other_version(std::string_view program, std::string_view caller) {
  return {.code = Code::kConflict,
          .message = fmt::format("railbed {} started {} {}: the two are of different versions", caller, program,
                                 RAILBED_VERSION),
          .hint = "reinstall railbed to get matching programs"};
}

}  // namespace

int serve(std::string_view program, std::span<const ServedVerb> verbs, std::span<char* const> arguments) {
  if (arguments.size() == 2 && std::string_view(arguments[1]) == "--version") {
    print("{} {}\n", program, RAILBED_VERSION);
    return end_of_output(kExitOk);
  }
  if (arguments.size() < 4 || std::string_view(arguments[1]) != "--for")
    return give_up(called_by_hand(program, verbs.front()));
  if (arguments[2] != std::string_view(RAILBED_VERSION)) return give_up(other_version(program, arguments[2]));
  for (const ServedVerb& verb : verbs)
    if (verb.name == arguments[3]) {
      CommandLine line(verb.name, arguments.subspan(3));
      return verb.run(line);
    }
  return give_up(called_by_hand(program, verbs.front()));
}

}  // namespace railbed

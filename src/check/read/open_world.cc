// SPDX-License-Identifier: Apache-2.0
#include "check/read/open_world.h"

#include <algorithm>

#include <fmt/core.h>

namespace railbed::check {

bool could_be_made_elsewhere(const Bundle& bundle, const Document& user, std::string_view kind, std::string* why) {
  const auto say = [&](std::string text) {
    if (why != nullptr) *why = std::move(text);
    return true;
  };
  if (!bundle.unknown_kinds.empty())
    return say(fmt::format("objects of {} are not looked at", bundle.unknown_kinds.begin()->first));
  // A file that has others of the kind beside the user says what there is.
  const bool together = std::ranges::any_of(bundle.documents, [&](const Document& document) {
    return document.kind == kind && document.value.span.source == user.value.span.source;
  });
  return together ? false : say(fmt::format("no {} is in the same file", kind));
}

}  // namespace railbed::check

// SPDX-License-Identifier: Apache-2.0
#include "node/resource_prefix.h"

#include "api/wanted.h"

namespace railbed::node {

namespace {

constexpr const char* kOrderedNote = "resource-prefix/ordered";
constexpr const char* kGivenNote = "resource-prefix/given";

Result<void> keep_prefix(state::Store& store, const char* note, const std::string& prefix) {
  if (TRY(store.note(note)).value_or("") == prefix) return {};
  return prefix.empty() ? store.forget_note(note) : store.put_note(note, prefix);
}

}  // namespace

std::string KnownPrefixes::chosen(std::string_view own) const {
  if (!ordered.empty()) return ordered;
  return given.empty() ? std::string(own) : given;
}

std::string KnownPrefixes::conflict() const {
  if (ordered.empty() || given.empty() || ordered == given) return "";
  return fmt::format(
      "the operator says --resource-prefix {}, `up` was given {}: resources are named {}/…; repeat `up` without the option",
      ordered, given, ordered);
}

Result<KnownPrefixes> known_prefixes(state::Store* store) {
  KnownPrefixes out;
  if (store == nullptr) return out;
  out.ordered = TRY(store->note(kOrderedNote)).value_or("");
  out.given = TRY(store->note(kGivenNote)).value_or("");
  return out;
}

Result<void> keep_ordered_prefix(state::Store& store, const std::string& prefix) {
  return keep_prefix(store, kOrderedNote, prefix);
}

Result<void> keep_given_prefix(state::Store& store, const std::string& prefix) {
  return keep_prefix(store, kGivenNote, prefix);
}

Result<void> check_prefix(const std::string& prefix) {
  if (prefix.empty()) return {};
  if (std::string why = api::why_no_prefix(prefix); !why.empty())
    return fail(Code::kInvalid, "--resource-prefix: {}", why);
  return {};
}

}  // namespace railbed::node

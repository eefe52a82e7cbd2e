// SPDX-License-Identifier: Apache-2.0
#include "check/findings/object_states.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include <fmt/core.h>

#include "base/fnv1a.h"
#include "check/findings/baseline.h"
#include "doc/json.h"

namespace railbed::check {
namespace {

// The group of "sriovnetwork.openshift.io/v1": versions of one kind are the same object.
std::string dotted_group(std::string_view api_version) {
  const size_t slash = api_version.find('/');
  return slash == std::string_view::npos ? "" : fmt::format(".{}", api_version.substr(0, slash));
}

// More than these are no names that another object could mean.
constexpr size_t kMostTexts = 1000;

void add_texts(const doc::Value& value, std::vector<uint64_t>& texts) {
  if (texts.size() >= kMostTexts) return;
  if (const std::string* text = value.as_string()) texts.push_back(fnv1a(*text));
  if (const doc::Value::Array* items = value.as_array())
    for (const doc::Value& item : *items) add_texts(item, texts);
  if (const doc::Value::Object* members = value.as_object())
    for (const doc::Value::Member& member : *members) add_texts(member.value, texts);
}

bool has_text(const ObjectState& state, std::string_view text) {
  return std::ranges::binary_search(state.texts, fnv1a(text));
}

enum class Change : uint8_t { kAdded, kChanged, kRemoved };

std::string_view change_words(Change change) {
  static constexpr std::string_view kWords[] = {"was added", "changed", "was removed"};
  return kWords[static_cast<size_t>(change)];
}

// One object in all its places: an object may be given several times.
using Contents = std::map<std::string_view, std::multiset<uint64_t>>;

Contents contents_of(const Report& report) {
  Contents all;
  for (const ObjectState& state : report.object_states) all[state.identity].insert(state.content);
  return all;
}

class Changes {
 public:
  Changes(const Report& before, const Report& now) : before_(before), now_(now) {
    const Contents old_ones = contents_of(before);
    const Contents new_ones = contents_of(now);
    for (const auto& [identity, contents] : new_ones) {
      const auto old = old_ones.find(identity);
      if (old == old_ones.end())
        changed_.emplace(identity, Change::kAdded);
      else if (old->second != contents)
        changed_.emplace(identity, Change::kChanged);
    }
    for (const auto& [identity, contents] : old_ones)
      if (!new_ones.contains(identity)) changed_.emplace(identity, Change::kRemoved);
    for (const ObjectState& state : now.object_states)
      if (state.begin.known()) by_place_[{state.begin.source->name, state.begin.offset}] = &state;
  }

  // The note about the changed object behind a finding; nullopt where it is the finding's own, or none is known.
  std::optional<doc::Diagnostic::Note> cause(const doc::Diagnostic& finding, std::string_view ref) const {
    const ObjectState* own = object_at(finding.span);
    if (own != nullptr && change_of(*own)) return std::nullopt;
    for (const doc::Diagnostic::Note& note : finding.notes) {
      const ObjectState* other = object_at(note.span);
      if (other == nullptr || other == own) continue;
      if (const auto change = change_of(*other)) return said(*other, *change, other->begin, ref);
    }
    if (!finding.missing.empty())
      if (auto note = who_had(finding.missing, ref)) return note;
    return the_only_one(ref);
  }

 private:
  static doc::Diagnostic::Note said(const ObjectState& state, Change change, const doc::Span& place,
                                    std::string_view ref) {
    return {place, fmt::format("caused by {}, which {} since {}", state.label, change_words(change), ref)};
  }

  const ObjectState* object_at(const doc::Span& span) const {
    if (!span.known()) return nullptr;
    auto next = by_place_.upper_bound({span.source->name, span.offset});
    if (next == by_place_.begin() || (--next)->first.first != span.source->name) return nullptr;
    return next->second;
  }

  std::optional<Change> change_of(const ObjectState& state) const {
    const auto found = changed_.find(state.identity);
    return found == changed_.end() ? std::nullopt : std::optional(found->second);
  }

  // The object that had the missing name and has it no more.
  std::optional<doc::Diagnostic::Note> who_had(std::string_view missing, std::string_view ref) const {
    const std::string_view name = missing.substr(missing.rfind('/') + 1);  // npos + 1 is 0
    for (const ObjectState& state : before_.object_states) {
      const auto change = change_of(state);
      if (!change || (!has_text(state, name) && !has_text(state, missing))) continue;
      const ObjectState* later = later_of(state);
      if (later != nullptr && (has_text(*later, name) || has_text(*later, missing))) continue;
      return said(state, *change, later == nullptr ? doc::Span() : later->begin, ref);
    }
    return std::nullopt;
  }

  const ObjectState* later_of(const ObjectState& state) const {
    const auto found = std::ranges::find(now_.object_states, state.identity, &ObjectState::identity);
    return found == now_.object_states.end() ? nullptr : &*found;
  }

  std::optional<doc::Diagnostic::Note> the_only_one(std::string_view ref) const {
    if (changed_.size() != 1) return std::nullopt;
    const auto& [identity, change] = *changed_.begin();
    const Report& report = change == Change::kRemoved ? before_ : now_;
    const auto state = std::ranges::find(report.object_states, identity, &ObjectState::identity);
    return said(*state, change, change == Change::kRemoved ? doc::Span() : state->begin, ref);
  }

  const Report& before_;
  const Report& now_;
  std::map<std::string, Change, std::less<>> changed_;
  std::map<std::pair<std::string, uint32_t>, const ObjectState*> by_place_;
};

}  // namespace

std::vector<ObjectState> object_states_of(const Bundle& bundle,
                                          const std::function<doc::Span(const doc::Span&)>& to_given) {
  std::vector<ObjectState> states;
  for (const Document& document : bundle.documents) {
    if (document.name.empty()) continue;
    ObjectState& state = states.emplace_back();
    state.identity =
        fmt::format("{}{} {}/{}", document.kind, dotted_group(document.api_version), document.ns, document.name);
    state.label = document.label();
    state.begin = to_given(document.value.span);
    state.content = fnv1a(doc::to_json(document.value));
    add_texts(document.value, state.texts);
    std::ranges::sort(state.texts);
  }
  return states;
}

size_t keep_what_is_new(const Report& before, std::string_view ref, Report& now) {
  const size_t removed = Baseline::of(before).remove_known(now, fmt::format("was there at {}", ref));
  const Changes changes(before, now);
  for (doc::Diagnostic& finding : now.findings.mutable_all())
    if (auto note = changes.cause(finding, ref)) finding.notes.push_back(std::move(*note));
  return removed;
}

}  // namespace railbed::check

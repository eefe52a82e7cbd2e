// SPDX-License-Identifier: Apache-2.0
// References by name from one object to another (data/references.yaml).
#include <algorithm>
#include <set>

#include "check/data_files.h"
#include "check/read/open_world.h"
#include "check/rules/env_settings.h"
#include "check/rules/families.h"
#include "check/rules/lookups.h"

namespace railbed::check {
namespace {

using doc::Value;

const Value& references_data() {
  static const Value kData = data_document("references.yaml");
  return kData;
}

// The texts at a path in which "[]" stands for every item of a list.
void add_words_at(const Value& value, std::string_view path, std::vector<Word>& out) {
  const size_t list = path.find("[]");
  if (list == std::string_view::npos) {
    const Value* found = at(value, path);
    if (found != nullptr && found->as_string() != nullptr) out.push_back({*found->as_string(), found->span});
    return;
  }
  const Value* items = at(value, path.substr(0, list));
  if (items == nullptr || !items->is_array()) return;
  std::string_view rest = path.substr(list + 2);
  if (rest.starts_with('.')) rest.remove_prefix(1);
  for (const Value& item : *items->as_array()) add_words_at(item, rest, out);
}

// One name in one object, and which kinds it may be of.
struct Reference {
  Word name;
  const Document* user = nullptr;
  std::vector<std::string> kinds;
  const Value* row = nullptr;
  const Value* kind_field = nullptr;  // what says which of the kinds; null: nothing does
};

bool is_target(const Document& document, const std::vector<std::string>& kinds, const Value& row) {
  if (std::ranges::find(kinds, document.kind) == kinds.end()) return false;
  const std::string_view group = text_at(row, "group");
  return group.empty() || document.api_version.starts_with(group);
}

std::vector<std::string> kinds_of(const Value& row) {
  std::vector<std::string> kinds;
  for (Word& word : texts_at(row, "to")) kinds.push_back(std::move(word.text));
  return kinds;
}

void add_from_networks(const Input& in, const Value& row, std::vector<Reference>& out) {
  for (const NetworkView& network : in.views.networks) {
    if (text_at(network.ipam, "type") != text_at(row, "ipam")) continue;
    const Value* name = network.ipam.find(text_at(row, "field"));
    if (name == nullptr || name->as_string() == nullptr) continue;
    Reference reference{.user = network.document, .kinds = kinds_of(row), .row = &row};
    if (const Value* by = row.find("by")) {
      const std::string_view field = text_at(*by, "field");
      reference.kind_field = network.ipam.find(field);
      const Value* kind = at(*by, "values")->find(lower(text_at(network.ipam, field)));
      if (kind == nullptr) kind = by->find("default");
      reference.kinds = {*kind->as_string()};
    }
    for (std::string& part : comma_parts(*name->as_string())) {
      reference.name = {std::move(part), name->span};
      out.push_back(reference);
    }
  }
}

std::vector<Reference> references(const Input& in) {
  constexpr std::string_view kOfPod = "spec.";
  std::vector<Reference> all;
  for (const Value& row : *references_data().find("references")->as_array()) {
    if (row.find("ipam") != nullptr) {
      add_from_networks(in, row, all);
      continue;
    }
    const std::string_view path = text_at(row, "field");
    const auto add = [&](const Value& value, std::string_view where, const Document& user) {
      std::vector<Word> words;
      add_words_at(value, where, words);
      for (Word& word : words)
        all.push_back({.name = std::move(word), .user = &user, .kinds = kinds_of(row), .row = &row});
    };
    for (const Word& from : texts_at(row, "from")) {
      if (from.text == "*")
        for (const PodTemplate& pod : in.pods) add(*pod.spec, path.substr(kOfPod.size()), *pod.document);
      for (const Document& document : in.bundle.documents)
        if (document.kind == from.text) add(document.value, path, document);
    }
  }
  return all;
}

// Classes that a driver's chart brings, and names that something fills in.
bool is_reported_elsewhere(const Word& name) {
  return name.text.empty() || name.text.find_first_of("<{$") != std::string::npos;
}

// Whether a file that is judged apart has the object.
bool is_elsewhere(const Settings& settings, const Reference& reference) {
  return settings.world != nullptr && std::ranges::any_of(reference.kinds, [&](const std::string& kind) {
           return settings.world->objects.contains(fmt::format("{}/{}", kind, reference.name.text));
         });
}

// Names that may be made by what was not read: said once of a kind, where there are many.
struct OpenNames {
  std::vector<const Reference*> references;
  std::string why;
  std::string fix;
};
using OpenByKind = std::map<std::pair<std::string, std::string>, OpenNames>;  // by the kind and why

void missing_object(const Input& in, const Reference& reference, OpenByKind& left_open, Findings& out) {
  std::vector<std::string_view> names;
  const Document* of_other_kind = nullptr;
  for (const Document& document : in.bundle.documents) {
    if (is_target(document, reference.kinds, *reference.row)) {
      if (document.name == reference.name.text) return;
      names.push_back(document.name);
    } else if (document.name == reference.name.text && is_target(document, kinds_of(*reference.row), *reference.row)) {
      of_other_kind = &document;
    }
  }
  const std::string_view what = text_at(*reference.row, "what");
  if (of_other_kind != nullptr) {
    out.warning(reference.name.span, fmt::format("{} {} is a {}, and {} looks for a {}", what, reference.name.text,
                                                 of_other_kind->kind, reference.user->label(), reference.kinds.front()))
        .note(name_span(*of_other_kind), "this one")
        .with_fix(fmt::format("\"{}\": \"{}\"", text_at(*reference.row, "by.field"), lower(of_other_kind->kind)));
    return;
  }
  if (names.empty() || is_elsewhere(in.settings, reference)) return;  // or all of the kind are elsewhere
  const std::string near = doc::nearest(reference.name.text, names);
  if (near.empty() && text_at(*reference.row, "only") == "near") return;
  std::vector<const Document*> others;
  for (const Document& document : in.bundle.documents)
    if (is_target(document, reference.kinds, *reference.row)) others.push_back(&document);
  const Absence absence =
      in.settings.world == nullptr ? Absence() : absence_of(*in.settings.world, *reference.user, others, !near.empty());
  const bool open = !absence.why.empty();
  if (open && near.empty()) {
    OpenNames& same = left_open[{reference.kinds.front(), absence.why}];
    same.references.push_back(&reference);
    same.why = absence.why;
    same.fix = fmt::format("one of {}, or add the {}", fmt::join(names, ", "), reference.kinds.front());
    return;
  }
  const std::string text = fmt::format("{} {} of {} does not exist here: {}", what, reference.name.text,
                                       reference.user->label(), "what needs it waits forever");
  auto& reported = open ? out.warning(reference.name.span, text) : out.error(reference.name.span, text);
  reported.looks_for(reference.name.text);
  if (near.empty())
    reported.with_fix(fmt::format("one of {}, or add the {}", fmt::join(names, ", "), reference.kinds.front()));
  else
    reported.with_fix("did you mean " + near + "?");
}

void note_open_names(const OpenNames& open, Findings& out) {
  constexpr size_t kMostApart = 3;  // notes with the same reason
  const bool folded = open.references.size() > kMostApart;
  for (const Reference* one : open.references) {
    std::string text = fmt::format("{} {} of {} does not exist here: {}", text_at(*one->row, "what"), one->name.text,
                                   one->user->label(), open.why);
    if (folded) text += fmt::format("; so are {} more places", open.references.size() - 1);
    out.note(one->name.span, std::move(text)).looks_for(one->name.text).with_fix(open.fix);
    if (folded) return;
  }
}

void missing_objects(const Input& in, Findings& out) {
  std::set<std::pair<const doc::Source*, uint32_t>> reported;
  OpenByKind left_open;
  const std::vector<Reference> all = references(in);
  for (const Reference& reference : all) {
    const doc::Span& span = reference.name.span;
    if (is_reported_elsewhere(reference.name)) continue;
    if (reference.user->patch || !reported.insert({span.source.get(), span.offset}).second) continue;
    missing_object(in, reference, left_open, out);
  }
  for (const auto& [kind, open] : left_open) note_open_names(open, out);
}

constexpr Rule kReferenceRules[] = {
    {"RB-REF-001", "a name of an object that is not there", Needs::kNothing, missing_objects},
};

}  // namespace

std::span<const Rule> reference_rules() {
  return kReferenceRules;
}

}  // namespace railbed::check

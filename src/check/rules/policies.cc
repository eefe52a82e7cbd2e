// SPDX-License-Identifier: Apache-2.0
// What policies say about PFs, from their text alone. With facts of nodes the graph reports it exactly.
#include <algorithm>
#include <map>
#include <set>

#include "api/policy.h"
#include "check/rules/families.h"
#include "check/rules/lookups.h"
#include "graph/vf_range.h"

namespace railbed::check {
namespace {

using doc::Value;

// What a policy takes of one PF, by the PF's name or its address.
struct Taken {
  std::string pf;
  std::optional<graph::VfRange> vfs;  // nothing: all
  Word word;
  enum class By : uint8_t { kName, kAddress } by = By::kName;
};

std::vector<Taken> taken_by(const PolicyView& policy) {
  std::vector<Taken> all;
  bool parts = false;
  for (const Word& word : texts_at(*policy.spec, "nicSelector.pfNames")) {
    const auto name = api::parse_pf_name(word.text);
    if (!name) continue;
    Taken taken{.pf = name->name, .word = word};
    if (name->vfs) taken.vfs = graph::VfRange{name->vfs->first, name->vfs->last};
    parts = parts || name->vfs.has_value();
    all.push_back(std::move(taken));
  }
  if (parts) return all;  // the ranges say more than the addresses beside them
  for (const Word& word : texts_at(*policy.spec, "nicSelector.rootDevices"))
    all.push_back({.pf = lower(word.text), .word = word, .by = Taken::By::kAddress});
  return all;
}

bool overlap(const Taken& one, const Taken& other) {
  if (one.by != other.by || one.pf != other.pf) return false;
  return !one.vfs || !other.vfs || one.vfs->overlaps(*other.vfs);
}

std::map<std::string, std::string> node_selector(const PolicyView& policy) {
  std::map<std::string, std::string> labels;
  const Value* selector = policy.spec->find("nodeSelector");
  if (selector == nullptr || !selector->is_object()) return labels;
  for (const Value::Member& member : *selector->as_object())
    if (const std::string* value = member.value.as_string()) labels[member.key] = *value;
  return labels;
}

// Whether every node of one of them is a node of the other, too.
bool same_nodes(const PolicyView& one, const PolicyView& other) {
  const auto a = node_selector(one);
  const auto b = node_selector(other);
  return std::ranges::includes(a, b) || std::ranges::includes(b, a);
}

int64_t priority_of(const PolicyView& policy) {
  constexpr int64_t kDefault = 99;
  return integer_at(*policy.spec, "priority").value_or(kDefault);
}

std::string what(const Taken& one, const Taken& other) {
  if (!one.vfs || !other.vfs) return fmt::format("{}", one.pf);
  const int first = std::max(one.vfs->first, other.vfs->first);
  const int last = std::min(one.vfs->last, other.vfs->last);
  return first == last ? fmt::format("VF {} of {}", first, one.pf)
                       : fmt::format("VFs {} to {} of {}", first, last, one.pf);
}

// The first that both take. The webhook looks at ranges and addresses; whole PFs by name it lets pass, and by another
// priority one policy may be meant to take the place of the other.
struct Shared {
  Taken one, other;
  bool refused = false;  // by the webhook
};
std::optional<Shared> shared(const PolicyView& one, const PolicyView& other) {
  for (const Taken& mine : taken_by(one))
    for (const Taken& its : taken_by(other)) {
      if (!overlap(mine, its)) continue;
      const bool refused = mine.by == Taken::By::kAddress || (mine.vfs && its.vfs);
      if (refused || priority_of(one) == priority_of(other)) return Shared{mine, its, refused};
    }
  return std::nullopt;
}

// Policies that a page shows may be there to choose from.
bool are_of_one_page(const Document& one, const Document& other) {
  return one.origin != Origin::kFile && one.value.span.source == other.value.span.source;
}

void two_policies_take_the_same(const Input& in, Findings& out) {
  if (!in.graphs.empty()) return;  // with facts RB-POLICY-011 and -012 report what becomes of it
  for (size_t i = 0; i < in.views.policies.size(); ++i) {
    const PolicyView& later = in.views.policies[i];
    if (later.ignored) continue;
    for (size_t j = 0; j < i; ++j) {
      const PolicyView& first = in.views.policies[j];
      if (first.ignored || first.document->ns != later.document->ns || first.document->name == later.document->name ||
          !same_nodes(first, later))
        continue;
      const auto both = shared(first, later);
      if (!both) continue;
      auto& reported = out.warning(
          both->other.word.span,
          fmt::format("{} and {} both take {}: {}", first.document->name, later.document->name,
                      what(both->one, both->other),
                      both->refused ? "the operator's webhook rejects the second; without it one of them loses its VFs"
                                    : "with one priority the operator keeps the VFs of one of them"));
      reported.note(both->one.word.span, "here, too")
          .with_fix("ranges that do not overlap (pfNames: [\"ens1f0#0-3\"]), or one policy");
      // Where one apply takes both, the webhook refuses one of them.
      const bool tied = in.settings.world == nullptr || in.settings.world->tied(*first.document, *later.document);
      if (both->refused && tied) reported.severity = doc::Severity::kError;
      if (are_of_one_page(*first.document, *later.document)) reported.severity = doc::Severity::kNote;
      break;
    }
  }
}

// All functions of one card: addresses that differ in the function only.
bool one_card(const std::vector<Word>& addresses) {
  const auto card = [](const Word& word) { return word.text.substr(0, word.text.rfind('.')); };
  return std::ranges::all_of(addresses, [&](const Word& word) { return card(word) == card(addresses.front()); });
}

void conditions_exclude_each_other(const Input& in, Findings& out) {
  if (!in.graphs.empty()) return;
  for (const PolicyView& policy : in.views.policies) {
    const std::vector<Word> roots = texts_at(*policy.spec, "nicSelector.rootDevices");
    std::set<std::string> names;
    const std::vector<Word> pf_names = texts_at(*policy.spec, "nicSelector.pfNames");
    for (const Word& word : pf_names) names.insert(word.text.substr(0, word.text.find('#')));
    if (policy.ignored || names.empty() || roots.size() <= names.size()) continue;
    const std::string text =
        fmt::format("pfNames has {} PF{} and rootDevices {}: a PF must be in both, so a node has at most {} of them",
                    names.size(), names.size() == 1 ? "" : "s", roots.size(), names.size());
    auto& reported = one_card(roots) ? out.warning(roots.front().span, text) : out.note(roots.front().span, text);
    reported.note(pf_names.front().span, "the names")
        .with_fix("leave one of the two lists out, or name all PFs in both");
  }
}

bool has_capitals(std::string_view text) {
  return std::ranges::any_of(text, [](char c) { return c >= 'A' && c <= 'F'; });
}

// The operator compares these texts with those of sysfs, byte by byte.
void capitals_in_selector(const Input& in, Findings& out) {
  for (const PolicyView& policy : in.views.policies)
    for (const std::string_view key : {"vendor", "deviceID", "rootDevices"})
      for (const Word& word : texts_at(*policy.spec, fmt::format("nicSelector.{}", key))) {
        const bool hexadecimal = word.text.find_first_not_of("0123456789abcdefABCDEF:.") == std::string::npos;
        if (!hexadecimal || !has_capitals(word.text)) continue;
        auto& reported =
            out.warning(word.span, fmt::format("the operator compares {} as a text, and the kernel writes small "
                                               "letters: {} matches nothing",
                                               key, word.text))
                .with_fix(lower(word.text))
                .that_fails_where_applied();
        if (word.span.length == static_cast<int>(word.text.size())) reported.with_edit(word.span, lower(word.text));
      }
}

bool names_ports(const PolicyView& policy) {
  return !texts_at(*policy.spec, "nicSelector.pfNames").empty() ||
         !texts_at(*policy.spec, "nicSelector.rootDevices").empty();
}

// Whether a card can be what both selectors want, as far as vendor and device say.
bool may_be_one_card(const PolicyView& one, const PolicyView& other) {
  return std::ranges::all_of(std::initializer_list<std::string_view>{"nicSelector.vendor", "nicSelector.deviceID"},
                             [&](std::string_view path) {
                               const std::string a = lower(text_at(*one.spec, path));
                               const std::string b = lower(text_at(*other.spec, path));
                               return a.empty() || b.empty() || a == b;
                             });
}

// A policy for all ports of a vendor beside one for some of them: by one priority, the names decide which one counts.
void all_ports_beside_some(const Input& in, Findings& out) {
  for (const PolicyView& wide : in.views.policies) {
    const Value* selector = at(*wide.spec, "nicSelector");
    if (wide.ignored || selector == nullptr || names_ports(wide) || at(*selector, "netFilter") != nullptr) continue;
    if (text_at(*selector, "vendor").empty() && text_at(*selector, "deviceID").empty()) continue;
    for (const PolicyView& narrow : in.views.policies) {
      if (&wide == &narrow || narrow.ignored || narrow.document->ns != wide.document->ns || !names_ports(narrow))
        continue;
      if (!may_be_one_card(wide, narrow) || !same_nodes(wide, narrow) || priority_of(wide) != priority_of(narrow))
        continue;
      if (are_of_one_page(*wide.document, *narrow.document)) continue;
      out.warning(
             key_span(*wide.spec, "nicSelector"),
             fmt::format("{} selects every such port, also those of {}: with one priority the operator keeps the VFs "
                         "of one of them",
                         wide.document->name, narrow.document->name))
          .note(key_span(*narrow.spec, "nicSelector"), "these ports are selected here, too")
          .with_fix("pfNames or rootDevices in both, or another priority for the policy that shall win (0 wins)");
      break;
    }
  }
}

constexpr Rule kPolicyRules[] = {
    {"RB-POLICY-015", "two policies that take the same VFs", Needs::kNothing, two_policies_take_the_same},
    {"RB-POLICY-016", "rootDevices and pfNames that exclude each other", Needs::kNothing,
     conditions_exclude_each_other},
    {"RB-POLICY-018", "capitals in what the operator compares as a text", Needs::kNothing, capitals_in_selector},
    {"RB-POLICY-019", "a policy for all ports beside one for some", Needs::kNothing, all_ports_beside_some},
};

}  // namespace

std::span<const Rule> policy_rules() {
  return kPolicyRules;
}

}  // namespace railbed::check

// SPDX-License-Identifier: Apache-2.0
#include "admission/judge.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/format.h"
#include "base/kinds.h"
#include "base/text.h"
#include "check/check.h"
#include "check/findings/judgement.h"
#include "check/read/objects.h"
#include "check/read/pods.h"
#include "doc/json.h"
#include "doc/members.h"
#include "schema/cni_types.h"

namespace railbed::admission {
namespace {

using doc::Diagnostic;
using doc::Value;

constexpr std::string_view kOwnGroup = kind_named("AddressCell").group;
constexpr const Kind& kDefinition = kind_named("NetworkAttachmentDefinition");

// The object without what the user cannot have meant: the API server has added it.
Value as_applied(const Review& review, const Value& object) {
  Value out = object;
  if (Value* metadata = out.find("metadata"); metadata != nullptr && metadata->is_object()) {
    if (doc::text_in(*metadata, "namespace").empty() && !review.ns.empty()) metadata->set("namespace", review.ns);
    std::erase_if(*metadata->as_object(), [](const Value::Member& member) { return member.key == "managedFields"; });
  }
  std::erase_if(*out.as_object(), [](const Value::Member& member) { return member.key == "status"; });
  return out;
}

bool is_same_object(const Value& one, const Value& other) {
  return doc::text_in(one, "kind") == doc::text_in(other, "kind") &&
         doc::text_at(one, "metadata.name") == doc::text_at(other, "metadata.name") &&
         doc::text_at(one, "metadata.namespace") == doc::text_at(other, "metadata.namespace");
}

// A finding with what admission has to know of it.
struct Found {
  Diagnostic finding;
  bool rests_on_others = false;  // another stored object is a part of it
  bool of_hardware = false;      // it compares with nodes, whose hardware may come after its policy
};

// Findings of the same mistake, in whichever field: elements of a list move.
std::string mistake_of(const Found& found) {
  return found.finding.id + '\n' + found.finding.message;
}

// What the rules find in this object, each once.
class Finder {
 public:
  explicit Finder(const World& world) : world_(world) {}

  std::vector<Found> find(const Value& object) const {
    std::vector<Found> found = find(object, world_.nodes);
    if (found.empty() || world_.nodes.empty()) return found;
    std::set<std::string> always;
    for (const Found& one : find(object, {})) always.insert(mistake_of(one));
    for (Found& one : found) one.of_hardware = !always.contains(mistake_of(one));
    return found;
  }

 private:
  std::vector<Found> find(const Value& object, const std::vector<facts::NodeFacts>& nodes) const {
    std::vector<Value> objects{object};
    for (const Value& stored : world_.stored)
      if (!is_same_object(stored, object)) objects.push_back(stored);
    check::Bundle bundle = check::bundle_of(std::move(objects));
    std::vector<Found> out;
    if (bundle.documents.empty() || !is_same_object(bundle.documents.front().value, object)) return out;
    const doc::SourcePtr own = bundle.documents.front().value.span.source;
    check::Settings settings;
    settings.graph.resource_prefix = world_.resource_prefix;
    settings.prefix_is_given = true;
    doc::Diagnostics all = check::object_findings(std::move(bundle), nodes, settings);
    std::set<std::pair<std::string, std::string>> said;
    for (Diagnostic& finding : all.mutable_all()) {
      if (finding.span.source != own) continue;
      if (!said.emplace(finding.id, finding.subject.field + '\n' + finding.message).second) continue;
      const bool rests = rests_on_others(finding, own);
      out.push_back({.finding = std::move(finding), .rests_on_others = rests});
    }
    return out;
  }

  static bool rests_on_others(const Diagnostic& finding, const doc::SourcePtr& own) {
    const auto elsewhere = [&](const doc::Span& place) { return place.source != nullptr && place.source != own; };
    return std::ranges::any_of(finding.notes, elsewhere, &Diagnostic::Note::span) ||
           std::ranges::any_of(finding.grounds, elsewhere);
  }

  const World& world_;
};

// The findings of the stored object, of which each excuses one of the new object.
class Excuses {
 public:
  void add(const std::vector<Found>& found) {
    for (const Found& one : found) ++left_[mistake_of(one)];
  }
  bool take(const Found& found) {
    const auto known = left_.find(mistake_of(found));
    return known != left_.end() && known->second-- > 0;
  }

 private:
  std::map<std::string, int> left_;
};

bool is_brought_in(const Found& found) {
  return check::is_sure_error(found.finding) && found.finding.missing.empty() && !found.rests_on_others &&
         !found.of_hardware;
}

// As `check` says it of objects without text, without the other objects: the user may not be allowed to see them.
std::string refusal_line(Diagnostic finding) {
  finding.notes.clear();
  return std::string(trimmed(doc::render(finding)));
}

std::string warning_line(const Found& found, const World& world) {
  const Diagnostic& finding = found.finding;
  const std::string place = finding.subject.field.empty() ? "" : finding.subject.field + ": ";
  const bool hidden = found.rests_on_others && finding.missing.empty() && !world.may_name_stored;
  if (hidden)
    return warning_text(finding.id, place + "does not fit another stored object; `railbed check` compares both");
  if (found.of_hardware) return warning_text(finding.id, fmt::format("{}for now, {}", place, finding.message));
  return warning_text(finding.id, place + finding.message);
}

// Definitions of plugins that railbed does not attach are others' business.
bool is_of_others(const Review& review) {
  if (review.kind != kDefinition.name) return false;
  doc::Diagnostics ignored;
  const Value* config = doc::at(review.object, "spec.config");
  if (config == nullptr || !config->is_string()) return false;  // the schema says what is wrong
  const auto parsed = doc::parse_embedded_json(*config, ignored);
  if (!parsed.has_value()) return false;
  const Value::Array* plugins = doc::list_in(*parsed, "plugins");
  const Value* first = plugins == nullptr ? &*parsed : plugins->empty() ? nullptr : &plugins->front();
  if (first == nullptr) return false;
  const std::string type = doc::text_in(*first, "type");
  const schema::CniType* known = schema::find_cni_type(type);
  return !type.empty() && (known == nullptr || !known->makes_or_changes_interfaces());
}

// Warnings about a pod of a controller reach the controller only, where no user sees them.
bool has_a_controller(const Value& object) {
  const Value::Array* owners = nullptr;
  if (const Value* metadata = doc::object_in(object, "metadata")) owners = doc::list_in(*metadata, "ownerReferences");
  return owners != nullptr &&
         std::ranges::any_of(*owners, [](const Value& owner) { return doc::flag_in(owner, "controller"); });
}

bool asks_for_networks(const Value& object) {
  const check::Bundle bundle = check::bundle_of({object});
  return std::ranges::any_of(check::find_pods(bundle),
                             [](const check::PodTemplate& pod) { return !pod.networks.empty(); });
}

void add_warning(const Found& found, const World& world, Answer& answer) {
  if (answer.warnings.size() >= kMaxWarnings) return;
  std::string line = warning_line(found, world);
  if (std::ranges::find(answer.warnings, line) == answer.warnings.end()) answer.warnings.push_back(std::move(line));
}

}  // namespace

Judged judged_as(std::string_view group, std::string_view kind) {
  if (group == KindTable::kSriov || group == kOwnGroup) return Judged::kRefused;
  if (group == kDefinition.group && kind == kDefinition.name) return Judged::kRefused;
  return check::has_pods(kind) ? Judged::kWarned : Judged::kNot;
}

std::string_view why_passed(const Review& review, const World& world) {
  if (review.operation != Operation::kCreate && review.operation != Operation::kUpdate) return "it brings in no object";
  if (!review.subresource.empty()) return "it is for a part of the object";
  if (world.own_accounts.contains(review.user)) return "it is one of railbed's own accounts";
  if (!doc::text_at(review.object, "metadata.deletionTimestamp").empty()) return "the object is being deleted";
  if (review.operation == Operation::kCreate) return {};
  const Value* now = review.object.find("spec");
  const Value* before = review.old_object.find("spec");
  const bool same = now == nullptr ? before == nullptr : before != nullptr && *now == *before;
  return same ? "it changes nothing in spec" : "";
}

Answer judge(const Review& review, const World& world) {
  Answer answer{.uid = review.uid};
  const Judged as = judged_as(review.group, review.kind);
  if (as == Judged::kNot || !why_passed(review, world).empty()) return answer;
  if (as == Judged::kWarned && (has_a_controller(review.object) || !asks_for_networks(review.object))) return answer;
  if (is_of_others(review)) return answer;

  const Finder finder(world);
  const std::vector<Found> found = finder.find(as_applied(review, review.object));
  Excuses excuses;
  if (review.operation == Operation::kUpdate && std::ranges::any_of(found, is_brought_in))
    excuses.add(finder.find(as_applied(review, review.old_object)));

  std::vector<std::string> refused;
  for (const Found& one : found) {
    if (one.finding.severity == doc::Severity::kNote && !one.of_hardware) continue;
    if (as == Judged::kRefused && is_brought_in(one) && !excuses.take(one))
      refused.push_back(refusal_line(one.finding));
    else
      add_warning(one, world, answer);
  }
  if (refused.empty()) return answer;
  const size_t left_out = refused.size() - std::min(refused.size(), kMaxWarnings);
  refused.resize(refused.size() - left_out);
  if (left_out > 0) refused.push_back(fmt::format("and {} more: `railbed check` shows all", left_out));
  Answer no = refusal(review.uid, fmt::format("{}", fmt::join(refused, "\n")));
  no.warnings = std::move(answer.warnings);
  return no;
}

}  // namespace railbed::admission

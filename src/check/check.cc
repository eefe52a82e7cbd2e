// SPDX-License-Identifier: Apache-2.0
#include "check/check.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "api/ipam_parse.h"
#include "api/kinds.h"
#include "api/load.h"
#include "check/findings/fold.h"
#include "check/findings/follow_ons.h"
#include "check/findings/judged.h"
#include "check/findings/judgement.h"
#include "check/findings/object_states.h"
#include "check/findings/subjects.h"
#include "check/findings/suppress.h"
#include "check/findings/twice.h"
#include "check/findings/unread_lines.h"
#include "check/read/alternatives.h"
#include "check/read/blanks.h"
#include "check/read/classify.h"
#include "check/read/copies.h"
#include "check/read/engines.h"
#include "check/read/namespaces.h"
#include "check/read/objects.h"
#include "check/read/patches.h"
#include "check/read/served_versions.h"
#include "check/repair/moves.h"
#include "check/repair/realign.h"
#include "check/repair/repairs.h"
#include "check/rules/dynamic_allocation.h"
#include "check/rules/lookups.h"
#include "check/rules/missing.h"
#include "doc/json.h"
#include "findings/explain.h"
#include "graph/resolution.h"
#include "schema/schema.h"

namespace railbed::check {
namespace {

using doc::Diagnostic;
using doc::Diagnostics;
using schema::find_schema;
using schema::Schema;

// A repair can uncover the next mistake. A text that still changes after this many rounds stays as it is.
constexpr int kMaxRounds = 16;
// How much is read to find out which lines were shifted: some seconds at most.
constexpr size_t kMaxTriedBytes = 64 << 20;

// The sources that kustomizations list as patches, with the names of those.
using Patches = std::map<std::string, std::string>;

// The result of reading the texts once.
struct Reading {
  Bundle bundle;
  api::Objects objects;
  Patches patches;
  Diagnostics findings;
};

// What is reported for the sake of `plan` and `up` on one machine: workloads, pods of several nodes, plugins of others,
// what a cluster's other parts do (ib-kubernetes, the metadata service, Open vSwitch, vDPA).
bool is_for_other_verbs(const Diagnostic& finding) {
  return finding.audience == doc::Audience::kOneMachine;
}

// What is in a plugin or an ipam of a type that is not known is not compared: that is worth a note.
void note_unknown_types(Diagnostics& found) {
  for (Diagnostic& finding : found.mutable_all())
    if (finding.says == doc::Says::kUnknownType && is_for_other_verbs(finding)) {
      finding.severity = doc::Severity::kNote;
      finding.audience = doc::Audience::kEveryone;
    }
}

// Addresses of networks that are no objects of railbed's own: macvlan, host-device and others of the Network
// Operator. Those of the SR-IOV operator and attachment definitions are looked at when they are loaded.
void check_addresses(const Document& document, Diagnostics& out) {
  static constexpr std::string_view kKinds[] = {"HostDeviceNetwork", "MacvlanNetwork", "IPoIBNetwork", "OVSNetwork"};
  if (std::ranges::find(kKinds, document.kind) == std::end(kKinds)) return;
  const doc::Value* text = at(document.value, "spec.ipam");
  if (text == nullptr || !text->is_string()) return;
  Diagnostics reported_by_schema;
  const auto ipam = doc::parse_embedded_json(*text, reported_by_schema);
  if (ipam && ipam->is_object()) api::check_ipam(*ipam, out);
}

// Whether most of the object's fields are unknown to `schema` (a kubeconfig beside a ConfigMap), so it must be
// something else. A single unknown field may be one of metadata in the wrong place.
bool is_unlike(const doc::Value& value, const Schema& schema) {
  if (schema.type != schema::FieldType::kObject || schema.fields.empty() || schema.items != nullptr) return false;
  int surplus = 0;
  for (const doc::Value::Member& member : *value.as_object())
    if (member.key != "apiVersion" && member.key != "kind") surplus += schema.fields.contains(member.key) ? -1 : 1;
  return surplus > 0;
}

// Whether no API server has the kind of the document. A plural or other capitals: what it answers is known. A slip,
// too, in a text that is applied as it is.
bool is_refused_kind(const Document& document, const std::string& meant) {
  const std::string kind = lower(document.kind);
  const std::string right = lower(meant);
  if (kind == right || kind == right + "s") return true;
  if (right.ends_with('y') && kind == right.substr(0, right.size() - 1) + "ies") return true;
  const bool applied = document.origin == Origin::kFile || document.origin == Origin::kAnsible;
  return applied && !document.api_version.empty() && document.cls.is(DocumentKind::kOther) && !document.patch &&
         !doc::nearest(document.kind, {meant}).empty() && !differ_in_numbers(kind, right);
}

// Kinds that are not known, reported again: only where the apiVersion and the fields fit what was probably meant (other
// groups have kinds of like names). In words only: which object it is, its author knows. Other unknown kinds are
// counted.
void report_misspelt_kinds(const Bundle& bundle, Diagnostics& out) {
  std::erase_if(out.mutable_all(), [](const Diagnostic& finding) { return finding.says == doc::Says::kUnknownKind; });
  std::map<std::string, size_t> reported;  // findings by apiVersion and kind: one for all objects
  for (const Document& document : bundle.documents) {
    const std::string& kind = document.kind;
    if (find_schema("", kind) != nullptr || find_kind(kind) != nullptr || is_served_kind(kind)) continue;
    std::string meant = api::nearest_kind(kind);
    if (find_schema(document.api_version, meant) == nullptr) {
      const std::vector<std::string> kinds = schema::schema_kinds();
      meant = doc::nearest(kind, {kinds.begin(), kinds.end()});
    }
    const Schema* schema = meant.empty() ? nullptr : find_schema(document.api_version, meant);
    if (schema == nullptr) meant = nearest_served_kind(document);
    if (meant.empty() || (schema != nullptr && is_unlike(document.value, *schema))) continue;
    const doc::Span& span = document.value.find("kind")->span;
    const auto [first, fresh] = reported.try_emplace(document.api_version + " " + kind, out.all().size());
    if (!fresh) {
      out.mutable_all()[first->second].note(span, "here, too");
      continue;
    }
    const bool sure = is_refused_kind(document, meant);
    const std::string text = sure ? fmt::format("no API server has the kind '{}': it refuses the object", kind)
                                  : fmt::format("unknown kind '{}'; its objects are skipped", kind);
    (sure ? out.error("RB-API-001", span, text) : out.warning("RB-API-001", span, text))
        .with_fix(fmt::format("did you mean '{}'?", meant))
        .of(doc::Layer::kObject)
        .that_says(doc::Says::kUnknownKind);
  }
}

// What was changed for reading only (callouts of AsciiDoc) is no text to repair.
void drop_edits_of_others(const std::vector<doc::SourcePtr>& sources, Diagnostics& findings) {
  for (Diagnostic& finding : findings.mutable_all())
    std::erase_if(finding.edits,
                  [&](const doc::Edit& edit) { return std::ranges::find(sources, edit.source) == sources.end(); });
}

// Whether the fields of a document are compared with its kind: also where no rule reads it.
bool is_compared(const Document& document) {
  return document.verb != Verb::kDelete && !document.cls.is(DocumentKind::kAssertion) && !is_something_else(document) &&
         !document.data && !is_local_config(document.value);
}

// What the schemas say of documents that no rule reads: patches, copies.
void compare_others(const Bundle& bundle, Diagnostics& findings) {
  std::vector<const doc::Value*> values;
  for (const Document& document : bundle.aside)
    if (is_compared(document)) values.push_back(&document.value);
  if (values.empty()) return;
  Diagnostics found;
  api::load_documents(values, found, api::Compared::kAllKinds);
  std::erase_if(found.mutable_all(), [](const Diagnostic& finding) {
    // The name in a patch with a target names nothing.
    const bool name = finding.says == doc::Says::kBadName && finding.subject.field == "metadata.name";
    return name || finding.says == doc::Says::kGivenTwice || finding.says == doc::Says::kUnknownKind;
  });
  findings.append(std::move(found));
}

// Why a text is read: to judge it, or to see whether a repair makes it right. A repair that takes away a sign of a
// manifest makes nothing right, so there what is no manifest for want of one is judged like one.
enum class ReadFor : uint8_t { kJudgement, kTrial };

// Decides what each document is, and which of them the rules read.
void sort_documents(Reading& reading, const Patches& patches, ReadFor purpose) {
  Bundle& bundle = reading.bundle;
  reading.patches = patches;
  reading.patches.merge(patch_files(bundle));
  const Kustomizations kustomizations(bundle);
  classify(bundle, reading.patches, kustomizations);
  for (Document& document : bundle.documents)
    if (purpose == ReadFor::kTrial && document.cls.is(DocumentKind::kOther)) document.cls = {};
  add_namespaces(bundle, kustomizations);
  set_aside(bundle);
  infer_namespaces(bundle, reading.findings);
  set_copies_aside(bundle);
}

// Loads the objects of the bundle, and those of `values`; what their schemas and readers say.
Diagnostics load_objects(Reading& reading, std::vector<const doc::Value*> values) {
  Diagnostics found;
  for (const Document& document : reading.bundle.documents) {
    values.push_back(&document.value);
    check_addresses(document, found);
  }
  reading.objects = api::load_documents(values, found, api::Compared::kAllKinds);
  compare_others(reading.bundle, found);
  note_unknown_types(found);
  std::erase_if(found.mutable_all(), is_for_other_verbs);
  // railbed reads the object anyway, and an API server does not.
  for (Diagnostic& finding : found.mutable_all())
    if (finding.says == doc::Says::kWrongVersion) finding.severity = doc::Severity::kError;
  report_misspelt_kinds(reading.bundle, found);
  report_wrong_versions(reading.bundle, found);
  return found;
}

// What the unmodified texts say, with the repairs that single findings offer. `patches`: sources that are patches by
// what is said of them elsewhere.
Reading read_as_it_is(const std::vector<doc::SourcePtr>& sources, const Patches& patches,
                      ReadFor purpose = ReadFor::kJudgement) {
  Reading reading;
  // All other findings about a text with no-break spaces are consequences, so it is repaired and read again first.
  bool again = false;
  for (const doc::SourcePtr& source : sources) again |= report_no_break_spaces(source, reading.findings);
  if (again) return reading;
  reading.bundle = read_bundle(sources, reading.findings, ApiSchemas::kDropped);
  sort_documents(reading, patches, purpose);
  std::vector<const doc::Value*> values;
  for (const doc::Value& value : reading.bundle.without_kind)
    if (purpose == ReadFor::kTrial ? value.find("metadata") != nullptr || value.find("spec") != nullptr
                                   : may_lack_its_kind(value) && engine_of_lines(value.span.source->text) == nullptr)
      values.push_back(&value);
  Diagnostics found = load_objects(reading, std::move(values));
  drop_steps(reading.bundle, found);
  drop_unjudged(reading.bundle, found);
  reading.findings.append(std::move(found));
  add_moves(reading.bundle.documents, reading.findings);
  drop_edits_of_others(sources, reading.findings);
  fold(reading.findings);
  return reading;
}

// The same, and looks for repairs by trying them; for that, `bytes` may be read.
Reading read(const std::vector<doc::SourcePtr>& sources, size_t& bytes) {
  Reading reading = read_as_it_is(sources, {});
  const auto try_text = [&reading](const doc::SourcePtr& source) {
    Reading one = read_as_it_is({source}, reading.patches, ReadFor::kTrial);
    return Trial{std::move(one.bundle), std::move(one.findings)};
  };
  realign(reading.findings, try_text, bytes);
  return reading;
}

// Reads, repairs what has a safe repair, and reads again until nothing is left to repair. The findings that
// were repaired on the way are added to `repaired`.
Reading read_and_repair(Texts& texts, const Settings& settings, Diagnostics& repaired) {
  size_t bytes = kMaxTriedBytes;
  for (int round = 0;; ++round) {
    Reading reading = read(texts.current(), bytes);
    name_subjects(reading.bundle, reading.findings);
    judge(reading.bundle, settings, reading.findings);
    if (round == kMaxRounds || !texts.apply(reading.findings, settings.least_repair)) return reading;
    Diagnostics done;
    std::ranges::copy_if(reading.findings.all(), std::back_inserter(done.mutable_all()),
                         [&](const Diagnostic& finding) { return is_repairable(finding, settings.least_repair); });
    limit_by_class(reading.bundle, done);  // of the others once what follows from them is folded
    texts.to_given(done);
    repaired.append(std::move(done));
  }
}

// Whether the run asks about a place's file. What an earlier check of the run has counted is not counted again.
bool is_asked(const Bundle& bundle, const Settings& settings, const doc::Span& span) {
  const doc::SourcePtr source = bundle.given(span).source;
  if (source != nullptr && settings.counted.contains(source->name)) return false;
  return settings.about == nullptr || (source != nullptr && settings.about->contains(source->name));
}

// Kinds that make pods. Where no pod is found in one, nothing of it was looked at, although its name is known.
bool is_workload(std::string_view kind) {
  static constexpr std::string_view kKinds[] = {
      "Job",        "InferenceService", "LLMInferenceService", "PyTorchJob", "MPIJob",         "RayCluster", "RayJob",
      "RayService", "TrainJob",         "PodTemplate",         "JobSet",     "LeaderWorkerSet"};
  return std::ranges::find(kKinds, kind) != std::end(kKinds);
}

void count_document(const Bundle& bundle, const Document& document, bool has_pods, Report& report) {
  const doc::Span place = bundle.given(document.value.span);
  const bool read = has_pods || find_schema(document.api_version, document.kind) != nullptr ||
                    (is_known(document) && !is_workload(document.kind));
  ++(read ? report.kinds : report.unknown_kinds)[document.kind];
  if (place.source != nullptr) ++report.read_from[place.source->name];
  ++report.coverage.classes[std::string(class_name(document.cls.kind))];
  if (document.cls.why.empty()) return;
  report.coverage.reasons.push_back({.object = document.label(),
                                     .place = place.to_string(),
                                     .name = std::string(class_name(document.cls.kind)),
                                     .why = document.cls.why});
}

void count(const Bundle& bundle, const Settings& settings, std::span<const PodTemplate> pods, Report& report) {
  std::set<const Document*> with_pods;
  for (const PodTemplate& pod : pods) with_pods.insert(pod.document);
  for (const std::vector<Document>* documents : {&bundle.documents, &bundle.aside})
    for (const Document& document : *documents)
      if (is_asked(bundle, settings, document.value.span))
        count_document(bundle, document, with_pods.contains(&document), report);
  Coverage& coverage = report.coverage;
  for (const doc::Value& value : bundle.without_kind)
    if (is_asked(bundle, settings, value.span)) ++coverage.classes[std::string(class_name(DocumentKind::kOther))];
  for (const NotRead& one : bundle.not_read)
    if (settings.about == nullptr || settings.about->contains(one.name)) coverage.not_read.push_back(one);
  for (const PodTemplate& pod : pods) coverage.pods += is_asked(bundle, settings, pod.document->value.span) ? 1 : 0;
  for (const Command& command : bundle.commands) report.commands += is_asked(bundle, settings, command.span) ? 1 : 0;
}

// Places in texts that were changed for reading only become those of the texts that the user gave.
void to_given(const Bundle& bundle, Diagnostics& findings) {
  if (bundle.as_given.empty()) return;
  for (Diagnostic& finding : findings.mutable_all()) {
    finding.span = bundle.given(finding.span);
    for (Diagnostic::Note& note : finding.notes) note.span = bundle.given(note.span);
  }
}

// Leaves out what does not concern the files that are asked about.
void keep_what_is_asked(const Settings& settings, Report& report) {
  if (settings.about == nullptr) return;
  const auto is_about = [&](const doc::Span& span) {
    return span.source != nullptr && settings.about->contains(span.source->name);
  };
  std::erase_if(report.findings.mutable_all(), [&](const Diagnostic& finding) {
    return !is_about(finding.span) &&
           std::ranges::none_of(finding.notes, [&](const Diagnostic::Note& note) { return is_about(note.span); });
  });
  std::erase_if(report.repairs, [&](const Repair& one) { return !settings.about->contains(one.before->name); });
  std::erase_if(report.sources, [&](const std::string& name) { return !settings.about->contains(name); });
}

}  // namespace

int Report::objects() const {
  return std::accumulate(kinds.begin(), kinds.end(), 0, [](int sum, const auto& kind) { return sum + kind.second; });
}

size_t Report::sure_errors() const {
  return static_cast<size_t>(std::ranges::count_if(findings.all(), is_sure_error));
}

namespace {

template <typename T>
void move_to_the_end(std::vector<T>&& from, std::vector<T>& to) {
  std::ranges::move(from, std::back_inserter(to));
}

}  // namespace

void Report::add(Report other) {
  findings.append(std::move(other.findings));
  move_to_the_end(std::move(other.repairs), repairs);
  move_to_the_end(std::move(other.sources), sources);
  move_to_the_end(std::move(other.ignored), ignored);
  move_to_the_end(std::move(other.object_states), object_states);
  move_to_the_end(std::move(other.incomplete), incomplete);
  used_ignores.merge(other.used_ignores);
  for (const auto& [name, number] : other.read_from) read_from[name] += number;
  for (const auto& [kind, number] : other.kinds) kinds[kind] += number;
  for (const auto& [kind, number] : other.unknown_kinds) unknown_kinds[kind] += number;
  coverage.add(std::move(other.coverage));
  not_checked = std::move(other.not_checked);
  for (Undecided& one : other.undecided)
    if (std::ranges::find(undecided, one) == undecided.end()) undecided.push_back(std::move(one));
  commands += other.commands;
  nodes = other.nodes;
  suppressed += other.suppressed;
  left_out += other.left_out;
  known += other.known;
  gone += other.gone;
}

bool is_known_id(std::string_view id) {
  const findings::Explanation* known = findings::explain(id);
  return known != nullptr && known->is_about_text();
}

namespace {

void run_rules(const Input& input, Diagnostics& findings, std::vector<Undecided>* undecided = nullptr) {
  for (const Rule& rule : all_rules()) {
    if (rule.needs == Needs::kFacts && input.nodes.empty()) continue;
    Findings reported(rule, findings, undecided);
    rule.run(input, reported);
  }
}

}  // namespace

Diagnostics rule_findings(const std::vector<doc::SourcePtr>& sources, const api::Objects& objects,
                          const graph::Catalog& catalog, std::span<const graph::Graph> graphs,
                          std::span<const facts::NodeFacts> nodes, const Settings& settings) {
  Diagnostics already_reported;
  Bundle bundle = read_bundle(sources, already_reported);
  // Only objects that were loaded; those inside of others are not applied by these verbs.
  std::erase_if(bundle.documents, [](const Document& document) { return !document.carrier.empty(); });
  Diagnostics findings = rule_findings(bundle, objects, catalog, graphs, nodes, settings);
  suppress(sources, findings);
  return findings;
}

Diagnostics rule_findings(const Bundle& bundle, const api::Objects& objects, const graph::Catalog& catalog,
                          std::span<const graph::Graph> graphs, std::span<const facts::NodeFacts> nodes,
                          const Settings& settings) {
  const std::vector<PodTemplate> pods = find_pods(bundle);
  const Views views = make_views(bundle, pods, graphs, settings);
  Diagnostics findings;
  run_rules({bundle, pods, objects, catalog, graphs, nodes, settings, views}, findings);
  name_subjects(bundle, findings);
  return findings;
}

namespace {

// The sources that are small enough to be manifests; reports the others.
std::vector<doc::SourcePtr> bounded(const std::vector<doc::SourcePtr>& sources, Report& report) {
  std::vector<doc::SourcePtr> kept;
  size_t sum = 0;
  for (const doc::SourcePtr& source : sources) {
    const size_t size = source->text.size();
    if (size <= kMaxCheckedBytes && sum + size <= 4 * kMaxCheckedBytes) {
      kept.push_back(source);
      sum += size;
      continue;
    }
    report.coverage.not_read.push_back({source->name, "too large for a manifest", ""});
    report.findings
        .error("RB-DOC-003", {source},
               fmt::format("{} MiB are too large for a manifest; it is not read (limits: {} MiB for a file, {} MiB in "
                           "total)",
                           size >> 20, kMaxCheckedBytes >> 20, kMaxCheckedBytes >> 18))
        .with_fix("give the files that hold manifests, or a part of them");
  }
  return kept;
}

// Limits what the documents' classes do not allow, and folds the rest.
void limit_and_fold(const Bundle& bundle, const World& world, Diagnostics& found) {
  judge_duplicates(bundle, world, found);
  fold(found);
  fold_follow_ons(bundle, found);
  limit_by_class(bundle, found);
  fold_placeholders(bundle, found);
  report_filled_in(bundle, found);
  name_subjects(bundle, found);
}

// Errors come first, and of one severity those that are about a whole file: that it was not read explains what else is
// missing. In the order of places they would be the last of ten thousand.
void keep_the_first(Report& report) {
  std::vector<Diagnostic>& all = report.findings.mutable_all();
  if (all.size() <= kMaxFindings) return;
  report.left_out += static_cast<int>(all.size() - kMaxFindings);
  std::ranges::stable_sort(all, std::greater<>(), [](const Diagnostic& finding) {
    return std::pair(finding.severity, !finding.span.known());
  });
  all.erase(all.begin() + kMaxFindings, all.end());
  report.findings.sort();
}

// Takes away what project files and options decide about.
void apply_policy(const Settings& settings, Report& report) {
  if (settings.policy == nullptr) return;
  std::erase_if(report.findings.mutable_all(), [&](Diagnostic& finding) {
    Verdict verdict = judged(*settings.policy, finding);
    if (verdict.what != Verdict::What::kIgnored) return verdict.what == Verdict::What::kOff;
    ++report.suppressed;
    report.used_ignores.insert(*verdict.by);
    if (report.ignored.size() < kMaxFindings)
      report.ignored.push_back({std::move(finding), Ignored::By::kProject, std::move(verdict.reason)});
    return true;
  });
}

// What is left of the findings when all are known: their number is bounded, and they have a place in the given texts.
void finish_report(const std::vector<doc::SourcePtr>& sources, const Settings& settings, Report& report) {
  fold(report.findings);
  report.suppressed = static_cast<int>(suppress(sources, is_known_id, report.findings, &report.ignored));
  judge(Bundle(), settings, report.findings);  // those about comments, and what was not read
  apply_policy(settings, report);
  report.findings.sort();
  keep_the_first(report);
}

}  // namespace

namespace {

// What is found of all objects together.
Diagnostics relations(const Reading& reading, std::span<const PodTemplate> pods,
                      const std::vector<facts::NodeFacts>& nodes, const Settings& settings,
                      std::vector<Undecided>& undecided) {
  const Bundle& bundle = reading.bundle;
  Diagnostics found;
  const graph::Resolution resolved(reading.objects, nodes, settings.graph, graph::PodPlacement::kChecked, found);
  const Views views = make_views(bundle, pods, resolved.graphs, settings);
  report_missing_networks(bundle, views, *settings.world, found);
  weigh_missing_resources(bundle, views, *settings.world, found);
  drop_what_claims_give(bundle, found);
  run_rules({bundle, pods, reading.objects, resolved.catalog, resolved.graphs, nodes, settings, views}, found,
            &undecided);
  std::erase_if(found.mutable_all(), is_for_other_verbs);
  drop_unjudged(bundle, found);
  return found;
}

// Rules that --select and --ignore turn off leave nothing open.
void drop_undecided_of_others(const Settings& settings, std::vector<Undecided>& undecided) {
  if (settings.policy == nullptr) return;
  std::erase_if(undecided, [&](const Undecided& one) {
    Diagnostic asked;
    asked.id = one.rule;
    return judged(*settings.policy, asked).what == Verdict::What::kOff;
  });
}

}  // namespace

Diagnostics object_findings(Bundle bundle, const std::vector<facts::NodeFacts>& nodes, const Settings& given) {
  Reading reading{.bundle = std::move(bundle)};
  Diagnostics found = load_objects(reading, {});
  Settings settings = given;
  World own;
  if (settings.world == nullptr) {
    own = world_of(reading.bundle, Kustomizations(reading.bundle), given.not_read);
    settings.world = &own;
  }
  std::vector<Undecided> undecided;  // is no finding
  found.append(relations(reading, find_pods(reading.bundle), nodes, settings, undecided));
  fold(found);
  fold_follow_ons(reading.bundle, found);
  name_subjects(reading.bundle, found);
  judge(reading.bundle, settings, found);
  return found;
}

Report check(const std::vector<doc::SourcePtr>& all_sources, const std::vector<facts::NodeFacts>& nodes,
             const Settings& given) {
  Report report;
  for (const doc::SourcePtr& source : all_sources) report.sources.push_back(source->name);
  const std::vector<doc::SourcePtr> sources = bounded(all_sources, report);
  report.nodes = static_cast<int>(nodes.size());
  Texts texts(sources);
  const Reading reading = read_and_repair(texts, given, report.findings);
  const Bundle& bundle = reading.bundle;

  Settings settings = given;
  World own;
  if (settings.world == nullptr) {
    own = world_of(bundle, Kustomizations(bundle), given.not_read);
    own.together = given.together;
    own.prefixes = prefix_signs(bundle);
    settings.world = &own;
  }
  settings.prefix_is_given = given.graph.resource_prefix != graph::Options().resource_prefix;
  settings.graph.resource_prefix = resource_prefix(bundle, settings);
  const std::vector<PodTemplate> pods = find_pods(bundle);
  Diagnostics found = reading.findings;
  found.append(relations(reading, pods, nodes, settings, report.undecided));
  drop_undecided_of_others(settings, report.undecided);
  for (const Rule& rule : all_rules())
    if (rule.needs == Needs::kFacts && nodes.empty()) report.not_checked.push_back(rule);

  note_unread_lines(bundle, found);
  limit_and_fold(bundle, *settings.world, found);
  judge(bundle, settings, found);
  drop_edits_of_others(texts.current(), found);
  Texts fixed = texts;
  fixed.apply(found, settings.least_repair);
  report.repairs = fixed.repairs();
  to_given(bundle, found);
  texts.to_given(found);
  report.findings.append(std::move(found));
  count(bundle, settings, pods, report);
  if (given.object_states)
    report.object_states =
        object_states_of(bundle, [&](const doc::Span& place) { return texts.back(bundle.given(place)); });
  limit_in_test_data(settings.given, report.findings);
  finish_report(sources, given, report);
  keep_what_is_asked(settings, report);
  return report;
}

namespace {

// A file that is bound to several groups is checked in each: what all of them say of it is said once.
void drop_what_groups_repeat(Diagnostics& findings) {
  std::set<std::tuple<std::string, std::string, uint32_t, std::string>> said;
  std::erase_if(findings.mutable_all(), [&](const Diagnostic& finding) {
    if (finding.span.source == nullptr || !finding.span.known()) return false;
    return !said.emplace(finding.id, finding.span.source->name, finding.span.offset, finding.message).second;
  });
}

}  // namespace

Report check_files(const std::vector<doc::SourcePtr>& sources, const std::vector<facts::NodeFacts>& nodes,
                   const Settings& given) {
  if (given.together) return check(sources, nodes, given);
  const FileGroups files = group_alternatives(sources, given.not_read);
  Report all;
  size_t apart = 0;
  for (const SourceGroup& group : files.groups) {
    Settings settings = given;
    settings.world = &files.world;
    if (!group.about.empty()) settings.about = &group.about;
    apart += group.about.size();
    all.add(check(group.sources, nodes, settings));
  }
  doc::Diagnostics notes = files.notes;
  judge(Bundle(), given, notes);
  all.findings.append(std::move(notes));
  drop_what_groups_repeat(all.findings);
  all.findings.sort();
  if (files.groups.size() == 1) return all;
  all.grouped = fmt::format(
      "{}; such files, and those that depend on them, are alternatives: {} of {} files were checked apart from them, in "
      "{} more groups (--together checks all as one bundle)",
      files.why, apart, sources.size(), files.groups.size() - 1);
  return all;
}

}  // namespace railbed::check

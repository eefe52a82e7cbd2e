// SPDX-License-Identifier: Apache-2.0
#include "check/check.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "api/ipam_parse.h"
#include "api/kinds.h"
#include "api/load.h"
#include "check/findings/fold.h"
#include "check/findings/follow_ons.h"
#include "check/findings/judgement.h"
#include "check/findings/object_states.h"
#include "check/findings/subjects.h"
#include "check/findings/suppress.h"
#include "check/read/blanks.h"
#include "check/read/jinja.h"
#include "check/read/objects.h"
#include "check/read/patches.h"
#include "check/read/paths.h"
#include "check/read/templates.h"
#include "check/repair/moves.h"
#include "check/repair/realign.h"
#include "check/repair/repairs.h"
#include "check/rules/dynamic_allocation.h"
#include "check/rules/lookups.h"
#include "check/rules/missing_networks.h"
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

// The result of reading the texts once.
struct Reading {
  Bundle bundle;
  api::Objects objects;
  std::set<std::string> patches;  // names of the sources that are patches of kustomize
  Diagnostics findings;
};

// What is told for the sake of `plan` and `up` on one machine: workloads, pods of several nodes, plugins of others,
// what a cluster's other parts do (ib-kubernetes, the metadata service, Open vSwitch, vDPA).
bool is_for_other_verbs(const Diagnostic& finding) {
  return finding.audience == doc::Audience::kOneMachine;
}

// Addresses of networks that are no objects of railbed's own: macvlan, host-device and others of the Network
// Operator. Those of the SR-IOV operator and attachment definitions are looked at when they are loaded.
void check_addresses(const Document& document, Diagnostics& out) {
  static constexpr std::string_view kKinds[] = {"HostDeviceNetwork", "MacvlanNetwork", "IPoIBNetwork", "OVSNetwork"};
  if (std::ranges::find(kKinds, document.kind) == std::end(kKinds)) return;
  const doc::Value* text = at(document.value, "spec.ipam");
  if (text == nullptr || !text->is_string()) return;
  Diagnostics told_by_schema;
  const auto ipam = doc::parse_embedded_json(*text, told_by_schema);
  if (ipam && ipam->is_object()) api::check_ipam(*ipam, out);
}

// What `kubectl patch --patch-file` takes: it names no kind, and people call the file a patch.
bool is_patch_file(const doc::Value& value) {
  return value.span.source != nullptr && file_of(value.span.source->name).find("patch") != std::string_view::npos &&
         value.find("apiVersion") == nullptr;
}

// A document without kind that looks like a manifest. Others (a chart and its settings, workflows, lists of tasks)
// often accompany manifests and are no mistake.
bool has_parts_of_manifest(const doc::Value& value) {
  const doc::Value::Object* members = value.as_object();
  if (members != nullptr && is_patch_file(value)) return false;
  return members != nullptr && std::ranges::any_of(*members, [](const doc::Value::Member& member) {
           return member.key == "metadata" || member.key == "spec";
         });
}

// Whether most of the object's fields are unknown to `schema` (a kubeconfig beside a ConfigMap), so it must be
// something else. A single unknown field may be one of metadata in the wrong place.
bool is_something_else(const doc::Value& value, const Schema& schema) {
  if (schema.type != schema::FieldType::kObject || schema.fields.empty() || schema.items != nullptr) return false;
  int surplus = 0;
  for (const doc::Value::Member& member : *value.as_object())
    if (member.key != "apiVersion" && member.key != "kind") surplus += schema.fields.contains(member.key) ? -1 : 1;
  return surplus > 0;
}

// Kinds that are not known, told anew: only where the apiVersion and the fields fit what was probably meant (other
// groups have kinds of like names). In words only: which object it is, its author knows. Other unknown kinds are
// counted.
void tell_misspelt_kinds(const Bundle& bundle, Diagnostics& out) {
  std::erase_if(out.mutable_all(), [](const Diagnostic& finding) { return finding.says == doc::Says::kUnknownKind; });
  std::map<std::string, size_t> told;  // findings by apiVersion and kind: one for all objects
  for (const Document& document : bundle.documents) {
    const std::string& kind = document.kind;
    if (find_schema("", kind) != nullptr || find_kind(kind) != nullptr) continue;
    std::string meant = api::nearest_kind(kind);
    if (find_schema(document.api_version, meant) == nullptr) {
      const std::vector<std::string> kinds = schema::schema_kinds();
      meant = doc::nearest(kind, {kinds.begin(), kinds.end()});
    }
    const Schema* schema = meant.empty() ? nullptr : find_schema(document.api_version, meant);
    if (schema == nullptr || is_something_else(document.value, *schema)) continue;
    const doc::Span& span = document.value.find("kind")->span;
    const auto [first, fresh] = told.try_emplace(document.api_version + " " + kind, out.all().size());
    if (!fresh) {
      out.mutable_all()[first->second].note(span, "here, too");
      continue;
    }
    // A plural or other capitals: what the API server answers is known.
    const bool sure = lower(kind) == lower(meant) || lower(kind) == lower(meant) + "s" ||
                      (lower(meant).ends_with('y') && lower(kind) == lower(meant.substr(0, meant.size() - 1)) + "ies");
    const std::string text = sure ? fmt::format("no API server has the kind '{}': it refuses the object", kind)
                                  : fmt::format("unknown kind '{}'; its objects are skipped", kind);
    (sure ? out.error("RB-API-001", span, text) : out.warning("RB-API-001", span, text))
        .with_fix(fmt::format("did you mean '{}'?", meant))
        .of(doc::Layer::kObject)
        .that_says(doc::Says::kUnknownKind);
  }
}

// A page or a script may have one object in several ways, to choose from or one after the other, and a patch of
// kustomize bears the name of the object that it changes; among manifests it is a mistake.
void drop_alternatives(const Bundle& bundle, const std::set<std::string>& patches, Diagnostics& out) {
  std::set<const doc::Source*> pages;
  for (const Document& document : bundle.documents)
    if (document.origin == Origin::kFence || document.origin == Origin::kScript)
      pages.insert(document.value.span.source.get());
  if (pages.empty() && patches.empty()) return;
  const auto is_patch = [&](const doc::Span& place) { return place.known() && patches.contains(place.source->name); };
  std::erase_if(out.mutable_all(), [&](const Diagnostic& finding) {
    if (finding.says != doc::Says::kGivenTwice || finding.notes.empty()) return false;
    const doc::Span& first = finding.notes[0].span;
    const bool one_page = pages.contains(finding.span.source.get()) && first.source == finding.span.source;
    return one_page || is_patch(finding.span) || is_patch(first);
  });
}

// Values that Ansible, the shell, envsubst or Helm will insert cannot be checked. In manifest files that is said once:
// elsewhere everybody sees that they are code.
void drop_what_is_filled_in(const Bundle& bundle, Diagnostics& findings) {
  std::map<const doc::Source*, std::vector<doc::Span>> in_files;
  for (const Document& document : bundle.documents)
    if (document.origin == Origin::kFile) in_files[document.value.span.source.get()];
  std::erase_if(findings.mutable_all(), [&](const Diagnostic& finding) {
    const bool of_a_key = finding.says == doc::Says::kUnknownField || finding.says == doc::Says::kMisplacedField;
    const bool of_the_text = finding.layer == doc::Layer::kText;
    if (of_a_key || of_the_text || !is_filled_in(finding.span)) return false;
    const auto file = in_files.find(finding.span.source.get());
    if (file != in_files.end()) file->second.push_back(finding.span);
    return true;
  });
  for (const auto& file : in_files) {
    const std::vector<doc::Span>& places = file.second;
    if (places.empty()) continue;
    const bool told = std::ranges::any_of(findings.all(), [&file](const Diagnostic& finding) {
      return finding.says == doc::Says::kFilledIn && finding.span.source.get() == file.first;
    });
    if (told) continue;
    const auto first = std::ranges::min(places, {}, &doc::Span::offset);
    findings.note("RB-DOC-006", first, "values from here on are filled in later and are not checked")
        .that_says(doc::Says::kFilledIn)
        .with_fix("check the result: envsubst < FILE | railbed check -");
  }
}

// What was changed for reading only (callouts of AsciiDoc) is no text to repair.
void drop_edits_of_others(const std::vector<doc::SourcePtr>& sources, Diagnostics& findings) {
  for (Diagnostic& finding : findings.mutable_all())
    std::erase_if(finding.edits,
                  [&](const doc::Edit& edit) { return std::ranges::find(sources, edit.source) == sources.end(); });
}

// Whether an API server printed the object: its author did not write it, and leaves out what he likes.
bool is_of_the_server(const doc::Value& value) {
  static constexpr std::string_view kPaths[] = {"status", "metadata.status", "metadata.creationTimestamp",
                                                "metadata.resourceVersion", "metadata.uid"};
  return std::ranges::any_of(kPaths, [&](std::string_view path) { return at(value, path) != nullptr; });
}

// A patch of kustomize is a part of an object, and a page may show one: nothing is missing in it, and directives say
// how it is merged.
void drop_what_parts_may_do(const Bundle& bundle, const std::set<std::string>& patches, Diagnostics& findings) {
  std::set<const doc::Source*> pages;
  for (const Document& document : bundle.documents)
    if (document.origin == Origin::kFence) pages.insert(document.value.span.source.get());
  std::optional<ObjectIndex> objects;  // made when it is needed: few texts have such a finding, and many are tried
  std::erase_if(findings.mutable_all(), [&](const Diagnostic& finding) {
    if (finding.layer != doc::Layer::kObject || !finding.span.known()) return false;
    if (finding.says == doc::Says::kUnknownField || finding.says == doc::Says::kMisplacedField) {
      const std::string_view path = finding.subject.field;
      return is_merge_directive(path.substr(path.find_last_of(".[") + 1));
    }
    if (!is_missing(finding)) return false;
    const doc::Source* source = finding.span.source.get();
    if (patches.contains(source->name)) return true;
    const std::string& field = finding.subject.field;
    const bool whole = finding.says == doc::Says::kMissingField && (field == "metadata" || field == "spec");
    if (whole && pages.contains(source)) return true;
    if (!objects) objects.emplace(bundle);
    const Document* document = objects->at(finding.span);
    if (document == nullptr) return false;
    return document->elided || has_merge_directive(document->value) ||
           (pages.contains(source) && is_of_the_server(document->value));
  });
}

// What the texts say as they stand, with the repairs that single findings offer. `patches`: sources that are patches by
// what is said of them elsewhere.
Reading read_as_it_is(const std::vector<doc::SourcePtr>& sources, const std::set<std::string>& patches) {
  Reading reading;
  // All other findings about a text with no-break spaces are consequences, so it is repaired and read again first.
  bool again = false;
  for (const doc::SourcePtr& source : sources) again |= tell_no_break_spaces(source, reading.findings);
  if (again) return reading;
  reading.bundle = read_bundle(sources, reading.findings);
  reading.patches = patches;
  for (const auto& [name, kustomization] : patch_files(reading.bundle)) reading.patches.insert(name);
  for (Document& document : reading.bundle.documents)
    document.patch =
        document.value.span.source != nullptr && reading.patches.contains(document.value.span.source->name);
  std::vector<const doc::Value*> values;
  for (const doc::Value& value : reading.bundle.without_kind)
    if (has_parts_of_manifest(value)) values.push_back(&value);
  for (const Document& document : reading.bundle.documents) {
    values.push_back(&document.value);
    check_addresses(document, reading.findings);
  }
  Diagnostics found;
  reading.objects = api::load_documents(values, found, api::Compared::kAllKinds);
  std::erase_if(found.mutable_all(), is_for_other_verbs);
  // railbed reads the object anyway, and an API server does not.
  for (Diagnostic& finding : found.mutable_all())
    if (finding.says == doc::Says::kWrongVersion) finding.severity = doc::Severity::kError;
  tell_misspelt_kinds(reading.bundle, found);
  drop_alternatives(reading.bundle, reading.patches, found);
  reading.findings.append(std::move(found));
  drop_what_is_filled_in(reading.bundle, reading.findings);
  drop_what_parts_may_do(reading.bundle, reading.patches, reading.findings);
  add_moves(reading.bundle.documents, reading.findings);
  drop_edits_of_others(sources, reading.findings);
  fold(reading.findings);
  return reading;
}

// The same, and looks for repairs by trying them; for that, `bytes` may be read.
Reading read(const std::vector<doc::SourcePtr>& sources, size_t& bytes) {
  Reading reading = read_as_it_is(sources, {});
  const auto try_text = [&reading](const doc::SourcePtr& source) {
    Reading one = read_as_it_is({source}, reading.patches);
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
    texts.to_given(done);
    repaired.append(std::move(done));
  }
}

// Kinds that make pods. Where no pod is found in one, nothing of it was looked at, although its name is known.
bool is_workload(std::string_view kind) {
  static constexpr std::string_view kKinds[] = {
      "Job",        "InferenceService", "LLMInferenceService", "PyTorchJob", "MPIJob",         "RayCluster", "RayJob",
      "RayService", "TrainJob",         "PodTemplate",         "JobSet",     "LeaderWorkerSet"};
  return std::ranges::find(kKinds, kind) != std::end(kKinds);
}

// Objects of sources that an earlier check of the run has counted are not counted again.
void count(const Bundle& bundle, std::span<const PodTemplate> pods, const std::set<std::string>& counted,
           Report& report) {
  const auto is_counted = [&](const doc::Span& span) {
    return span.source != nullptr && counted.contains(span.source->name);
  };
  std::set<const Document*> with_pods;
  for (const PodTemplate& pod : pods) with_pods.insert(pod.document);
  for (const Document& document : bundle.documents) {
    const doc::Span& span = document.value.span;
    if (is_counted(span)) continue;
    const bool read = with_pods.contains(&document) || find_schema(document.api_version, document.kind) != nullptr ||
                      (is_known(document) && !is_workload(document.kind));
    ++(read ? report.kinds : report.unknown_kinds)[document.kind];
    if (span.source != nullptr) ++report.read_from[span.source->name];
  }
  report.commands = static_cast<int>(
      std::ranges::count_if(bundle.commands, [&](const Command& one) { return !is_counted(one.span); }));
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

void add_coverage(Coverage&& from, Coverage& to) {
  for (const auto& [name, number] : from.classes) to.classes[name] += number;
  to.pods += from.pods;
  move_to_the_end(std::move(from.not_read), to.not_read);
}

}  // namespace

void Report::add(Report other) {
  findings.append(std::move(other.findings));
  move_to_the_end(std::move(other.repairs), repairs);
  move_to_the_end(std::move(other.sources), sources);
  move_to_the_end(std::move(other.ignored), ignored);
  move_to_the_end(std::move(other.object_states), object_states);
  move_to_the_end(std::move(other.incomplete), incomplete);
  add_coverage(std::move(other.coverage), coverage);
  used_ignores.merge(other.used_ignores);
  for (const auto& [name, number] : other.read_from) read_from[name] += number;
  for (const auto& [kind, number] : other.kinds) kinds[kind] += number;
  for (const auto& [kind, number] : other.unknown_kinds) unknown_kinds[kind] += number;
  not_checked = std::move(other.not_checked);
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

void run_rules(const Input& input, Diagnostics& findings) {
  for (const Rule& rule : all_rules()) {
    if (rule.needs == Needs::kFacts && input.nodes.empty()) continue;
    Findings told(rule, findings);
    rule.run(input, told);
  }
}

}  // namespace

Diagnostics rule_findings(const std::vector<doc::SourcePtr>& sources, const api::Objects& objects,
                          const graph::Catalog& catalog, std::span<const graph::Graph> graphs,
                          std::span<const facts::NodeFacts> nodes, const Settings& settings) {
  Diagnostics told_already;
  const Bundle bundle = read_bundle(sources, told_already);
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

Report check(const std::vector<doc::SourcePtr>& all_sources, const std::vector<facts::NodeFacts>& nodes,
             const Settings& given) {
  Report report;
  for (const doc::SourcePtr& source : all_sources) report.sources.push_back(source->name);
  const std::vector<doc::SourcePtr> sources = bounded(all_sources, report);
  report.nodes = static_cast<int>(nodes.size());
  Texts texts(sources);
  const Reading reading = read_and_repair(texts, given, report.findings);

  Settings settings = given;
  settings.graph.resource_prefix = resource_prefix(reading.bundle, given);
  Diagnostics found = reading.findings;
  const std::vector<PodTemplate> pods = find_pods(reading.bundle);
  const graph::Resolution resolved(reading.objects, nodes, settings.graph, graph::PodPlacement::kChecked, found);
  const Views views = make_views(reading.bundle, pods, resolved.graphs, settings);
  tell_missing_networks(reading.bundle, views, found);
  drop_what_claims_give(reading.bundle, found);
  run_rules({reading.bundle, pods, reading.objects, resolved.catalog, resolved.graphs, nodes, settings, views}, found);
  for (const Rule& rule : all_rules())
    if (rule.needs == Needs::kFacts && nodes.empty()) report.not_checked.push_back(rule);

  std::erase_if(found.mutable_all(), is_for_other_verbs);
  drop_what_is_filled_in(reading.bundle, found);
  fold(found);
  fold_follow_ons(reading.bundle, found);
  name_subjects(reading.bundle, found);
  judge(reading.bundle, settings, found);
  drop_edits_of_others(texts.current(), found);
  Texts fixed = texts;
  fixed.apply(found, settings.least_repair);
  report.repairs = fixed.repairs();
  texts.to_given(found);
  report.findings.append(std::move(found));
  count(reading.bundle, pods, given.counted, report);
  report.coverage.pods = static_cast<int>(pods.size());
  if (given.object_states)
    report.object_states = object_states_of(reading.bundle, [&](const doc::Span& place) { return texts.back(place); });
  finish_report(sources, given, report);
  return report;
}

}  // namespace railbed::check

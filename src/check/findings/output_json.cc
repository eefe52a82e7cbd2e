// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/well_known.h"
#include "check/findings/judgement.h"
#include "check/findings/output.h"
#include "check/findings/unread_objects.h"

namespace railbed::check {
namespace {

using doc::Value;

void add_place(Value& out, const doc::Span& span) {
  if (span.source == nullptr) return;
  out.set("file", span.source->name);
  if (!span.known()) return;
  out.set("line", span.line);
  out.set("column", span.column);
  out.set("length", std::max(span.length, 1));
}

Value numbers(const std::map<std::string, int>& kinds) {
  Value out = Value::object();
  for (const auto& [kind, count] : kinds) out.set(kind, count);
  return out;
}

}  // namespace

namespace {

Value place_with_message(const doc::Diagnostic::Note& note) {
  Value place = Value::object();
  add_place(place, note.span);
  place.set("message", note.text);
  return place;
}

// Which object, where the finding is about one.
void add_object(Value& out, const doc::Diagnostic& finding) {
  if (finding.subject.kind.empty()) return;
  out.set("object", finding.subject.object.empty()
                        ? finding.subject.kind
                        : fmt::format("{} {}", finding.subject.kind, finding.subject.object));
  if (!finding.subject.field.empty()) out.set("field", finding.subject.field);
}

// The finding with its object, and the class of that, where its text is no valid YAML.
doc::Diagnostic with_object(const doc::Diagnostic& finding) {
  doc::Diagnostic copy = finding;
  const bool open = finding.layer == doc::Layer::kText && finding.subject.kind.empty() && finding.span.known();
  if (!open) return copy;
  copy.subject = object_by_lines(finding.span.source->text, finding.span.offset);
  if (copy.document_class.empty()) copy.document_class = copy.subject.kind.empty() ? "other" : "manifest";
  return copy;
}

Value finding_value(const doc::Diagnostic& given, const std::string& fingerprint) {
  const doc::Diagnostic finding = with_object(given);
  Value one = Value::object();
  one.set("id", finding.id);
  one.set("severity", doc::severity_name(finding.severity));
  one.set("confidence", doc::confidence_name(finding.confidence));
  if (!finding.document_class.empty()) one.set("class", finding.document_class);
  if (!finding.why.empty()) one.set("why", finding.why);
  if (finding.preview) one.set("preview", true);
  add_place(one, finding.span);
  add_object(one, finding);
  one.set("message", finding.message);
  if (!finding.fix.empty()) one.set("fix", finding.fix);
  one.set("fixable", finding.applicability == doc::Applicability::kSafe);
  one.set("applicability", doc::applicability_name(finding.applicability));
  if (!fingerprint.empty()) one.set("fingerprint", fingerprint);
  if (!finding.notes.empty()) {
    Value& notes = one.set("notes", Value::array());
    for (const doc::Diagnostic::Note& note : finding.notes) notes.push(place_with_message(note));
  }
  return one;
}

std::string_view by_name(Ignored::By by) {
  static constexpr std::string_view kNames[] = {"comment", "project", "baseline"};
  return kNames[static_cast<size_t>(by)];
}

Value ignored_value(const Ignored& ignored) {
  Value one = Value::object();
  one.set("id", ignored.finding.id);
  one.set("by", by_name(ignored.by));
  if (!ignored.reason.empty()) one.set("reason", ignored.reason);
  add_place(one, ignored.finding.span);
  add_object(one, ignored.finding);
  one.set("fingerprint", ignored.finding.fingerprint);
  return one;
}

}  // namespace

Value to_value(const Coverage& coverage) {
  Value out = Value::object();
  out.set("documents", numbers(coverage.classes));
  out.set("pods", coverage.pods);
  Value& not_read = out.set("notRead", Value::array());
  for (const NotRead& one : coverage.not_read) {
    Value entry = Value::object();
    entry.set("name", one.name);
    entry.set("why", one.why);
    if (!one.command.empty()) entry.set("command", one.command);
    not_read.push(std::move(entry));
  }
  return out;
}

Value to_value(const Report& report) {
  Value findings = Value::array();
  const std::vector<std::string> prints = fingerprints(report.findings);
  for (size_t i = 0; i < prints.size(); ++i) findings.push(finding_value(report.findings.all()[i], prints[i]));
  Value out = Value::object();
  out.set("apiVersion", kOwnApiVersion);
  out.set("kind", "CheckReport");
  out.set("findings", std::move(findings));
  out.set("objects", numbers(report.kinds));
  out.set("unknownKinds", numbers(report.unknown_kinds));
  out.set("commands", report.commands);
  out.set("nodes", report.nodes);
  if (!report.grouped.empty()) out.set("grouped", report.grouped);
  out.set("suppressed", report.suppressed);
  Value& ignored = out.set("ignored", Value::array());
  for (const Ignored& one : report.ignored) ignored.push(ignored_value(one));
  if (report.known > 0 || report.gone > 0) {
    Value& baseline = out.set("baseline", Value::object());
    baseline.set("known", report.known);
    baseline.set("gone", report.gone);
  }
  out.set("leftOut", report.left_out);
  out.set("coverage", to_value(report.coverage));
  Value& incomplete = out.set("incomplete", Value::array());
  for (const std::string& why : report.incomplete) incomplete.push(why);
  Value& not_checked = out.set("notChecked", Value::array());
  for (const Rule& rule : report.not_checked) not_checked.push(rule.id);
  if (report.undecided.empty()) return out;
  Value& not_known = out.set("notKnown", Value::array());
  for (const Undecided& one : report.undecided) {
    Value& item = not_known.push(Value::object());
    item.set("id", one.rule);
    item.set("message", one.what);
  }
  return out;
}

}  // namespace railbed::check

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include "check/findings/output.h"
#include "doc/json.h"
#include "doc/text.h"
#include "findings/explain.h"

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

Value to_value(const Report& report) {
  Value findings = Value::array();
  for (const doc::Diagnostic& finding : report.findings.all()) {
    Value one = Value::object();
    one.set("id", finding.id);
    one.set("severity", doc::severity_name(finding.severity));
    add_place(one, finding.span);
    one.set("message", finding.message);
    if (!finding.fix.empty()) one.set("fix", finding.fix);
    one.set("fixable", !finding.edits.empty());
    if (!finding.notes.empty()) {
      Value& notes = one.set("notes", Value::array());
      for (const doc::Diagnostic::Note& note : finding.notes) {
        Value place = Value::object();
        add_place(place, note.span);
        place.set("message", note.text);
        notes.push(std::move(place));
      }
    }
    findings.push(std::move(one));
  }
  Value out = Value::object();
  out.set("apiVersion", "railbed.dev/v1");
  out.set("kind", "CheckReport");
  out.set("findings", std::move(findings));
  out.set("objects", numbers(report.kinds));
  out.set("unknownKinds", numbers(report.unknown_kinds));
  out.set("commands", report.commands);
  out.set("nodes", report.nodes);
  if (!report.grouped.empty()) out.set("grouped", report.grouped);
  out.set("suppressed", report.suppressed);
  Value& not_checked = out.set("notChecked", Value::array());
  for (const Rule& rule : report.not_checked) not_checked.push(rule.id);
  return out;
}

namespace {

Value text(std::string_view words) {
  Value out = Value::object();
  out.set("text", words);
  return out;
}

int64_t characters(std::string_view bytes) {
  return std::ranges::count_if(bytes, [](char c) { return !doc::is_utf8_continuation(c); });
}

Value location(const doc::Span& span) {
  Value physical = Value::object();
  physical.set("artifactLocation", Value::object()).set("uri", span.source->name);
  if (span.known()) {
    Value& region = physical.set("region", Value::object());
    region.set("startLine", span.line);
    // SARIF counts columns in characters, a Span in bytes.
    const std::string_view text = span.source->text;
    const size_t before = std::min(static_cast<size_t>(span.column) - 1, size_t{span.offset});
    const int64_t column = characters(text.substr(span.offset - before, before)) + 1;
    const int64_t width = characters(text.substr(span.offset, static_cast<size_t>(span.length)));
    region.set("startColumn", column);
    region.set("endColumn", column + std::max<int64_t>(width, 1));
  }
  Value out = Value::object();
  out.set("physicalLocation", std::move(physical));
  return out;
}

Value sarif_fix(const doc::Diagnostic& finding) {
  Value replacements = Value::array();
  for (const doc::Edit& edit : finding.edits) {
    Value one = Value::object();
    Value& region = one.set("deletedRegion", Value::object());
    region.set("byteOffset", static_cast<int64_t>(edit.offset));
    region.set("byteLength", static_cast<int64_t>(edit.length));
    one.set("insertedContent", text(edit.text));
    replacements.push(std::move(one));
  }
  Value change = Value::object();
  change.set("artifactLocation", Value::object()).set("uri", finding.span.source->name);
  change.set("replacements", std::move(replacements));
  Value fix = Value::object();
  fix.set("description", text(finding.fix));
  fix.set("artifactChanges", Value::array()).push(std::move(change));
  return fix;
}

Value result(const doc::Diagnostic& finding) {
  Value out = Value::object();
  out.set("ruleId", finding.id);
  out.set("level", doc::severity_name(finding.severity));
  out.set("message",
          text(finding.fix.empty() ? finding.message : fmt::format("{} (fix: {})", finding.message, finding.fix)));
  if (finding.span.source != nullptr) out.set("locations", Value::array()).push(location(finding.span));
  Value related = Value::array();
  for (const doc::Diagnostic::Note& note : finding.notes) {
    if (note.span.source == nullptr) continue;
    Value one = location(note.span);
    one.set("message", text(note.text));
    related.push(std::move(one));
  }
  if (!related.as_array()->empty()) out.set("relatedLocations", std::move(related));
  // Edits of a later round refer to a text that the user does not have.
  const bool of_this_text =
      std::ranges::all_of(finding.edits, [&](const doc::Edit& edit) { return edit.source == finding.span.source; });
  if (!finding.edits.empty() && of_this_text) out.set("fixes", Value::array()).push(sarif_fix(finding));
  return out;
}

}  // namespace

std::string to_sarif(const Report& report) {
  Value rules = Value::array();
  std::set<std::string_view> named;
  for (const doc::Diagnostic& finding : report.findings.all()) {
    const findings::Explanation* known = findings::explain(finding.id);
    if (known == nullptr || !named.insert(known->id).second) continue;
    Value rule = Value::object();
    rule.set("id", known->id);
    rule.set("shortDescription", text(known->title));
    rule.set("fullDescription", text(known->story));
    rules.push(std::move(rule));
  }
  Value driver = Value::object();
  driver.set("name", "railbed");
  driver.set("version", RAILBED_VERSION);
  driver.set("rules", std::move(rules));
  Value run = Value::object();
  run.set("tool", Value::object()).set("driver", std::move(driver));
  run.set("columnKind", "unicodeCodePoints");
  Value& results = run.set("results", Value::array());
  for (const doc::Diagnostic& finding : report.findings.all()) results.push(result(finding));
  Value out = Value::object();
  out.set("$schema", "https://json.schemastore.org/sarif-2.1.0.json");
  out.set("version", "2.1.0");
  out.set("runs", Value::array()).push(std::move(run));
  return doc::to_json(out, 2) + "\n";
}

}  // namespace railbed::check

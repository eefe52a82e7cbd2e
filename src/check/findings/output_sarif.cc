// SPDX-License-Identifier: Apache-2.0
// SARIF 2.1.0, as code scanning wants it: URIs relative to the repository's root, a fingerprint and a level for every
// result, what was not read as notifications instead of results.
#include <algorithm>
#include <map>

#include "base/text.h"
#include "check/findings/judgement.h"
#include "check/findings/output.h"
#include "check/project/rule_names.h"
#include "check/read/paths.h"
#include "check/read/rendered.h"
#include "check/rules/maturity.h"
#include "doc/json.h"
#include "doc/text.h"
#include "findings/explain.h"

namespace railbed::check {
namespace {

using doc::Diagnostic;
using doc::Value;

// Longer texts of a rule are refused.
constexpr size_t kMaxDescription = 1000;
constexpr std::string_view kStandardInput = "<stdin>";
// Where the pages of docs/ are published.
constexpr std::string_view kDocumentation = "https://railbed.dev/";

Value sarif_text(std::string_view words) {
  Value out = Value::object();
  out.set("text", doc::as_utf8(words));
  return out;
}

int64_t characters(std::string_view bytes) {
  return std::ranges::count_if(bytes, [](char c) { return !doc::is_utf8_continuation(c); });
}

// At most `most` bytes, ending with a whole character.
std::string_view beginning(std::string_view text, size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && doc::is_utf8_continuation(text[most])) --most;
  return text.substr(0, most);
}

// RFC 3986: everything but unreserved characters and the slashes of a path. ':' is encoded, too, since a relative
// reference must not look as if it had a scheme.
std::string percent_encoded(std::string_view path) {
  static constexpr std::string_view kUnreserved = "-._~/";
  std::string out;
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (letter || kUnreserved.find(c) != std::string_view::npos)
      out += c;
    else
      out += fmt::format("%{:02X}", byte);
  }
  return out;
}

class Sarif {
 public:
  explicit Sarif(const SarifOptions& options) : options_(options) {}

  std::string of(const Report& report) {
    first_source_ = std::make_shared<const doc::Source>(
        doc::Source{report.sources.empty() ? std::string(kStandardInput) : report.sources.front(), ""});
    Value results = Value::array();
    add_results(report, results);
    Value run = Value::object();
    Value& driver = run.set("tool", Value::object()).set("driver", Value::object());
    driver.set("name", "railbed");
    driver.set("version", RAILBED_VERSION);
    driver.set("informationUri", kDocumentation);
    driver.set("rules", std::move(rules_));
    run.set("columnKind", "unicodeCodePoints");
    Value& root = run.set("originalUriBaseIds", Value::object()).set("SRCROOT", Value::object());
    if (!options_.root.empty()) root.set("uri", folder_uri(options_.root));
    root.set("description", sarif_text("the root of the repository"));
    run.set("invocations", Value::array()).push(invocation(report));
    run.set("results", std::move(results));
    Value out = Value::object();
    out.set("$schema", "https://json.schemastore.org/sarif-2.1.0.json");
    out.set("version", "2.1.0");
    out.set("runs", Value::array()).push(std::move(run));
    return doc::to_json(out, 2) + "\n";
  }

 private:
  // A file of the run, as SARIF names it.
  struct Artifact {
    std::string path;
    bool has_lines = true;  // places of the source are places in that file
  };

  static std::string folder_uri(std::string_view folder) {
    return fmt::format("file://{}{}", percent_encoded(folder), folder.ends_with('/') ? "" : "/");
  }

  // What was rendered is in no file: its findings are those of the file that it was rendered from.
  Artifact artifact_of(const std::string& name) const {
    if (name == kStandardInput) return {"stdin"};
    if (!is_rendered(name)) return {name};
    const std::string folder(rendered_folder(name));
    const auto file = options_.rendered_from.find(folder);
    return {file == options_.rendered_from.end() ? folder : file->second, false};
  }

  Value artifact_location(const std::string& name) const {
    const std::string given = artifact_of(name).path;
    const std::string path = plain_path(given.starts_with('/') || options_.folder.empty() || name == kStandardInput
                                            ? given
                                            : fmt::format("{}/{}", options_.folder, given));
    Value out = Value::object();
    const std::string inside = options_.root.ends_with('/') ? options_.root : options_.root + "/";
    if (!path.starts_with('/') || (!options_.root.empty() && path.starts_with(inside))) {
      out.set("uri", percent_encoded(path.starts_with('/') ? path.substr(inside.size()) : path));
      out.set("uriBaseId", "SRCROOT");
    } else {
      out.set("uri", "file://" + percent_encoded(path));
    }
    return out;
  }

  Value location(const doc::Span& span, const doc::Subject* subject) const {
    Value physical = Value::object();
    physical.set("artifactLocation", artifact_location(span.source->name));
    // SARIF counts columns in characters, a Span in bytes.
    if (span.known() && artifact_of(span.source->name).has_lines) {
      Value& region = physical.set("region", Value::object());
      region.set("startLine", span.line);
      const std::string_view source = span.source->text;
      const size_t before = std::min(static_cast<size_t>(span.column) - 1, size_t{span.offset});
      const int64_t column = characters(source.substr(span.offset - before, before)) + 1;
      const int64_t width = characters(source.substr(span.offset, static_cast<size_t>(span.length)));
      region.set("startColumn", column);
      region.set("endColumn", column + std::max<int64_t>(width, 1));
    } else {
      // A result without a line is not shown by any viewer.
      physical.set("region", Value::object()).set("startLine", 1);
    }
    Value out = Value::object();
    out.set("physicalLocation", std::move(physical));
    if (subject != nullptr && !subject->kind.empty()) {
      Value logical = Value::object();
      logical.set("fullyQualifiedName", doc::as_utf8(subject->to_string()));
      logical.set("kind", "object");
      out.set("logicalLocations", Value::array()).push(std::move(logical));
    }
    return out;
  }

  Value fix_of(const Diagnostic& finding) const {
    Value replacements = Value::array();
    for (const doc::Edit& edit : finding.edits) {
      Value one = Value::object();
      Value& region = one.set("deletedRegion", Value::object());
      region.set("byteOffset", static_cast<int64_t>(edit.offset));
      region.set("byteLength", static_cast<int64_t>(edit.length));
      one.set("insertedContent", sarif_text(edit.text));
      replacements.push(std::move(one));
    }
    Value change = Value::object();
    change.set("artifactLocation", artifact_location(finding.span.source->name));
    change.set("replacements", std::move(replacements));
    Value fix = Value::object();
    fix.set("description", sarif_text(finding.fix));
    fix.set("artifactChanges", Value::array()).push(std::move(change));
    return fix;
  }

  // The place of the id among the rules, which has it from now on.
  int64_t rule_index(const Diagnostic& finding) {
    const auto [known, fresh] = indexes_.try_emplace(finding.id, static_cast<int64_t>(indexes_.size()));
    if (!fresh) return known->second;
    Value rule = Value::object();
    rule.set("id", finding.id);
    const findings::Explanation* page = findings::explain(finding.id);
    if (page == nullptr) rule.set("shortDescription", sarif_text(finding.id));
    if (page != nullptr) {
      rule.set("shortDescription", sarif_text(beginning(page->title, kMaxDescription)));
      rule.set("fullDescription",
               sarif_text(beginning(page->story.empty() ? page->title : page->story, kMaxDescription)));
      Value help = sarif_text(page->story);
      help.set("markdown", page->story);
      rule.set("help", std::move(help));
      rule.set("helpUri", fmt::format("{}{}#{}", kDocumentation, page->page, lower(finding.id)));
    }
    rule.set("defaultConfiguration", Value::object()).set("level", doc::severity_name(finding.severity));
    Value& properties = rule.set("properties", Value::object());
    const bool preview = maturity_of(finding.id).state == RuleState::kPreview;
    properties.set("precision", preview ? "medium" : doc::confidence_name(finding.confidence));
    properties.set("problem.severity",
                   finding.severity == doc::Severity::kNote ? "recommendation" : doc::severity_name(finding.severity));
    properties.set("tags", Value::array()).push(family_of(finding.id));
    rules_.push(std::move(rule));
    return known->second;
  }

  Value result(const Diagnostic& finding, const std::string& fingerprint) {
    Value out = Value::object();
    out.set("ruleId", finding.id);
    out.set("ruleIndex", rule_index(finding));
    out.set("level", doc::severity_name(finding.severity));
    const std::string message =
        finding.fix.empty() ? finding.message : fmt::format("{} (fix: {})", finding.message, finding.fix);
    out.set("message", sarif_text(message));
    // Code scanning refuses a result without a place.
    out.set("locations", Value::array())
        .push(finding.span.source != nullptr ? location(finding.span, &finding.subject)
                                             : location({first_source_}, &finding.subject));
    Value related = Value::array();
    for (const Diagnostic::Note& note : finding.notes) {
      if (note.span.source == nullptr) continue;
      Value one = location(note.span, nullptr);
      one.set("message", sarif_text(note.text));
      related.push(std::move(one));
    }
    if (!related.as_array()->empty()) out.set("relatedLocations", std::move(related));
    if (!fingerprint.empty()) {
      Value& prints = out.set("partialFingerprints", Value::object());
      // The first is what code scanning compares, in its form "hash:number".
      prints.set("primaryLocationLineHash", fingerprint.find('-') == std::string::npos
                                                ? fingerprint + ":1"
                                                : fingerprint.substr(0, fingerprint.find('-')) + ":" +
                                                      fingerprint.substr(fingerprint.find('-') + 1));
      prints.set("railbed/v1", fingerprint);
    }
    Value& properties = out.set("properties", Value::object());
    properties.set("confidence", doc::confidence_name(finding.confidence));
    if (!finding.document_class.empty()) properties.set("class", finding.document_class);
    if (!finding.why.empty()) properties.set("why", doc::as_utf8(finding.why));
    // Edits of a later round refer to a text that the user does not have.
    const bool of_this_text =
        std::ranges::all_of(finding.edits, [&](const doc::Edit& edit) { return edit.source == finding.span.source; });
    if (finding.applicability != doc::Applicability::kNone && of_this_text)
      out.set("fixes", Value::array()).push(fix_of(finding));
    return out;
  }

  // What was not read, or not judged, is no result.
  static bool is_notification(const Diagnostic& finding) {
    return finding.severity == doc::Severity::kNote &&
           (finding.says == doc::Says::kNotRead || finding.says == doc::Says::kFilledIn);
  }

  bool is_result(const Diagnostic& finding) const {
    return !is_notification(finding) && (options_.notes || finding.severity != doc::Severity::kNote);
  }

  // Errors first, so that those that are too many are the least.
  void add_results(const Report& report, Value& results) {
    const std::vector<std::string> prints = fingerprints(report.findings);
    for (const doc::Severity severity : {doc::Severity::kError, doc::Severity::kWarning, doc::Severity::kNote})
      for (size_t i = 0; i < prints.size(); ++i) {
        const Diagnostic& finding = report.findings.all()[i];
        if (finding.severity != severity || !is_result(finding)) continue;
        if (results.as_array()->size() >= kMaxSarifResults)
          ++left_out_;
        else
          results.push(result(finding, prints[i]));
      }
    for (const Ignored& one : report.ignored) {
      if (results.as_array()->size() >= kMaxSarifResults) break;
      if (!is_result(one.finding)) continue;
      Value suppressed = result(one.finding, one.finding.fingerprint);
      Value suppression = Value::object();
      suppression.set("kind", one.by == Ignored::By::kComment ? "inSource" : "external");
      suppression.set("status", "accepted");
      if (!one.reason.empty()) suppression.set("justification", doc::as_utf8(one.reason));
      suppressed.set("suppressions", Value::array()).push(std::move(suppression));
      results.push(std::move(suppressed));
    }
  }

  static Value notification(std::string_view level, std::string_view words) {
    Value out = Value::object();
    out.set("level", level);
    out.set("message", sarif_text(words));
    return out;
  }

  Value invocation(const Report& report) const {
    Value out = Value::object();
    out.set("executionSuccessful", report.incomplete.empty());
    out.set("exitCode", options_.exit_status);
    Value& notifications = out.set("toolExecutionNotifications", Value::array());
    for (const std::string& why : report.incomplete) notifications.push(notification("error", why));
    for (const Diagnostic& finding : report.findings.all()) {
      if (!is_notification(finding)) continue;
      Value one = notification("note", finding.message);
      if (finding.span.source != nullptr)
        one.set("locations", Value::array()).push(location(finding.span, &finding.subject));
      one.set("descriptor", Value::object()).set("id", finding.id);
      notifications.push(std::move(one));
    }
    for (const NotRead& one : report.coverage.not_read)
      notifications.push(notification("note", fmt::format("{} is not read: {}", one.name, one.why)));
    const size_t left_out = left_out_ + static_cast<size_t>(report.left_out);
    if (left_out > 0)
      notifications.push(notification(
          "warning", fmt::format("{} more findings are left out: a file has at most {}", left_out, kMaxSarifResults)));
    out.set("properties", Value::object()).set("coverage", to_value(report.coverage));
    return out;
  }

  const SarifOptions& options_;
  doc::SourcePtr first_source_;
  Value rules_ = Value::array();
  std::map<std::string, int64_t> indexes_;
  size_t left_out_ = 0;
};

}  // namespace

std::string to_sarif(const Report& report, const SarifOptions& options) {
  return Sarif(options).of(report);
}

}  // namespace railbed::check

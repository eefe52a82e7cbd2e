// SPDX-License-Identifier: Apache-2.0
#include "check/findings/judged.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include <fmt/core.h>

#include "base/command.h"
#include "base/text.h"
#include "check/findings/fold.h"
#include "check/findings/subjects.h"
#include "check/read/carriers.h"
#include "check/read/classify.h"
#include "check/read/engines.h"
#include "check/read/objects.h"
#include "check/read/patches.h"
#include "check/read/paths.h"
#include "check/read/placeholders.h"
#include "check/read/templates.h"
#include "check/read/text_parts.h"
#include "check/rules/env_settings.h"
#include "doc/members.h"
#include "doc/text.h"
#include "schema/schema.h"

namespace railbed::check {

using doc::Diagnostic;
using doc::Diagnostics;
using doc::Layer;
using doc::Says;
using doc::Value;

namespace {

bool is_of_page(const Bundle& bundle, const doc::Span& span) {
  return span.source != nullptr && is_page(bundle.given(span).source->name);
}

bool is_on_page(const Bundle& bundle, const Document* document, const doc::Span& span) {
  if (document != nullptr && (document->origin == Origin::kFence || document->origin == Origin::kProse)) return true;
  return is_of_page(bundle, span);
}

bool is_name_of_variable(std::string_view text) {
  const Value* prefixes = known_variables().data.find("prefixes");
  return std::ranges::any_of(*prefixes->as_array(),
                             [&](const Value& prefix) { return text.starts_with(*prefix.as_string()); });
}

// Where it would be a type or a name, an upper-case word is a placeholder, too; the name of a variable is none.
bool is_on_placeholder(const Diagnostic& finding) {
  const std::string_view written = written_at(finding.span);
  if (is_name_of_variable(written)) return false;
  if (is_placeholder(written)) return true;
  const bool loose = finding.says == Says::kWrongType || finding.says == Says::kBadName;
  return loose && may_be_placeholder(written);
}

bool is_empty_text(const doc::Span& span) {
  const std::string_view written = written_at(span);
  return written == "\"\"" || written == "''";
}

// Whether the line of a finding about an embedded text has a mark, a comment or dots.
bool is_on_marked_line(const Bundle& bundle, const doc::Span& span) {
  const doc::Span place = bundle.given(span);
  return place.known() && has_mark(doc::line_text(place.source->text, place.line));
}

// Embedded JSON of a page with comments or dots in it.
bool is_abridged(const doc::Span& span) {
  const std::string_view rest =
      std::string_view(span.source->text).substr(std::min<size_t>(span.offset, span.source->text.size()));
  const std::string_view line = rest.substr(0, rest.find('\n'));
  if (line.starts_with('#') || line.starts_with("//") || line.starts_with("...") || line.starts_with("…")) return true;
  return is_placeholder(line.substr(0, line.find_first_of(",}]")));
}

class UnjudgedFilter {
 public:
  explicit UnjudgedFilter(const Bundle& bundle) : bundle_(bundle) {}

  bool drops(const Diagnostic& finding) {
    if (!finding.span.known()) return false;
    if (finding.says == Says::kFilledIn) return false;
    if (finding.layer == Layer::kText) return drops_of_text(finding);
    if (is_set_later(finding)) return true;
    const Document* document = at(finding.span);
    if (finding.says == Says::kUnknownField || finding.says == Says::kMisplacedField)
      return drops_of_key(finding, document);
    if (is_missing(finding) && finding.layer == Layer::kObject) return drops_of_missing(finding, document);
    if (is_filled_in(bundle_.given(finding.span))) return true;
    // Words of commands and of their output are no values of a manifest (PORT_DOWN); their rules know placeholders.
    if (document == nullptr) return false;
    if (is_on_page(bundle_, document, finding.span)) return is_on_placeholder(finding);
    if (is_on_unknown_value(finding)) return true;
    return document->cls.is(DocumentKind::kTemplate) && is_empty_text(finding.span);
  }

  const Document* at(const doc::Span& span) {
    if (!index_) index_.emplace(bundle_);
    return index_->at(span);
  }

 private:
  // Whether a kustomization sets the value that the finding is about, or one that it is compared with.
  bool is_set_later(const Diagnostic& finding) const {
    if (bundle_.is_set_later(finding.span)) return true;
    return finding.layer == Layer::kMeaning && std::ranges::any_of(finding.notes, [&](const Diagnostic::Note& note) {
             return bundle_.is_set_later(note.span);
           });
  }

  // Whether a word stands for the value in a file: what rules make of it is wrong, and of one that a program replaces
  // the form does not matter either.
  static bool is_on_unknown_value(const Diagnostic& finding) {
    const std::string_view written = written_at(finding.span);
    if (is_replaced_word(written)) return true;
    return finding.layer == Layer::kMeaning && finding.says != Says::kPlaceholder && is_sure_placeholder(written);
  }

  // An error of YAML or JSON in a text of an object.
  bool drops_of_text(const Diagnostic& finding) {
    const Document* document = at(finding.span);
    if (document == nullptr) return false;
    const bool page = is_on_page(bundle_, document, finding.span);
    if (page && (document->elided || is_abridged(finding.span) || is_on_placeholder(finding))) return true;
    return is_filled_in(bundle_.given(finding.span)) || is_on_marked_line(bundle_, finding.span);
  }

  bool drops_of_key(const Diagnostic& finding, const Document* document) {
    const std::string_view key = written_at(finding.span);
    const std::string_view path = finding.subject.field;
    if (is_merge_directive(path.substr(path.find_last_of(".[") + 1)) || engine_of_key(key) != nullptr) return true;
    const std::string_view mark = mark_at(bundle_.given(finding.span));
    const bool plain = mark.starts_with('$') && !mark.starts_with("${") && !mark.starts_with("$(");
    if (!mark.empty() && !plain) return true;
    return is_on_page(bundle_, document, finding.span) && is_placeholder(key);
  }

  bool drops_of_missing(const Diagnostic& finding, const Document* document) {
    if (document == nullptr) return false;
    const std::string& field = finding.subject.field;
    const bool whole = finding.says == Says::kMissingField && (field == "metadata" || field == "spec");
    if (document->elided || (whole && is_on_page(bundle_, document, finding.span))) return true;
    if (document->cls.is(DocumentKind::kManifest)) return is_filled_in(bundle_.given(finding.span));
    if (finding.says == Says::kMisspeltField) return false;
    // The sign that is not there is reported, as a warning; what else is missing is not.
    return !(document->cls.is(DocumentKind::kOther) && !is_something_else(*document) &&
             (field == "metadata.name" || field == "metadata"));
  }

  const Bundle& bundle_;
  std::optional<ObjectIndex> index_;  // made when it is needed: few texts have such a finding, and many are tried
};

// Whether an API server gets the object, although its kind is not known: a kind of an operator, with its name. What
// kustomize reads is none.
bool is_object_of_unknown_kind(const Document& document) {
  return !document.data && !document.api_version.empty() && !document.name.empty() &&
         !document.api_version.starts_with("kustomize.config.k8s.io/") && !is_local_config(document.value) &&
         schema::find_schema(document.api_version, document.kind) == nullptr;
}

// Whether an error about a document of this class is certain: only about what an API server gets as it is written, and
// what a page shows whole for a reader to copy.
bool may_be_error(const Document& document, const Diagnostic& finding) {
  switch (document.cls.kind) {
    case DocumentKind::kManifest:
    case DocumentKind::kCarrier:
      return true;
    case DocumentKind::kPage:
      return finding.layer != Layer::kMeaning && !is_missing(finding);
    case DocumentKind::kOther:
      return is_object_of_unknown_kind(document);
    case DocumentKind::kTemplate:
    case DocumentKind::kPart:
    case DocumentKind::kOutput:
    case DocumentKind::kAssertion:
      return false;
  }
  return true;
}

// The line of a place.
std::string_view line_of(const doc::Span& place) {
  const std::string_view text = place.source->text;
  const size_t at = std::min<size_t>(place.offset, text.size());
  const size_t begin = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;  // npos + 1 is 0
  return text.substr(begin, text.find('\n', begin) - begin);
}

// Why an error of YAML or JSON is none of an object's; empty: it is one.
std::string why_no_object(const doc::Span& place, const Diagnostic& finding, TextParts& parts) {
  if (finding.layer != Layer::kText) return "";
  const std::string_view line = trimmed(line_of(place));
  if (is_line_of_stand_in(line) && !is_name_of_variable(line))
    return "a program writes something else in the place of this word";
  const bool page = is_page(place.source->name);
  if ((finding.says != Says::kDuplicateKey && !page) || parts.is_in_an_object(place)) return "";
  return page ? "a part of a manifest, which is not applied alone"
              : "no API server reads this text, and other programs take the last of two equal keys";
}

}  // namespace

void drop_unjudged(const Bundle& bundle, Diagnostics& findings) {
  UnjudgedFilter filter(bundle);
  std::erase_if(findings.mutable_all(), [&](const Diagnostic& finding) { return filter.drops(finding); });
  for (Diagnostic& finding : findings.mutable_all()) {
    if (finding.edits.empty() && finding.fix.empty()) continue;
    const Document* document = finding.layer == Layer::kText ? nullptr : filter.at(finding.span);
    if (document != nullptr && document->cls.is(DocumentKind::kTemplate)) finding.edits.clear();
  }
}

namespace {

// Whether a finding points at the object or a part of it by name, as those about something that it lacks do.
bool points_at_a_name(const Document& document, const Diagnostic& finding) {
  const std::string field = field_at(document.value, finding.span);
  return finding.layer == Layer::kMeaning && (field.empty() || field == "name" || field.ends_with(".name"));
}

}  // namespace

// The only place that decides by its class that a finding is no error.
void limit_by_class(const Bundle& bundle, Diagnostics& findings) {
  std::optional<ObjectIndex> index;
  TextParts parts;
  for (Diagnostic& finding : findings.mutable_all()) {
    if (finding.severity != doc::Severity::kError || !finding.span.known()) continue;
    std::string why = why_no_object(bundle.given(finding.span), finding, parts);
    if (why.empty()) {
      if (!index) index.emplace(bundle);
      const Document* document = index->at(finding.span);
      if (document == nullptr) continue;
      const bool text = finding.layer == Layer::kText;
      if (text && another_object_begins(document->value.span, finding.span)) continue;
      const bool elided = !text && document->elided && points_at_a_name(*document, finding);
      if (!elided && may_be_error(*document, finding)) continue;
      why = elided ? "lines of the object are left out, which may have it"
                   : fmt::format("the object is not a plain manifest: {}", document->cls.why);
    }
    finding.severity = doc::Severity::kWarning;
    if (finding.layer == Layer::kText && is_line_of_stand_in(line_of(finding.span))) finding.fix.clear();
    if (finding.why.empty()) finding.why = std::move(why);
  }
}

namespace {

std::string check_the_result(const Engine* engine, std::string_view file) {
  if (engine == nullptr) return "";
  std::string advice = engine->advice();
  for (const auto& [word, name] : {std::pair<std::string_view, std::string>("FILE", std::string(file)),
                                   std::pair<std::string_view, std::string>("FOLDER", folder_of(file))})
    if (const size_t at = advice.find(word);
        at != std::string::npos && shell_quoted(name) == name)  // or the word stays
      advice.replace(at, word.size(), name);
  return "check the result: " + advice;
}

}  // namespace

void report_filled_in(const Bundle& bundle, Diagnostics& findings) {
  std::set<std::pair<const doc::Source*, size_t>> reported;
  for (const std::vector<Document>* documents : {&bundle.documents, &bundle.aside})
    for (const Document& document : *documents) {
      const bool page = document.cls.is(DocumentKind::kPage);
      if (!document.filled_in.known() ||
          (!page && !document.cls.is(DocumentKind::kTemplate) && document.engine == nullptr))
        continue;
      const doc::Span place = bundle.given(document.filled_in);
      if (!reported.emplace(place.source.get(), page ? document.block : 0).second) continue;
      if (page) {
        findings.note("RB-DOC-006", place, "placeholders from here on are not checked")
            .with_fix("the fields around them are checked")
            .that_says(Says::kFilledIn);
        continue;
      }
      const std::string by = document.engine == nullptr ? "a generator" : document.engine->name;
      findings.note("RB-DOC-006", place, fmt::format("values from here on are filled in by {} and are not checked", by))
          .with_fix(check_the_result(document.engine, place.source->name))
          .that_says(Says::kFilledIn);
    }
}

namespace {

// The real value is not known, so it is not certain that something is wrong.
void limit_placeholder(Diagnostic& finding) {
  if (finding.severity != doc::Severity::kError || finding.layer == Layer::kText) return;
  const std::string_view written = written_at(finding.span);
  // A choice that is only written in capitals has a repair.
  const bool stand_in = finding.edits.empty() && has_stand_in(written) && !is_name_of_variable(written);
  if (finding.says != Says::kPlaceholder && !stand_in && !is_sure_placeholder(written)) return;
  finding.severity = doc::Severity::kWarning;
  if (finding.why.empty()) finding.why = "the value is a placeholder: the real one is not known";
}

}  // namespace

void fold_placeholders(const Bundle& bundle, Diagnostics& findings) {
  std::set<const doc::Source*> applied;
  for (const Document& document : bundle.documents)
    if (document.origin == Origin::kFile || document.origin == Origin::kAnsible)
      applied.insert(document.value.span.source.get());
  const auto is_one = [&](const Diagnostic& finding) {
    const bool values = finding.says == Says::kPlaceholder ||
                        (finding.severity == doc::Severity::kError && finding.layer != Layer::kMeaning &&
                         finding.says != Says::kUnknownField && !is_missing(finding) && is_on_placeholder(finding));
    return values && finding.span.known() && applied.contains(finding.span.source.get());
  };
  std::map<const doc::Source*, std::vector<size_t>> of_file;
  std::vector<Diagnostic>& all = findings.mutable_all();
  for (size_t i = 0; i < all.size(); ++i) {
    if (!is_one(all[i])) continue;
    limit_placeholder(all[i]);
    of_file[all[i].span.source.get()].push_back(i);
  }
  std::set<size_t> dropped;
  for (auto& [source, indices] : of_file) {
    if (indices.size() < 2) continue;
    const size_t first = *std::ranges::min_element(indices, {}, [&](size_t i) { return all[i].span.offset; });
    const bool error = std::ranges::any_of(indices, [&](size_t i) { return all[i].severity == doc::Severity::kError; });
    Diagnostic one{.id = all[first].id,
                   .severity = error ? doc::Severity::kError : doc::Severity::kWarning,
                   .span = all[first].span,
                   .message = fmt::format("this file still has {} placeholders, from {} on", indices.size(),
                                          placeholder_in(written_at(all[first].span)))};
    if (!error) one.why = all[first].why;
    for (const size_t i : indices) {
      if (i != first) one.note(all[i].span, all[i].message);
      dropped.insert(i);
    }
    one.with_fix("write the real values").of(all[first].layer).that_says(Says::kPlaceholder);
    all[first] = std::move(one);
    dropped.erase(first);
  }
  size_t at = 0;
  std::erase_if(all, [&](const Diagnostic&) { return dropped.contains(at++); });
}

namespace {

// The part of an absolute path below what the user named.
std::string_view below_given(std::span<const std::string> given, std::string_view name) {
  if (!name.starts_with('/')) return name;
  size_t longest = 0;
  for (const std::string& root : given)
    if (name.starts_with(root) && (name.size() == root.size() || root.ends_with('/') || name[root.size()] == '/'))
      longest = std::max(longest, root.size());
  name.remove_prefix(longest);
  name.remove_prefix(std::min(name.find_first_not_of('/'), name.size()));
  return name;
}

}  // namespace

void limit_in_test_data(std::span<const std::string> given, Diagnostics& findings) {
  for (Diagnostic& finding : findings.mutable_all()) {
    if (finding.severity != doc::Severity::kError || finding.span.source == nullptr) continue;
    const std::string_view name = below_given(given, finding.span.source->name);
    const std::string_view folder = test_folder(name);
    const std::string_view kept = folder.empty() ? kept_folder(name) : std::string_view();
    if (folder.empty() && kept.empty()) continue;
    finding.severity = doc::Severity::kWarning;
    finding.why = folder.empty() ? fmt::format("files below '{}' are kept, and nothing applies them", kept)
                                 : fmt::format("files below '{}' may be wrong on purpose", folder);
  }
}

namespace {

// Whether the API group of a version has kinds that railbed knows.
bool is_known_api_version(std::string_view version) {
  const size_t slash = version.rfind('/');
  if (slash == std::string_view::npos) return version == "v1";
  return why_it_makes(version.substr(0, slash), "", false).empty();
}

}  // namespace

namespace {

// Whether all fields of the spec are those of one kind of the SR-IOV operator.
bool has_spec_of_ours(const doc::Value& value) {
  const doc::Value* spec = value.find("spec");
  const doc::Value::Object* fields = spec == nullptr ? nullptr : spec->as_object();
  if (fields == nullptr || fields->empty()) return false;
  static constexpr std::string_view kKinds[] = {"SriovNetworkNodePolicy", "SriovNetwork", "SriovIBNetwork"};
  return std::ranges::any_of(kKinds, [&](std::string_view kind) {
    const schema::Schema* schema = schema::find_schema("", kind);
    if (schema == nullptr) return false;
    const auto known = schema->fields.find("spec");
    if (known == schema->fields.end()) return false;
    const schema::Schema* object = schema::object_in(known->second);
    return object != nullptr && std::ranges::all_of(*fields, [&](const doc::Value::Member& field) {
             return object->fields.contains(field.key);
           });
  });
}

bool is_called_patch_file(const doc::Value& value) {
  return value.span.source != nullptr && file_of(value.span.source->name).find("patch") != std::string_view::npos;
}

}  // namespace

bool may_lack_its_kind(const doc::Value& value) {
  const doc::Value::Object* members = value.as_object();
  if (members == nullptr) return false;
  static constexpr std::string_view kKnown[] = {"apiVersion", "metadata",   "spec",     "status",
                                                "data",       "stringData", "type",     "rules",
                                                "subjects",   "roleRef",    "immutable"};
  const auto is_known_key = [&](const doc::Value::Member& member) {
    return std::ranges::find(kKnown, member.key) != std::end(kKnown) || doc::nearest(member.key, {"kind"}) == "kind";
  };
  const std::string version = doc::text_in(value, "apiVersion");
  const bool misspelt = std::ranges::any_of(
      *members, [](const doc::Value::Member& member) { return doc::nearest(member.key, {"kind"}) == "kind"; });
  if (misspelt && !version.empty() && is_known_api_version(version)) return true;
  if (version.empty()) return !is_called_patch_file(value) && has_spec_of_ours(value);
  const doc::Value* metadata = value.find("metadata");
  const bool content = value.find("spec") != nullptr || value.find("data") != nullptr;
  if (metadata == nullptr || !metadata->is_object() || !content) return false;
  return std::ranges::all_of(*members, is_known_key) && is_known_api_version(version);
}

}  // namespace railbed::check

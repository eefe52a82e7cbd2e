// SPDX-License-Identifier: Apache-2.0
#include "check/read/classify.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <tuple>

#include <fmt/core.h>

#include "base/text.h"
#include "check/read/charts.h"
#include "check/read/engines.h"
#include "check/read/patches.h"
#include "check/read/paths.h"
#include "check/read/placeholders.h"
#include "check/read/pod_templates.h"
#include "check/read/templates.h"
#include "doc/members.h"
#include "schema/schema.h"

namespace railbed::check {

using doc::Value;

std::string_view class_name(DocumentKind kind) {
  switch (kind) {
    case DocumentKind::kManifest:
      return "manifest";
    case DocumentKind::kPart:
      return "part";
    case DocumentKind::kTemplate:
      return "template";
    case DocumentKind::kAssertion:
      return "assertion";
    case DocumentKind::kCarrier:
      return "carrier";
    case DocumentKind::kPage:
      return "page";
    case DocumentKind::kOther:
      return "other";
    case DocumentKind::kOutput:
      return "output";
  }
  return "";
}

namespace {

constexpr int kDeepestValue = 64;

// Fields whose texts belong to programs of their own: what looks like a mark there is a variable of the shell, of
// Kubernetes or of a configuration.
bool is_text_of_others(std::string_view key) {
  static constexpr std::string_view kKeys[] = {"command",      "args",          "env",        "data",
                                               "stringData",   "script",        "status",     "subPathExpr",
                                               "capabilities", "managedFields", "description"};
  return std::ranges::find(kKeys, key) != std::end(kKeys);
}

// Keys with '$' that are no variables: directives of merges, references of schemas.
bool is_directive_key(std::string_view key) {
  return is_merge_directive(key) || key == "$ref" || key == "$schema" || key == "$id" || key == "$defs";
}

// Calls `see` with the place of each key, scalar and empty value of an object, and whether it is a key, until it
// returns true. Texts of several lines and of other programs are passed over.
template <typename See>
bool any_text(const Value& value, See see, int depth = 0) {
  if (depth > kDeepestValue) return false;
  if (const Value::Array* items = value.as_array()) {
    if (items->size() == 1 && (*items)[0].is_array() && see(value.span, false)) return true;
    return std::ranges::any_of(*items, [&](const Value& item) { return any_text(item, see, depth + 1); });
  }
  if (const Value::Object* members = value.as_object()) {
    if (members->empty()) return see(value.span, false);
    return std::ranges::any_of(*members, [&](const Value::Member& one) {
      if (is_text_of_others(one.key)) return false;
      if (!is_directive_key(one.key) && see(one.key_span, true)) return true;
      return any_text(one.value, see, depth + 1);
    });
  }
  const bool lines = value.style == doc::Style::kLiteral || value.style == doc::Style::kFolded;
  return !lines && see(value.span, false);
}

// The mark of a key or value; empty: none. A key with '$' alone is a field of some program.
std::string_view mark_of(const doc::Span& place, bool is_key) {
  const std::string_view mark = mark_at(place);
  const bool plain = is_key && mark.starts_with('$') && !mark.starts_with("${") && !mark.starts_with("$(");
  return plain ? std::string_view() : mark;
}

struct MarkInDocument {
  const Engine* engine = nullptr;  // null: no mark
  std::string mark;
  doc::Span place;
};

// The first mark in a document that is not inside a command, a script or data.
MarkInDocument mark_in(const Bundle& bundle, const Document& document, std::string_view file) {
  MarkInDocument found;
  any_text(document.value, [&](const doc::Span& where, bool is_key) {
    const doc::Span place = bundle.given(where);
    const std::string_view mark = mark_of(place, is_key);
    const Engine* engine = mark.empty() ? nullptr : engine_of_mark(mark, file);
    if (engine == nullptr) return false;
    constexpr size_t kShown = 40;
    found = {engine, std::string(mark.substr(0, kShown)), place};
    return true;
  });
  if (found.engine != nullptr || document.value.as_object() == nullptr) return found;
  for (const Value::Member& member : *document.value.as_object())
    if (const Engine* engine = engine_of_key(member.key)) return {engine, member.key, member.key_span};
  return found;
}

}  // namespace

bool is_local_config(const doc::Value& object) {
  const Value* metadata = object.find("metadata");
  const Value* annotations = metadata == nullptr ? nullptr : metadata->find("annotations");
  const Value* local = annotations == nullptr ? nullptr : annotations->find("config.kubernetes.io/local-config");
  return local != nullptr && (local->as_string() == nullptr || *local->as_string() != "false");
}

bool is_something_else(const Document& document) {
  const schema::Schema* schema = schema::find_schema(document.api_version, document.kind);
  const Value::Object* members = document.value.as_object();
  if (schema == nullptr || members == nullptr) return false;
  if (schema->type != schema::FieldType::kObject || schema->fields.empty() || schema->items != nullptr) return false;
  // An object with the parts of a manifest is one, even if lines slipped out of them.
  const Value* metadata = document.value.find("metadata");
  if (metadata != nullptr && metadata->is_object() && document.value.find("spec") != nullptr) return false;
  int surplus = 0;
  for (const Value::Member& member : *members)
    if (member.key != "apiVersion" && member.key != "kind") surplus += schema->fields.contains(member.key) ? -1 : 1;
  return surplus > 0;
}

namespace {

bool has_text_in(const Value& value, std::string_view key) {
  return !doc::text_in(value, key).empty();
}

bool has_name(const Document& document) {
  const Value* metadata = document.value.find("metadata");
  if (metadata == nullptr) return false;
  const Value* name = metadata->find("name");
  const bool of_another_type =
      name != nullptr && !name->is_null() && !name->is_string();  // a number: the schema says it
  return of_another_type || has_text_in(*metadata, "name") || has_text_in(*metadata, "generateName");
}

// A key of Chainsaw: "(length(items))", "(x)->y", "~.(containers)".
bool is_assertion_key(std::string_view key) {
  return (key.starts_with('(') && (key.ends_with(')') || key.find(")->") != std::string_view::npos)) ||
         key.starts_with("~.") || key.starts_with("~(") || key.find(")->") != std::string_view::npos;
}

bool has_assertion_key(const Value& value, int depth = 0) {
  if (depth > kDeepestValue) return false;
  if (const Value::Array* items = value.as_array())
    return std::ranges::any_of(*items, [&](const Value& item) { return has_assertion_key(item, depth + 1); });
  const Value::Object* members = value.as_object();
  return members != nullptr && std::ranges::any_of(*members, [&](const Value::Member& member) {
           return is_assertion_key(member.key) || has_assertion_key(member.value, depth + 1);
         });
}

// kuttl's files: "00-assert.yaml", "01-errors.yaml", and what others call so.
bool is_assertion_file(std::string_view name) {
  std::string_view stem = file_of(name);
  stem = stem.substr(0, stem.find('.'));
  const size_t letters = stem.find_first_not_of("0123456789-_");
  const bool numbered = letters != std::string_view::npos && letters > 0;
  const std::string_view word = letters == std::string_view::npos ? std::string_view() : stem.substr(letters);
  if (word == "assert" || word == "asserts" || stem.ends_with("-assert") || stem.ends_with("_assert")) return true;
  return numbered && (word == "errors" || word == "error" || word.starts_with("assert"));
}

// Whether a kind has a spec that must be there, and only its status is.
bool has_status_only(const Document& document) {
  if (document.value.find("status") == nullptr || document.value.find("spec") != nullptr) return false;
  const schema::Schema* schema = schema::find_schema(document.api_version, document.kind);
  return document.origin == Origin::kFile && (schema == nullptr || schema->fields.contains("spec"));
}

std::string why_assertion(const Document& document, std::string_view file) {
  if (has_assertion_key(document.value)) return "a key in parentheses is an assertion of Chainsaw";
  if (is_assertion_file(file)) return fmt::format("{} is an assertion by its name", file_of(file));
  if (has_status_only(document)) return "it has a status and no spec: it is compared with an object";
  return "";
}

// Whether an API server printed the object: its author did not write it, and leaves out what he likes.
bool is_of_the_server(const Value& value) {
  if (value.find("status") != nullptr) return true;
  const Value* metadata = value.find("metadata");
  static constexpr std::string_view kKeys[] = {"status", "creationTimestamp", "resourceVersion", "uid"};
  return metadata != nullptr &&
         std::ranges::any_of(kKeys, [&](std::string_view key) { return metadata->find(key) != nullptr; });
}

// Whether a name says that a file holds a patch: "cni_path_patch.yaml", "patches/x.yaml".
bool is_called_patch(std::string_view name) {
  const std::string plain = lower(name);
  const std::string_view file = file_of(plain);
  if (file.find("patch") != std::string_view::npos) return true;
  const std::string folder = "/" + folder_of(plain) + "/";
  return folder.find("/patches/") != std::string::npos || folder.find("/patch/") != std::string::npos;
}

// Whether an object whose kind needs a spec has no field but its identity and its labels.
bool is_identity_only(const Document& document) {
  const schema::Schema* schema = schema::find_schema(document.api_version, document.kind);
  const Value::Object* members = document.value.as_object();
  const bool applied = document.origin == Origin::kFile || document.origin == Origin::kAnsible;
  if (!applied || schema == nullptr) return false;
  if (std::ranges::find(schema->required, "spec") == schema->required.end()) return false;
  return std::ranges::all_of(*members, [](const Value::Member& one) {
    return one.key == "apiVersion" || one.key == "kind" || one.key == "metadata";
  });
}

// Labels of an object that is there already, which an apply merges into it.
bool has_labels_only(const Document& document) {
  const Value* metadata = document.value.find("metadata");
  const Value::Object* members = metadata == nullptr ? nullptr : metadata->as_object();
  if (!is_identity_only(document) || members == nullptr || metadata->find("name") == nullptr) return false;
  static constexpr std::string_view kKeys[] = {"name", "namespace", "labels", "annotations"};
  return (metadata->find("labels") != nullptr || metadata->find("annotations") != nullptr) &&
         std::ranges::all_of(
             *members, [](const Value::Member& one) { return std::ranges::find(kKeys, one.key) != std::end(kKeys); });
}

// `spec:` with nothing but comments below it: what there is to choose from, for a generator or a reader.
bool has_spec_of_comments(const Document& document, const doc::Source& source) {
  const Value::Object* members = document.value.as_object();
  const auto spec = std::ranges::find(*members, std::string_view("spec"), &Value::Member::key);
  if (spec == members->end() || !spec->value.is_null() || spec->key_span.source.get() != &source) return false;
  std::string_view rest = std::string_view(source.text).substr(spec->key_span.offset);
  rest.remove_prefix(std::min(rest.find('\n'), rest.size()));
  const size_t next = rest.find_first_not_of(" \t\r\n");
  return next != std::string_view::npos && rest[next] == '#';
}

using NamedObject = std::tuple<std::string, std::string, std::string>;  // group, kind, name

class Classifier {
 public:
  Classifier(Bundle& bundle, const std::map<std::string, std::string>& patches, const Kustomizations& kustomizations)
      : bundle_(bundle),
        patches_(patches),
        kustomizations_(kustomizations),
        charts_(bundle.sources),
        pod_templates_(named_pod_templates(bundle.sources)),
        value_holders_(replacement_sources(bundle)) {
    for (const Document& document : bundle.documents) {
      if (!document.name.empty()) files_of_[identity(document)].insert(file_name(document));
      if (has_status_only(document)) compared_.insert(document.value.span.source.get());
      const Value* spec = document.value.find("spec");
      if (spec != nullptr && spec->is_object() && !spec->as_object()->empty() && patches_.contains(file_name(document)))
        patched_[identity(document)].insert(file_name(document));
    }
  }

  void run() {
    for (Document& document : bundle_.documents) {
      const doc::SourcePtr source = bundle_.given(document.value.span).source;
      if (source == nullptr) continue;
      document.cls = class_of(document, *source);
    }
  }

 private:
  static NamedObject identity(const Document& document) {
    return {std::string(document.group()), document.kind, document.name};
  }
  std::string file_name(const Document& document) const {
    const doc::SourcePtr source = bundle_.given(document.value.span).source;
    return source == nullptr ? "" : source->name;
  }

  DocumentClass class_of(Document& document, const doc::Source& source) {
    using enum DocumentKind;
    document.patch = false;
    if (const std::string why = why_data(document, source.name); !why.empty()) return {kOther, why};
    if (is_local_config(document.value)) return {kOther, "kustomize reads it and does not emit it (local-config)"};
    if (holds_values(document)) return {kOther, "replacements of a kustomization take values from it"};
    if (document.verb == Verb::kDelete) return {kPart, "only its identity: it is deleted"};
    if (const std::string why = why_assertion(document, source.name); !why.empty()) return {kAssertion, why};
    if (compared_.contains(document.value.span.source.get()) && is_identity_only(document))
      return {kAssertion, "it is compared with an object, as those beside it that have a status only"};
    const std::string why =
        document.verb == Verb::kPatch ? "it is patched into an object" : why_patch(document, source);
    document.patch = !why.empty();
    if (document.patch) return {kPart, why};
    if (has_labels_only(document)) return {kPart, "it has labels only: they are merged into an object that is there"};
    if (document.origin == Origin::kAnsible && !document.name.empty() && is_identity_only(document))
      return {kPart, "a task of Ansible names an object that is there"};
    if (has_spec_of_comments(document, source)) return {kPart, "the fields of its spec are comments"};
    if (const std::string by = whose_spec_completes(document, source.name); !by.empty())
      return {kPart, fmt::format("a kustomization patches its spec into it ({})", by)};
    DocumentClass as_template = template_class(document, source);
    if (!document.carrier.empty() && document.carried_as == kPart) return {kPart, "a part, in " + document.carrier};
    if (as_template.is(kTemplate)) return as_template;
    if (!document.carrier.empty() && document.carried_as == kTemplate)
      return {kTemplate, "filled in by " + document.carrier};
    if (const std::string completed = why_pod_template(document, source.name, pod_templates_); !completed.empty())
      return {kPart, completed};
    return plain_class(document);
  }

  // Data of another form than an API server takes, for replacements.
  bool holds_values(const Document& document) const {
    if (document.kind != "ConfigMap" || !value_holders_.contains(document.name)) return false;
    const Value* data = document.value.find("data");
    const Value::Object* members = data == nullptr ? nullptr : data->as_object();
    return members != nullptr && std::ranges::any_of(*members, [](const Value::Member& one) {
             return one.value.is_object() || one.value.is_array();
           });
  }

  // The patch, or the kustomization with it, that gives an object the spec that its own file leaves out; empty: none.
  std::string whose_spec_completes(const Document& document, const std::string& file) const {
    const Value* spec = document.value.find("spec");
    const bool empty = spec == nullptr || spec->is_null() || (spec->is_object() && spec->as_object()->empty());
    if (!empty || document.origin != Origin::kFile || document.name.empty()) return "";
    if (const auto patches = patched_.find(identity(document)); patches != patched_.end())
      for (const std::string& patch : patches->second)
        if (kustomizations_.together(file, patch)) return patch;
    for (const KustomizationRoot& root : kustomizations_.roots())
      if (root.files.contains(file))
        for (const SetField& field : root.sets)
          if (!field.steps.empty() && field.steps.front() == "spec" && field.takes(document)) return root.file;
    return "";
  }

  // Of a file of a chart that helm does not apply.
  std::string why_data(Document& document, const std::string& file) const {
    document.data = false;
    if (document.origin != Origin::kFile || kustomizations_.lists(file)) return "";
    document.chart = charts_.chart_of_template(file);
    const std::string why = charts_.why_data(file);
    document.data = !why.empty();
    return why;
  }

  std::string why_patch(const Document& document, const doc::Source& source) const {
    if (const auto listed = patches_.find(source.name); listed != patches_.end() && document.carrier.empty())
      return fmt::format("a patch that {} lists", listed->second.empty() ? "a kustomization" : listed->second);
    if (has_merge_directive(document.value)) return "a patch: it has a directive of a merge";
    if (document.origin != Origin::kFile || document.name.empty() || !document.carrier.empty()) return "";
    // A patch that nothing lists: its name says so, or it stands beside a kustomization that does not take it.
    if (files_of_.find(identity(document))->second.size() < 2) return "";
    if (is_called_patch(source.name)) return "a patch by its name, of an object that another file has";
    const bool left_out = kustomizations_.in_folder(folder_of(source.name)) && !kustomizations_.lists(source.name);
    return left_out ? "a kustomization beside it leaves it out, and another file has the object" : "";
  }

  DocumentClass template_class(Document& document, const doc::Source& source) {
    using enum DocumentKind;
    if (document.origin != Origin::kFile && (document.origin != Origin::kScript || is_page(source.name))) return {};
    if (const doc::Span place = replaced_word_in(document); place.known())
      return filled(document, nullptr, place,
                    fmt::format("a program replaces values of it ({})", placeholder_in(written_at(place))));
    const Value* metadata = document.value.find("metadata");
    const Value* name = metadata == nullptr ? nullptr : metadata->find("name");
    const doc::Span begin = name == nullptr ? document.value.span : name->span;
    if (const Engine* engine = document.origin == Origin::kFile ? lines_of(source) : nullptr)
      return filled(document, engine, begin, template_of(*engine));
    if (const MarkInDocument mark = mark_in(bundle_, document, source.text); mark.engine != nullptr)
      return filled(document, mark.engine, mark.place, fmt::format("{} ({})", template_of(*mark.engine), mark.mark));
    if (const doc::Span place = stand_in_of_name(metadata); place.known())
      return filled(document, nullptr, place,
                    fmt::format("a template that a program fills ({})", placeholder_in(written_at(place))));
    // `name: ""`: a source CR, whose texts are all empty.
    if (name != nullptr && name->is_string() && name->as_string()->empty())
      return filled(document, engine_of_mark("# $name", source.text), begin,
                    "its name is empty: a source CR that a generator fills in");
    return {};
  }

  // The first value whose word says that a program replaces it.
  static doc::Span replaced_word_in(const Document& document) {
    doc::Span found;
    any_text(document.value, [&](const doc::Span& place, bool is_key) {
      if (is_key || !is_replaced_word(written_at(place))) return false;
      found = place;
      return true;
    });
    return found;
  }

  // The name or namespace that has a word in capitals, or braces, in the place of a part.
  static doc::Span stand_in_of_name(const Value* metadata) {
    if (metadata == nullptr) return {};
    for (const std::string_view key : {"name", "namespace", "generateName"})
      if (const Value* value = metadata->find(key); value != nullptr && value->is_string())
        if (has_stand_in(written_at(value->span))) return value->span;
    return {};
  }

  static DocumentClass filled(Document& document, const Engine* engine, const doc::Span& place, std::string why) {
    document.engine = engine;
    document.filled_in = place;
    return {DocumentKind::kTemplate, std::move(why)};
  }

  // Asked for each document of a file, answered once.
  const Engine* lines_of(const doc::Source& source) {
    if (lines_source_ != &source) {
      lines_source_ = &source;
      lines_engine_ = engine_of_lines(source.text);
    }
    return lines_engine_;
  }

  DocumentClass plain_class(Document& document) const {
    using enum DocumentKind;
    const schema::Schema* schema = schema::find_schema(document.api_version, document.kind);
    if (document.carries && schema == nullptr) return {kCarrier, "it holds other objects"};
    if (!has_text_in(document.value, "apiVersion")) return {kOther, "it has no apiVersion"};
    if (schema == nullptr) return {kOther, fmt::format("{} of {} is not known", document.kind, document.api_version)};
    if (is_something_else(document))
      return {kOther, fmt::format("most of its fields are not those of a {}", document.kind)};
    if (is_in_page(document)) {
      if (is_of_the_server(document.value)) return {kOutput, "an API server printed it"};
      if (const std::string placeholder = first_placeholder(document); !placeholder.empty())
        return {kPage, fmt::format("an example with placeholders ({})", placeholder)};
    }
    if (!has_name(document)) return {kOther, "it has no name"};
    return {kManifest, ""};
  }

  bool is_in_page(const Document& document) const {
    if (document.origin == Origin::kFence || document.origin == Origin::kProse) return true;
    return document.origin == Origin::kScript && is_page(file_name(document));
  }

  static std::string first_placeholder(Document& document) {
    std::string first;
    any_text(document.value, [&](const doc::Span& place, bool) {
      const std::string_view written = written_at(place);
      // Variables of a here-document are the shell's, and everybody sees that.
      const bool mark = has_mark(written);
      if (mark ? document.origin == Origin::kScript : !is_placeholder(written)) return false;
      first = placeholder_in(written);
      document.filled_in = place;
      return true;
    });
    return first;
  }

  Bundle& bundle_;
  const std::map<std::string, std::string>& patches_;
  const Kustomizations& kustomizations_;
  Charts charts_;
  std::set<std::string, std::less<>> pod_templates_;  // names of files that settings name
  std::set<std::string, std::less<>> value_holders_;  // names of ConfigMaps that replacements read
  std::map<NamedObject, std::set<std::string>> files_of_;
  std::map<NamedObject, std::set<std::string>>
      patched_;                            // the patches of kustomizations that have a spec, by what they patch
  std::set<const doc::Source*> compared_;  // with objects that only have a status
  const doc::Source* lines_source_ = nullptr;
  const Engine* lines_engine_ = nullptr;
};

bool is_read_by_rules(const Document& document) {
  if (document.verb == Verb::kDelete || document.patch || document.data || is_local_config(document.value))
    return false;
  switch (document.cls.kind) {
    case DocumentKind::kAssertion:
      return false;
    case DocumentKind::kOther:
      return !is_something_else(document);
    default:
      return true;
  }
}

}  // namespace

void classify(Bundle& bundle, const std::map<std::string, std::string>& patches, const Kustomizations& kustomizations) {
  Classifier(bundle, patches, kustomizations).run();
  mark_set_fields(bundle, kustomizations);
}

void set_aside(Bundle& bundle) {
  const auto aside = std::stable_partition(bundle.documents.begin(), bundle.documents.end(), is_read_by_rules);
  std::move(aside, bundle.documents.end(), std::back_inserter(bundle.aside));
  bundle.documents.erase(aside, bundle.documents.end());
}

}  // namespace railbed::check

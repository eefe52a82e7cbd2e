// SPDX-License-Identifier: Apache-2.0
#include "check/project/project_file.h"

#include <algorithm>
#include <array>
#include <set>

#include "base/well_known.h"
#include "check/project/rule_names.h"
#include "doc/fields.h"
#include "doc/yaml.h"

namespace railbed::check {
namespace {

using doc::Fields;
using doc::Value;

constexpr std::string_view kProjectKind = "CheckProject";
constexpr doc::Family kProjectFamily("RB-PROJECT", 1, 2);
constexpr std::array<std::string_view, 4> kClassNames = {"manifest", "template", "fixture", "page"};
constexpr std::array<std::string_view, 4> kSeverityNames = {"off", "note", "warning", "error"};
constexpr std::string_view kProjectKeys[] = {"exclude",          "class",           "ignore",      "severity",
                                             "cluster-networks", "resource-prefix", "environments"};
constexpr size_t kMaxEntries = 1000;  // of each list; more cannot be deliberate

// By the kind alone where there is one: a manifest that somebody named railbed.yaml has one.
bool is_project_file(const Value& document) {
  const Value::Object* members = document.as_object();
  if (members == nullptr) return false;
  if (const Value* kind = document.find("kind"))
    return kind->as_string() != nullptr && *kind->as_string() == kProjectKind;
  if (document.find("apiVersion") != nullptr) return false;
  return std::ranges::any_of(*members, [](const Value::Member& member) {
    return std::ranges::find(kProjectKeys, member.key) != std::end(kProjectKeys);
  });
}

// Whether a text that is no valid YAML was meant to be one.
bool looks_like_project_file(std::string_view text) {
  if (text.find(kProjectKind) != std::string_view::npos) return true;
  bool has_key = false;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view key = text.substr(0, std::min(text.find(':'), end));
    if (key == "kind" || key == "apiVersion") return false;
    has_key |= std::ranges::find(kProjectKeys, key) != std::end(kProjectKeys);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return has_key;
}

class ProjectReader {
 public:
  ProjectReader(ProjectFile& project, doc::Diagnostics& out) : project_(project), out_(out) {}

  void read(const Value& document) {
    Fields fields(document, "", kProjectFamily, out_);
    read_header(fields);
    read_exclude(fields);
    read_classes(fields);
    read_ignores(fields);
    read_severities(fields);
    fields.read("cluster-networks", project_.cluster_networks, {.entries = kMaxEntries});
    fields.read("resource-prefix", project_.resource_prefix, {.bytes = 253});
    read_environments(fields);
    fields.finish();
  }

 private:
  doc::Diagnostic& wrong(const doc::Span& span, std::string message) {
    return out_.error("RB-PROJECT-002", span, std::move(message));
  }

  void read_header(Fields& fields) {
    const doc::Field<std::string> version = fields.text("apiVersion");
    fields.ignore({"kind"});
    if (!version.value.empty() && version.value != kOwnApiVersion)
      wrong(version.span, fmt::format("apiVersion must be \"{}\", found \"{}\"", kOwnApiVersion, version.value));
  }

  void read_exclude(Fields& fields) {
    const Value::Array* patterns = fields.list("exclude");
    if (patterns == nullptr || too_many("exclude", *patterns)) return;
    for (size_t i = 0; i < patterns->size(); ++i) {
      const Value& pattern = (*patterns)[i];
      const doc::Field<std::string> text = fields.text_of(pattern, fmt::format("exclude[{}]", i));
      if (text.present && is_pattern(text.value, pattern.span))
        project_.exclude.push_back({*text, PathPattern(*text), pattern.span});
    }
  }

  void read_classes(Fields& fields) {
    const Value* classes = fields.object("class");
    if (classes == nullptr) return;
    for (const Value::Member& member : *classes->as_object()) {
      const auto place = word_of(member, "class", kClassNames);
      if (place && is_pattern(member.key, member.key_span))
        project_.classes.push_back({member.key, PathPattern(member.key), static_cast<GivenClass>(*place)});
    }
  }

  // `pattern: [ID, …]`, or an object with the reason.
  void read_ignores(Fields& fields) {
    const Value* ignores = fields.object("ignore");
    if (ignores == nullptr) return;
    for (const Value::Member& member : *ignores->as_object()) {
      ProjectFile::Ignoring one{
          .text = member.key, .pattern = PathPattern(member.key), .rules = {}, .reason = "", .span = member.key_span};
      const std::string path = fmt::format("ignore.{}", member.key);
      if (member.value.is_object()) {
        Fields inner(member.value, path, kProjectFamily, out_);
        inner.require("ids");
        if (inner.list("ids") != nullptr) read_rules(*member.value.find("ids"), path + ".ids", fields, one.rules);
        inner.read("reason", one.reason, {.bytes = 1000});
        inner.finish();
      } else if (member.value.is_array()) {
        read_rules(member.value, path, fields, one.rules);
      } else {
        wrong(member.value.span, fmt::format("{} must be a list of ids, or an object with ids and a reason", path))
            .with_fix(fmt::format("{}: {{ids: [RB-RES-001], reason: why that is right here}}", member.key));
        continue;
      }
      if (is_pattern(member.key, member.key_span)) project_.ignore.push_back(std::move(one));
    }
  }

  void read_rules(const Value& list, const std::string& path, const Fields& fields,
                  std::vector<ProjectFile::RuleName>& rules) {
    const Value::Array& ids = *list.as_array();
    if (too_many(path, ids)) return;
    if (ids.empty()) wrong(list.span, path + " has no rule");
    for (size_t i = 0; i < ids.size(); ++i) {
      const doc::Field<std::string> id = fields.text_of(ids[i], fmt::format("{}[{}]", path, i));
      if (id.present && is_known_rule(id.value, ids[i].span)) rules.push_back({id.value, ids[i].span});
    }
  }

  void read_severities(Fields& fields) {
    const Value* severities = fields.object("severity");
    if (severities == nullptr) return;
    for (const Value::Member& member : *severities->as_object()) {
      const auto place = severity_in(member);
      if (place && is_known_rule(member.key, member.key_span))
        project_.severity.push_back({member.key, static_cast<SetSeverity>(*place)});
    }
  }

  // YAML 1.1 reads the word off as false.
  std::optional<size_t> severity_in(const Value::Member& member) {
    if (const bool* flag = member.value.as_bool(); flag != nullptr && !*flag) return 0;
    return word_of(member, "severity", kSeverityNames);
  }

  void read_environments(Fields& fields) {
    const Value::Array* folders = fields.list("environments");
    if (folders == nullptr || too_many("environments", *folders)) return;
    for (size_t i = 0; i < folders->size(); ++i) {
      const doc::Span& span = (*folders)[i].span;
      const doc::Field<std::string> text = fields.text_of((*folders)[i], fmt::format("environments[{}]", i));
      if (!text.present) continue;
      std::string folder = text.value;
      while (folder.ends_with('/')) folder.pop_back();
      if (folder.starts_with("./")) folder.erase(0, 2);
      if (folder.empty() || folder.starts_with('/') || ("/" + folder + "/").find("/../") != std::string::npos)
        wrong(span,
              fmt::format("environments[{}] must be a folder below the one of this file, found \"{}\"", i, *text));
      else
        project_.environments.push_back({std::move(folder), span});
    }
  }

  template <size_t N>
  std::optional<size_t> word_of(const Value::Member& member, std::string_view field,
                                const std::array<std::string_view, N>& words) {
    const std::string* text = member.value.as_string();
    const auto place = text == nullptr ? words.end() : std::ranges::find(words, *text);
    if (place != words.end()) return static_cast<size_t>(place - words.begin());
    const std::vector<std::string_view> all(words.begin(), words.end());
    const std::string near = text == nullptr ? "" : doc::nearest(*text, all);
    wrong(member.value.span, fmt::format("{}.{} must be {}{}", field, member.key, doc::alternatives(all),
                                         text == nullptr ? "" : fmt::format(", found \"{}\"", *text)))
        .with_fix(near.empty() ? "" : fmt::format("{}: {}", member.key, near));
    return std::nullopt;
  }

  bool is_pattern(std::string_view text, const doc::Span& span) {
    if (text.find_first_not_of("/ ") != std::string_view::npos) return true;
    wrong(span, "an empty pattern fits no file");
    return false;
  }

  bool is_known_rule(std::string_view name, const doc::Span& span) {
    if (is_rule_name(name)) return true;
    const std::string_view near = nearest_rule_name(name);
    wrong(span, fmt::format("unknown rule {}", name))
        .with_fix(near.empty() ? "railbed explain --list shows the rules" : fmt::format("did you mean {}?", near));
    return false;
  }

  bool too_many(std::string_view field, const Value::Array& items) {
    if (items.size() <= kMaxEntries) return false;
    wrong(items.front().span,
          fmt::format("{} has {} entries, at most {} are allowed", field, items.size(), kMaxEntries));
    return true;
  }

  ProjectFile& project_;
  doc::Diagnostics& out_;
};

}  // namespace

std::string_view given_class_name(GivenClass given) {
  return kClassNames[static_cast<size_t>(given)];
}

std::string_view set_severity_name(SetSeverity severity) {
  return kSeverityNames[static_cast<size_t>(severity)];
}

bool ProjectFile::excludes(std::string_view path) const {
  return std::ranges::any_of(exclude, [&](const Exclusion& one) { return one.pattern.covers(path); });
}

std::optional<GivenClass> ProjectFile::class_of(std::string_view path) const {
  const auto last =
      std::find_if(classes.rbegin(), classes.rend(), [&](const Classing& one) { return one.pattern.covers(path); });
  return last == classes.rend() ? std::nullopt : std::optional(last->as);
}

std::optional<SetSeverity> ProjectFile::severity_of(std::string_view id) const {
  const Severing* best = nullptr;
  for (const Severing& one : severity)
    if (names_rule(one.name, id) && (best == nullptr || one.name.size() >= best->name.size())) best = &one;
  return best == nullptr ? std::nullopt : std::optional(best->severity);
}

std::optional<size_t> ProjectFile::environment_of(std::string_view path) const {
  for (size_t i = 0; i < environments.size(); ++i) {
    const std::string& folder = environments[i].folder;
    if (path.starts_with(folder) && path.substr(folder.size()).starts_with('/')) return i;
  }
  return std::nullopt;
}

std::optional<ProjectFile> read_project_file(const doc::SourcePtr& source, doc::Diagnostics& problems) {
  doc::Diagnostics found;
  const std::vector<Value> documents = doc::parse_yaml(source, found);
  if (documents.empty() && found.has_errors() && looks_like_project_file(source->text)) {
    problems.append(std::move(found));
    return std::nullopt;
  }
  if (documents.empty() || !is_project_file(documents.front())) return std::nullopt;
  if (documents.size() > 1)
    found.error("RB-PROJECT-002", documents[1].span, "a project file has one document; this is a second one");
  ProjectFile project{.source = source};
  ProjectReader(project, found).read(documents.front());
  // A field that is not known here may be an exclusion with a typing error: the run would check what it should not.
  for (doc::Diagnostic& one : found.mutable_all()) one.severity = doc::Severity::kError;
  if (found.all().empty()) return project;
  problems.append(std::move(found));
  return std::nullopt;
}

doc::Value to_value(const ProjectFile& project) {
  Value out = Value::object();
  out.set("apiVersion", kOwnApiVersion);
  out.set("kind", kProjectKind);
  Value& exclude = out.set("exclude", Value::array());
  for (const auto& one : project.exclude) exclude.push(one.text);
  Value& classes = out.set("class", Value::object());
  for (const auto& one : project.classes) classes.set(one.text, given_class_name(one.as));
  Value& ignore = out.set("ignore", Value::object());
  for (const auto& one : project.ignore) {
    Value& entry = ignore.set(one.text, Value::object());
    Value& ids = entry.set("ids", Value::array());
    for (const auto& rule : one.rules) ids.push(rule.name);
    if (!one.reason.empty()) entry.set("reason", one.reason);
  }
  Value& severity = out.set("severity", Value::object());
  for (const auto& one : project.severity) severity.set(one.name, set_severity_name(one.severity));
  Value& networks = out.set("cluster-networks", Value::array());
  for (const IpPrefix& network : project.cluster_networks) networks.push(network.to_string());
  if (!project.resource_prefix.empty()) out.set("resource-prefix", project.resource_prefix);
  Value& environments = out.set("environments", Value::array());
  for (const auto& one : project.environments) environments.push(one.folder);
  return out;
}

}  // namespace railbed::check

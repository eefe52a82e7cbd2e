// SPDX-License-Identifier: Apache-2.0
#include "check/read/set_fields.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

#include "check/read/paths.h"
#include "doc/members.h"
#include "doc/yaml.h"

namespace railbed::check {

using doc::Value;

namespace {

// "spec.pfNames.0", "metadata.annotations.k8s\.v1\.cni\.cncf\.io/networks", "spec.containers.[name=a.b].image"
std::vector<std::string> steps_of_field_path(std::string_view path) {
  std::vector<std::string> steps(1);
  bool brackets = false;
  for (size_t i = 0; i < path.size(); ++i) {
    const char c = path[i];
    if (c == '\\' && i + 1 < path.size()) {
      steps.back() += path[++i];
      continue;
    }
    brackets = c == '[' || (brackets && c != ']');
    if (c == '.' && !brackets)
      steps.emplace_back();
    else
      steps.back() += c;
  }
  std::erase_if(steps, [](const std::string& step) { return step.empty(); });
  return steps;
}

// "/spec/pfNames/0", "/metadata/annotations/k8s.v1.cni.cncf.io~1networks"
std::vector<std::string> steps_of_pointer(std::string_view pointer) {
  std::vector<std::string> steps;
  for (size_t i = 0; i < pointer.size(); ++i) {
    const char c = pointer[i];
    if (c == '/') {
      steps.emplace_back();
    } else if (!steps.empty()) {
      const bool escape = c == '~' && i + 1 < pointer.size();
      steps.back() += escape ? (pointer[++i] == '1' ? '/' : '~') : c;
    }
  }
  return steps;
}

// A name is a regular expression there; one that is more than a name fits any.
std::string plain_name(const Value& selection) {
  std::string name = doc::text_in(selection, "name");
  if (name.find_first_of("*+?[(|^$\\") != std::string::npos) name.clear();
  return name;
}

class SetFieldReader {
 public:
  SetFieldReader(const Bundle& bundle, const std::string& name) : bundle_(bundle), folder_(folder_of(name) + "/") {}

  void read(const Value& kustomization) {
    replacements(kustomization.find("replacements"));
    for (const std::string_view key : {"patches", "patchesJson6902"})
      if (const Value::Array* items = doc::list_in(kustomization, key))
        for (const Value& item : *items) patch(item);
    if (const Value::Array* items = doc::list_in(kustomization, "transformers"))
      for (const Value& item : *items) transformer(item);
  }

  std::vector<SetField> take() { return std::move(found_); }

 private:
  // A list of replacements, or one of them.
  void replacements(const Value* value) {
    if (value == nullptr) return;
    if (const Value::Array* items = value->as_array())
      for (const Value& item : *items) replacement(item);
    else if (value->is_object())
      replacement(*value);
  }

  void replacement(const Value& item) {
    for (const Value* value : values_of(doc::text_in(item, "path"))) {
      if (const Value::Array* items = value->as_array())
        for (const Value& one : *items) targets(one);
      else
        targets(*value);
    }
    targets(item);
  }

  void targets(const Value& item) {
    const Value::Array* list = doc::list_in(item, "targets");
    if (list == nullptr) return;
    for (const Value& target : *list) {
      const Value* selection = doc::object_in(target, "select");
      if (selection == nullptr) continue;
      for (const std::string& path : doc::texts_in(target, "fieldPaths")) add(*selection, steps_of_field_path(path));
    }
  }

  // One of `patches`: operations of JSON on what `target` selects.
  void patch(const Value& item) {
    const Value* target = doc::object_in(item, "target");
    if (target == nullptr) return;
    for (const std::string_view key : {"patch", "jsonOp"})
      if (const Value* text = item.find(key); text != nullptr && text->is_string())
        if (const auto value = parsed(*text)) operations(*target, *value);
    for (const Value* value : values_of(doc::text_in(item, "path"))) operations(*target, *value);
  }

  void operations(const Value& target, const Value& value) {
    const Value::Array* list = value.as_array();
    if (list == nullptr) return;
    for (const Value& one : *list)
      if (!doc::text_in(one, "op").empty() && doc::text_in(one, "op") != "test")
        add(target, steps_of_pointer(doc::text_in(one, "path")));
  }

  // A path of a transformer, or the transformer itself as a text.
  void transformer(const Value& item) {
    const std::string* text = item.as_string();
    if (text == nullptr) return;
    if (text->find('\n') != std::string::npos) {
      if (const auto value = parsed(item)) configuration(*value);
      return;
    }
    for (const Value* value : values_of(*text)) configuration(*value);
  }

  void configuration(const Value& value) {
    const std::string kind = doc::text_in(value, "kind");
    if (kind == "ReplacementTransformer") replacements(value.find("replacements"));
    if (kind == "PatchTransformer" || kind == "PatchJson6902Transformer") patch(value);
  }

  static std::optional<Value> parsed(const Value& text) {
    doc::Diagnostics not_reported;
    return doc::parse_embedded_yaml(text, not_reported);
  }

  // The documents of a file that the kustomization names.
  std::vector<const Value*> values_of(const std::string& path) const {
    std::vector<const Value*> values;
    if (path.empty() || path.find('\n') != std::string::npos) return values;
    const std::string wanted = plain_path(folder_ + path);
    const auto add_if_there = [&](const Value& value) {
      const doc::SourcePtr source = bundle_.given(value.span).source;
      if (source != nullptr && plain_path(source->name) == wanted) values.push_back(&value);
    };
    for (const Document& document : bundle_.documents)
      if (document.carrier.empty()) add_if_there(document.value);
    for (const Value& value : bundle_.without_kind) add_if_there(value);
    return values;
  }

  void add(const Value& selection, std::vector<std::string> steps) {
    if (steps.empty()) return;
    found_.push_back({doc::text_in(selection, "kind"), plain_name(selection), std::move(steps)});
  }

  const Bundle& bundle_;
  std::string folder_;
  std::vector<SetField> found_;
};

// Whether an item of a list is the one that "[name=c]" selects.
bool is_selected(const Value& item, std::string_view step) {
  const size_t equals = step.find('=');
  if (equals == std::string_view::npos || step.size() < 4) return false;
  const std::string key(step.substr(1, equals - 1));
  return doc::text_in(item, key) == step.substr(equals + 1, step.size() - equals - 2);
}

void follow_steps(const Value& value, const std::vector<std::string>& steps, size_t at,
                  std::vector<const Value*>& out) {
  if (at == steps.size()) {
    out.push_back(&value);
    return;
  }
  const std::string& step = steps[at];
  if (const Value::Array* items = value.as_array()) {
    size_t index = 0;
    const auto [end, error] = std::from_chars(step.data(), step.data() + step.size(), index);
    const bool number = error == std::errc{} && end == step.data() + step.size();
    for (size_t i = 0; i < items->size(); ++i)
      if (step == "*" || (number && i == index) || (step.starts_with('[') && is_selected((*items)[i], step)))
        follow_steps((*items)[i], steps, at + 1, out);
  } else if (const Value::Object* members = value.as_object()) {
    for (const Value::Member& member : *members)
      if (step == "*" || step == member.key) follow_steps(member.value, steps, at + 1, out);
  }
}

}  // namespace

bool SetField::takes(const Document& document) const {
  return (kind.empty() || kind == document.kind) && (name.empty() || name == document.name);
}

std::vector<SetField> fields_set_by(const Value& kustomization, const std::string& name, const Bundle& bundle) {
  SetFieldReader reader(bundle, name);
  reader.read(kustomization);
  return reader.take();
}

std::vector<const Value*> values_of_steps(const Value& object, const std::vector<std::string>& steps) {
  std::vector<const Value*> values;
  follow_steps(object, steps, 0, values);
  return values;
}

}  // namespace railbed::check

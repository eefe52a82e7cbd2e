// SPDX-License-Identifier: Apache-2.0
#include "check/read/ansible.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "check/read/jinja.h"
#include "doc/yaml.h"

namespace railbed::check {

using doc::Value;

namespace {

constexpr std::array<std::string_view, 5> kModules{"kubernetes.core.k8s", "community.kubernetes.k8s",
                                                   "community.okd.k8s", "redhat.openshift.k8s", "k8s"};
// Where a play or a block keeps its tasks.
constexpr std::array<std::string_view, 7> kTaskLists{"tasks", "pre_tasks", "post_tasks", "handlers",
                                                     "block", "rescue",    "always"};
constexpr std::array<std::string_view, 3> kDefinitions{"definition", "resource_definition", "inline"};

template <size_t n>
bool is_one_of(const std::array<std::string_view, n>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

class Definitions {
 public:
  Definitions(const doc::LineIndex& index, doc::Diagnostics& out) : index_(index), out_(out) {}

  void tasks(const Value& list) {
    const Value::Array* items = list.as_array();
    if (items == nullptr) return;
    for (const Value& item : *items) {
      const Value::Object* members = item.as_object();
      if (members == nullptr) continue;
      if (const Value* vars = item.find("vars"); vars != nullptr && vars->is_object())
        for (const Value::Member& one : *vars->as_object()) vars_.set(one.key, one.value);
      for (const Value::Member& member : *members) {
        if (is_one_of(kTaskLists, member.key)) tasks(member.value);
        if (is_one_of(kModules, member.key)) task(member.value);
      }
    }
  }

  AnsibleContent found;

 private:
  void task(const Value& module) {
    verb_ = verb_of(module);
    for (std::string_view name : kDefinitions)
      if (const Value* definition = module.find(name)) take(*definition);
    for (std::string_view name : {"src", "template"})
      if (const Value* file = module.find(name); file != nullptr && verb_ != Verb::kDelete) not_read(*file);
  }

  static Verb verb_of(const Value& module) {
    const Value* state = module.find("state");
    const std::string* text = state == nullptr ? nullptr : state->as_string();
    if (text == nullptr) return Verb::kApply;
    return *text == "absent" ? Verb::kDelete : *text == "patched" ? Verb::kPatch : Verb::kApply;
  }

  // `template` is a path, or an object with one.
  void not_read(const Value& file) {
    const Value* path = file.is_object() ? file.find("path") : &file;
    if (path != nullptr && path->as_string() != nullptr)
      found.not_read.push_back({*path->as_string(), "a file that a task of Ansible applies", "", true});
  }

  void take(const Value& definition) {
    if (definition.is_object()) keep(definition);
    if (const Value::Array* items = definition.as_array())
      for (const Value& item : *items) take(item);
    // A text with Jinja outside of values is no YAML until it is rendered.
    const std::string* text = definition.as_string();
    if (text == nullptr || text->find("{%") != std::string::npos || text->starts_with("{{")) return;
    if (const auto region = doc::block_region(definition))
      for (Value& value : doc::parse_yaml(definition.span.source, index_, *region, out_)) keep(std::move(value));
  }

  void keep(Value object) {
    fill_in_jinja(object, vars_);
    found.definitions.push_back({std::move(object), verb_});
  }

  Verb verb_ = Verb::kApply;  // of the task

  Value vars_ = Value::object();  // of all plays and tasks so far
  const doc::LineIndex& index_;
  doc::Diagnostics& out_;
};

}  // namespace

bool is_ansible(const Value& document) {
  const Value::Array* items = document.as_array();
  if (items == nullptr) return false;
  constexpr size_t kLookedAt = 50;  // tasks; one of them says what the list is
  const size_t count = std::min(items->size(), kLookedAt);
  return std::any_of(items->begin(), items->begin() + static_cast<std::ptrdiff_t>(count), [](const Value& item) {
    const Value::Object* members = item.as_object();
    return members != nullptr && std::ranges::any_of(*members, [](const Value::Member& member) {
             return member.key == "hosts" || member.key == "import_playbook" || is_one_of(kTaskLists, member.key) ||
                    is_one_of(kModules, member.key) || member.key.starts_with("ansible.builtin.") ||
                    member.key == "include_tasks" || member.key == "import_tasks";
           });
  });
}

AnsibleContent ansible_content(const Value& document, const doc::LineIndex& index, doc::Diagnostics& out) {
  Definitions definitions(index, out);
  definitions.tasks(document);
  return std::move(definitions.found);
}

}  // namespace railbed::check

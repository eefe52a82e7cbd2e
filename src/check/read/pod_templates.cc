// SPDX-License-Identifier: Apache-2.0
#include "check/read/pod_templates.h"

#include <algorithm>
#include <cctype>

#include <fmt/core.h>

#include "base/text.h"
#include "check/read/paths.h"
#include "doc/members.h"

namespace railbed::check {

using doc::Value;

namespace {

// Settings whose value is the path of a pod template.
constexpr std::string_view kPathKeys[] = {"podTemplateFile", "pod_template_file", "POD_TEMPLATE_FILE",
                                          "CONTAINER_HOOK_TEMPLATE"};

// Parts of the names of such files and their folders, in lower case.
constexpr std::string_view kNameParts[] = {"pod-template",      "pod_template",   "podtemplate",  "podspecpatch",
                                           "driver-template",   "hook-extension", "pod-override", "driver_template",
                                           "executor-template", "hook-template",  "pod_override", "executor_template"};

// Containers that such a program knows by name, and the program.
struct KnownContainer {
  std::string_view name;
  std::string_view program;
};
constexpr KnownContainer kContainers[] = {{"spark-kubernetes-driver", "Spark"},
                                          {"spark-kubernetes-executor", "Spark"},
                                          {"jnlp", "Jenkins"},
                                          {"$job", "the runner of GitHub"}};

bool is_byte_of_file_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '.';
}

// The name of the first file of YAML or JSON in a text: "driver.yaml" of ": /opt/spark/driver.yaml".
std::string file_name_in(std::string_view text) {
  for (const std::string_view ending : {".yaml", ".yml", ".json"}) {
    const size_t at = text.find(ending);
    if (at == std::string_view::npos) continue;
    size_t begin = at;
    while (begin > 0 && is_byte_of_file_name(text[begin - 1])) --begin;
    return std::string(text.substr(begin, at + ending.size() - begin));
  }
  return "";
}

// The rest of the line, and the next one: `value:` of a variable stands below its name.
std::string_view two_lines(std::string_view text, size_t at) {
  const size_t first = std::min(text.find('\n', at), text.size());
  const size_t second = first == text.size() ? first : std::min(text.find('\n', first + 1), text.size());
  return text.substr(at, second - at);
}

const KnownContainer* known_container(const Value& object) {
  const Value::Array* list = nullptr;
  if (const Value* spec = object.find("spec"); spec != nullptr) list = doc::list_in(*spec, "containers");
  if (list == nullptr) return nullptr;
  for (const Value& container : *list)
    for (const KnownContainer& known : kContainers)
      if (doc::text_in(container, "name") == known.name) return &known;
  return nullptr;
}

}  // namespace

std::set<std::string, std::less<>> named_pod_templates(const std::vector<doc::SourcePtr>& sources) {
  std::set<std::string, std::less<>> names;
  for (const doc::SourcePtr& source : sources)
    for (const std::string_view key : kPathKeys) {
      const std::string_view text = is_page(source->name) ? std::string_view() : std::string_view(source->text);
      for (size_t at = text.find(key); at != std::string_view::npos; at = text.find(key, at + 1))
        if (std::string name = file_name_in(two_lines(text, at + key.size())); !name.empty())
          names.insert(std::move(name));
    }
  return names;
}

std::string why_pod_template(const Document& document, std::string_view file,
                             const std::set<std::string, std::less<>>& named) {
  if (document.kind != "Pod" || document.origin == Origin::kFence || document.origin == Origin::kProse) return "";
  if (const KnownContainer* known = known_container(document.value); known != nullptr)
    return fmt::format("{} completes it (container {})", known->program, known->name);
  if (named.contains(file_of(file))) return "a template of pods that a setting names: a program completes it";
  if (file_of(file).starts_with("Jenkinsfile")) return "Jenkins completes it";
  const std::string name = lower(file);
  const bool called =
      std::ranges::any_of(kNameParts, [&](std::string_view part) { return name.find(part) != std::string::npos; });
  return called ? "a template of pods by its name: a program completes it" : "";
}

}  // namespace railbed::check

// SPDX-License-Identifier: Apache-2.0
#include "kube/fake/recorded_api.h"

#include <sstream>

#include "base/format.h"
#include "base/kinds.h"
#include "doc/members.h"

namespace railbed::kube::fake {

using doc::Value;

namespace {

std::string group_written(const std::string& group) {
  return group == "-" ? "" : group;
}

std::vector<std::string> words_of(std::istringstream& line) {
  std::vector<std::string> out;
  for (std::string word; line >> word;) out.push_back(word);
  return out;
}

std::set<std::string, std::less<>> split_verbs(const std::string& text) {
  std::set<std::string, std::less<>> out;
  std::istringstream verbs(text);
  for (std::string verb; std::getline(verbs, verb, ',');) out.insert(verb);
  return out;
}

std::string verbs_key(std::string_view group, std::string_view resource) {
  return fmt::format("{} {}", group, resource);
}

}  // namespace

RecordedApi::RecordedApi(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream rest(line);
    const std::vector<std::string> words = words_of(rest);
    if (words.size() == 8 && words[0] == "resource") {
      const std::string group = group_written(words[1]);
      groups_.insert(group);
      kinds_[{api_version_of(group, words[2]), words[3]}] = words[7];
      verbs_[verbs_key(group, words[4])].merge(split_verbs(words[6]));
    } else if (words.size() == 5 && words[0] == "part") {
      verbs_[verbs_key(group_written(words[1]), words[3])].merge(split_verbs(words[4]));
    } else if (words.size() >= 2 && words[0] == "type") {
      Fields& fields = types_[words[1]];
      for (size_t i = 2; i < words.size(); ++i) {
        const size_t equals = words[i].find('=');
        fields[words[i].substr(0, equals)] = equals == std::string::npos ? "" : words[i].substr(equals + 1);
      }
    }
  }
}

bool RecordedApi::has_group(std::string_view group) const {
  return groups_.contains(group);
}

bool RecordedApi::serves(std::string_view api_version, std::string_view kind) const {
  return type_of(api_version, kind) != nullptr;
}

bool RecordedApi::allows(std::string_view group, std::string_view resource, std::string_view verb) const {
  const auto found = verbs_.find(verbs_key(group, resource));
  return found != verbs_.end() && found->second.contains(verb);
}

std::vector<std::string> RecordedApi::unknown_fields(const Value& object) const {
  const std::string version = doc::text_in(object, "apiVersion"), kind = doc::text_in(object, "kind");
  const std::string* type = type_of(version, kind);
  if (type == nullptr) return {fmt::format("{} of {}", kind, version)};
  std::set<std::string> unknown;
  compare(object, *type, "", unknown);
  return {unknown.begin(), unknown.end()};
}

Value RecordedApi::full_object(std::string_view api_version, std::string_view kind) const {
  const std::string* type = type_of(api_version, kind);
  if (type == nullptr) return {};
  Value out = full_value(*type, {});
  out.set("apiVersion", api_version);
  out.set("kind", kind);
  return out;
}

const std::string* RecordedApi::type_of(std::string_view api_version, std::string_view kind) const {
  const auto found = kinds_.find({std::string(api_version), std::string(kind)});
  return found == kinds_.end() ? nullptr : &found->second;
}

void RecordedApi::compare(const Value& value, std::string_view type, const std::string& path,
                          std::set<std::string>& unknown) const {
  while (type.starts_with("[]")) type.remove_prefix(2);
  if (type == "*") return;
  if (const Value::Array* items = value.as_array()) {
    for (const Value& item : *items) compare(item, type, path, unknown);
    return;
  }
  const Value::Object* members = value.as_object();
  if (members == nullptr) return;
  const auto below = [&](std::string_view key) {
    return path.empty() ? std::string(key) : fmt::format("{}.{}", path, key);
  };
  if (type.starts_with("{}")) {
    for (const Value::Member& one : *members) compare(one.value, type.substr(2), below("*"), unknown);
    return;
  }
  const auto fields = types_.find(type);
  if (fields == types_.end()) {  // an object where a scalar is expected
    unknown.insert(path);
    return;
  }
  for (const Value::Member& one : *members) {
    const auto field = fields->second.find(one.key);
    if (field == fields->second.end())
      unknown.insert(below(one.key));
    else
      compare(one.value, field->second, below(one.key), unknown);
  }
}

Value RecordedApi::full_value(std::string_view type, std::set<std::string, std::less<>> around) const {
  if (type.starts_with("[]")) {
    Value list = Value::array();
    list.push(full_value(type.substr(2), std::move(around)));
    return list;
  }
  Value out = Value::object();
  if (type.starts_with("{}")) {
    out.set("x", full_value(type.substr(2), std::move(around)));
    return out;
  }
  const auto fields = types_.find(type);
  if (fields == types_.end()) return "x";
  if (!around.insert(std::string(type)).second) return out;  // a type inside of itself
  for (const auto& [field, its_type] : fields->second) out.set(field, full_value(its_type, around));
  return out;
}

}  // namespace railbed::kube::fake

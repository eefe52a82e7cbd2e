// SPDX-License-Identifier: Apache-2.0
#include "check/rules/versions.h"

#include <algorithm>

#include "check/data_files.h"
#include "check/rules/lookups.h"

namespace railbed::check {
namespace {

using doc::Value;

const Value& versions_data() {
  static const Value kData = data_document("versions.yaml");
  return kData;
}

std::vector<int> numbers_of(std::string_view version) {
  std::vector<int> numbers;
  for (size_t at = version.find_first_of("0123456789"); at < version.size();) {
    int number = 0;
    while (at < version.size() && version[at] >= '0' && version[at] <= '9' && number < 1'000'000)
      number = number * 10 + (version[at++] - '0');
    numbers.push_back(number);
    if (at >= version.size() || version[at] != '.') break;
    ++at;
  }
  return numbers;
}

// Whether a tag is a version: "v3.9.0", not "latest" or a digest.
bool is_version(std::string_view tag) {
  if (tag.starts_with('v')) tag.remove_prefix(1);
  return tag.find('.') != std::string_view::npos && !tag.empty() && tag[0] >= '0' && tag[0] <= '9';
}

// The tag of `image` where it is one of these programs; empty otherwise.
std::string_view tag_of(std::string_view image, const std::vector<Word>& names) {
  if (const size_t digest = image.find('@'); digest != std::string_view::npos) image = image.substr(0, digest);
  const std::string_view last = base_name(image);
  const size_t colon = last.find(':');
  if (colon == std::string_view::npos) return {};
  const bool ours = std::ranges::any_of(names, [&](const Word& name) { return last.substr(0, colon) == name.text; });
  return ours ? last.substr(colon + 1) : std::string_view();
}

// The versions of a program in images of pods, and in the sections of a NicClusterPolicy.
std::vector<std::string> versions_of(const Input& in, std::string_view program) {
  std::vector<Word> names;
  for (const Value& row : *versions_data().find("programs")->as_array())
    if (text_at(row, "name") == program) names = texts_at(row, "images");
  std::vector<std::string> versions;
  for (const PodTemplate& pod : in.pods)
    for (const Container& container : pod.containers)
      if (const auto tag = tag_of(text_at(*container.value, "image"), names); is_version(tag))
        versions.emplace_back(tag);
  for (const Document& document : in.bundle.documents) {
    const Value* spec = document.kind == "NicClusterPolicy" ? document.value.find("spec") : nullptr;
    if (spec == nullptr || !spec->is_object()) continue;
    for (const Value::Member& section : *spec->as_object())
      for (const Word& name : names)
        if (text_at(section.value, "image") == name.text && is_version(text_at(section.value, "version")))
          versions.emplace_back(text_at(section.value, "version"));
  }
  return versions;
}

bool holds_for(const VersionedFact& fact, std::string_view version) {
  if (fact.from.empty() || is_before(version, fact.from)) return false;
  return fact.until.empty() || is_before(version, fact.until);
}

}  // namespace

bool is_before(std::string_view version, std::string_view other) {
  return std::ranges::lexicographical_compare(numbers_of(version), numbers_of(other));
}

const std::vector<VersionedFact>& versioned_facts() {
  static const std::vector<VersionedFact> kFacts = [] {
    std::vector<VersionedFact> facts;
    for (const Value& row : *versions_data().find("facts")->as_array())
      facts.push_back({.fact = text_at(row, "fact"),
                       .program = text_at(row, "program"),
                       .from = text_at(row, "from"),
                       .until = text_at(row, "until"),
                       .source = text_at(row, "source"),
                       .read = text_at(row, "read")});
    return facts;
  }();
  return kFacts;
}

VersionAnswer holds(const Input& in, std::string_view fact) {
  const auto row = std::ranges::find(versioned_facts(), fact, &VersionedFact::fact);
  if (row == versioned_facts().end()) return {};
  const std::vector<std::string> versions = versions_of(in, row->program);
  if (versions.empty()) return {.holds = !row->from.empty() && row->until.empty() ? Holds::kYes : Holds::kNo};
  const auto yes = std::ranges::count_if(versions, [&](const std::string& one) { return holds_for(*row, one); });
  VersionAnswer answer{.holds = yes == 0 ? Holds::kNo : Holds::kDepends};
  if (yes == static_cast<long>(versions.size())) answer.holds = Holds::kYes;
  answer.versions = fmt::format("{} {} here", row->program, fmt::join(versions, ", "));
  if (!row->from.empty()) answer.versions += fmt::format("; it holds from {} on", row->from);
  if (!row->until.empty()) answer.versions += fmt::format(", before {}", row->until);
  return answer;
}

}  // namespace railbed::check

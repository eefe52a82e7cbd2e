// SPDX-License-Identifier: Apache-2.0
#include "check/read/served_versions.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <system_error>
#include <tuple>
#include <vector>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "base/kinds.h"
#include "check/data_files.h"
#include "doc/members.h"
#include "doc/value.h"

namespace railbed::check {

using doc::Value;

namespace {

struct ServedRow {
  std::string group;
  std::vector<std::string> versions;  // the newest first
  std::vector<std::string> never;     // newer ones that no release has
  std::vector<std::string> kinds;
};

std::vector<std::string> words_in_list(const Value& row, std::string_view key) {
  std::vector<std::string> words;
  if (const Value::Array* items = doc::list_in(row, key))
    for (const Value& item : *items)
      if (const std::string* text = item.as_string()) words.push_back(*text);
  return words;
}

const std::vector<ServedRow>& served_rows() {
  static const std::vector<ServedRow> kRows = [] {
    std::vector<ServedRow> rows;
    const Value data = data_document("served_versions.yaml");
    if (const Value::Array* items = doc::list_in(data, "groups"))
      for (const Value& item : *items)
        rows.push_back({doc::text_in(item, "group"), words_in_list(item, "versions"), words_in_list(item, "never"),
                        words_in_list(item, "kinds")});
    return rows;
  }();
  return kRows;
}

// Stable versions are 2, beta ones 1, alpha ones 0.
struct VersionRank {
  int stage = -1;
  int major = 0;
  int minor = 0;
};

VersionRank rank_of(std::string_view version) {
  VersionRank rank;
  if (!version.starts_with('v')) return rank;
  const char* const end = version.data() + version.size();
  const auto major = std::from_chars(version.data() + 1, end, rank.major);
  if (major.ec != std::errc{}) return rank;
  const std::string_view rest(major.ptr, static_cast<size_t>(end - major.ptr));
  if (rest.empty()) {
    rank.stage = 2;
    return rank;
  }
  const bool beta = rest.starts_with("beta");
  const size_t letters = beta ? 4 : 5;
  if ((!beta && !rest.starts_with("alpha")) || rest.size() == letters) return rank;
  const auto minor = std::from_chars(rest.data() + letters, end, rank.minor);
  if (minor.ec == std::errc{} && minor.ptr == end) rank.stage = beta ? 1 : 0;
  return rank;
}

std::string_view version_part(std::string_view api_version) {
  return api_version.substr(api_version.rfind('/') + 1);  // npos + 1 is 0
}

std::vector<const ServedRow*> rows_of_kind(std::string_view kind) {
  std::vector<const ServedRow*> rows;
  for (const ServedRow& row : served_rows())
    if (std::ranges::find(row.kinds, kind) != row.kinds.end()) rows.push_back(&row);
  return rows;
}

void report_version(const Document& document, const ServedRow& row, doc::Diagnostics& out) {
  const Value* value = document.value.find("apiVersion");
  const std::string_view version = version_part(document.api_version);
  if (std::ranges::find(row.versions, version) != row.versions.end()) return;
  const bool newer =
      is_newer_version(version, row.versions.front()) && std::ranges::find(row.never, version) == row.never.end();
  const std::string text =
      newer ? fmt::format("{} is known in {}, not in '{}': a later release may serve it", document.kind,
                          fmt::join(row.versions, ", "), document.api_version)
            : fmt::format("apiVersion '{}' with kind {}: no release serves it, and the API server refuses the object",
                          document.api_version, document.kind);
  auto& reported = newer ? out.warning("RB-API-011", value->span, text) : out.error("RB-API-011", value->span, text);
  reported.with_fix(fmt::format("apiVersion: {}/{}", row.group, row.versions.front()))
      .of(doc::Layer::kObject)
      .about_field("apiVersion");
}

void report_group(const Document& document, const std::vector<const ServedRow*>& rows, doc::Diagnostics& out) {
  std::vector<std::string_view> groups;
  for (const ServedRow* row : rows) groups.push_back(row->group);
  std::string meant = doc::nearest(document.group(), groups);
  if (meant.empty() && is_of_kubernetes(document.group())) meant = rows.front()->group;
  const auto row = std::ranges::find_if(rows, [&](const ServedRow* one) { return one->group == meant; });
  if (row == rows.end()) return;
  out.error("RB-API-011", document.value.find("apiVersion")->span,
            fmt::format("apiVersion '{}' with kind {}: no API server has this kind there, and it refuses the object",
                        document.api_version, document.kind))
      .with_fix(fmt::format("apiVersion: {}/{}", (*row)->group, (*row)->versions.front()))
      .of(doc::Layer::kObject)
      .about_field("apiVersion");
}

struct BuiltInKinds {
  std::string_view group;
  std::string_view version;
  std::array<std::string_view, 4> kinds;
};

// Kinds of the groups of Kubernetes that railbed reads (rules/admission.cc has the versions that are gone).
constexpr BuiltInKinds kBuiltIn[] = {{"apps", "v1", {"Deployment", "StatefulSet", "DaemonSet", "ReplicaSet"}},
                                     {"batch", "v1", {"Job", "CronJob", "", ""}}};

// "app/v1": nearly the group of a built-in kind. Other groups of Kubernetes are RB-ADM-005's; groups of others may have
// kinds of the same name.
void report_built_in_group(const Document& document, doc::Diagnostics& out) {
  const std::string_view group = document.group();
  for (const BuiltInKinds& row : kBuiltIn) {
    if (std::ranges::find(row.kinds, document.kind) == row.kinds.end() || group == row.group) continue;
    if (is_of_kubernetes(group) || doc::nearest(group, {row.group}).empty()) continue;
    out.error("RB-API-011", document.value.find("apiVersion")->span,
              fmt::format("apiVersion '{}' with kind {}: no API server has this kind there, and it refuses the object",
                          document.api_version, document.kind))
        .with_fix(fmt::format("apiVersion: {}/{}", row.group, row.version))
        .of(doc::Layer::kObject)
        .about_field("apiVersion");
  }
}

void report_wrong_version(const Document& document, doc::Diagnostics& out) {
  const bool written = document.api_version.find_first_of("<{$") == std::string::npos;
  const Value* value = document.value.find("apiVersion");
  if (value == nullptr || value->as_string() == nullptr) return;  // its type is wrong
  if (document.api_version.empty() || !written || document.verb == Verb::kDelete) return;
  const std::vector<const ServedRow*> rows = rows_of_kind(document.kind);
  const ServedRow* own = nullptr;
  for (const ServedRow* row : rows)
    if (row->group == document.group()) own = row;
  if (own != nullptr)
    report_version(document, *own, out);
  else if (!rows.empty())
    report_group(document, rows, out);
  else
    report_built_in_group(document, out);
}

}  // namespace

bool is_of_kubernetes(std::string_view group) {
  return group.empty() || group == "apps" || group == "batch";
}

bool is_newer_version(std::string_view one, std::string_view other) {
  const VersionRank a = rank_of(one);
  const VersionRank b = rank_of(other);
  return a.stage >= 0 && std::tie(a.major, a.stage, a.minor) > std::tie(b.major, b.stage, b.minor);
}

bool is_served_kind(std::string_view kind) {
  return !rows_of_kind(kind).empty();
}

std::string nearest_served_kind(const Document& document) {
  if (document.api_version.empty()) return "";
  std::vector<std::string_view> kinds_of_group;
  for (const ServedRow& row : served_rows())
    if (row.group == document.group()) kinds_of_group.insert(kinds_of_group.end(), row.kinds.begin(), row.kinds.end());
  for (const Kind& kind : kinds())
    if (!kind.version.empty() && kind.api_version() == document.api_version) kinds_of_group.push_back(kind.name);
  return doc::nearest(document.kind, kinds_of_group);
}

void report_wrong_versions(const Bundle& bundle, doc::Diagnostics& out) {
  for (const Document& document : bundle.documents) report_wrong_version(document, out);
}

}  // namespace railbed::check

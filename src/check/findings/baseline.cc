// SPDX-License-Identifier: Apache-2.0
#include "check/findings/baseline.h"

#include <algorithm>
#include <vector>

#include <fmt/core.h>

#include "base/well_known.h"
#include "doc/fields.h"
#include "doc/json.h"

namespace railbed::check {
namespace {

constexpr std::string_view kBaselineKind = "CheckBaseline";
constexpr int kMostEqual = 1'000'000;

}  // namespace

Baseline Baseline::of(const Report& report) {
  Baseline made;
  for (const doc::Diagnostic& finding : report.findings.all()) {
    Entry& entry = made.entries_[finding.fingerprint];
    if (entry.count++ > 0) continue;
    entry.id = finding.id;
    entry.subject = finding.subject.to_string();
  }
  return made;
}

Result<Baseline> Baseline::read(const doc::SourcePtr& source) {
  doc::Diagnostics found;
  const std::optional<doc::Value> document = doc::parse_json(source, found);
  TRY(doc::first_error(found));
  Baseline made;
  if (!document) return fail(Code::kInvalid, "{}: no JSON", source->name);
  doc::Fields fields(*document, "", doc::kNoFamily, found);
  fields.choice("apiVersion", {kOwnApiVersion});
  fields.choice("kind", {kBaselineKind});
  for (const char* key : {"apiVersion", "kind", "findings"}) fields.require(key);
  fields.each("findings", [&](doc::Fields& one) {
    std::string fingerprint;
    Entry entry{.id = "", .subject = "", .count = 1};
    one.need("fingerprint", fingerprint, {.bytes = 64});
    one.need("id", entry.id, {.bytes = 64});
    one.read("subject", entry.subject, {.bytes = 4096});
    one.read("count", entry.count, {.min = 1, .max = kMostEqual});
    Entry& kept = made.entries_[fingerprint];
    entry.count = std::min(kMostEqual, entry.count + kept.count);
    kept = std::move(entry);
  });
  TRY(doc::first_error(found));
  return made;
}

std::string Baseline::to_json() const {
  std::vector<std::string> lines;
  for (const auto& [fingerprint, entry] : entries_) {
    doc::Value one = doc::Value::object();
    one.set("id", entry.id);
    if (!entry.subject.empty()) one.set("subject", entry.subject);
    one.set("fingerprint", fingerprint);
    if (entry.count > 1) one.set("count", entry.count);
    lines.push_back("    " + doc::to_json(one));
  }
  std::ranges::sort(lines);
  std::string out = fmt::format("{{\n  \"apiVersion\": \"{}\",\n  \"kind\": \"{}\",\n  \"findings\": [", kOwnApiVersion,
                                kBaselineKind);
  for (size_t i = 0; i < lines.size(); ++i) out += (i == 0 ? "\n" : ",\n") + lines[i];
  return out + (lines.empty() ? "]\n}\n" : "\n  ]\n}\n");
}

size_t Baseline::remove_known(Report& report, std::string_view reason, size_t* left_over) const {
  std::map<std::string_view, int> left;
  for (const auto& [fingerprint, entry] : entries_) left.emplace(fingerprint, entry.count);
  const size_t removed = std::erase_if(report.findings.mutable_all(), [&](doc::Diagnostic& finding) {
    const auto entry = left.find(finding.fingerprint);
    if (entry == left.end() || entry->second == 0) return false;
    --entry->second;
    if (report.ignored.size() < kMaxFindings)
      report.ignored.push_back({std::move(finding), Ignored::By::kBaseline, std::string(reason)});
    return true;
  });
  if (left_over != nullptr)
    *left_over = static_cast<size_t>(std::ranges::count_if(left, [](const auto& one) { return one.second > 0; }));
  return removed;
}

}  // namespace railbed::check

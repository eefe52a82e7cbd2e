// SPDX-License-Identifier: Apache-2.0
#include "check/read/charts.h"

#include <algorithm>

#include <fmt/core.h>

#include "check/read/paths.h"

namespace railbed::check {
namespace {

constexpr std::string_view kTemplates = "templates/";

// "charts/x" of "charts/x/templates/a.yaml", if the text is one of a chart; for charts whose Chart.yaml is not among
// the files.
std::string chart_around(const doc::Source& source) {
  const std::string name = plain_path(source.name);
  const size_t at = ("/" + name).rfind("/templates/");
  if (at == std::string::npos) return "";
  const bool of_chart = source.text.find(".Values.") != std::string::npos ||
                        source.text.find(".Release.") != std::string::npos ||
                        source.text.find(".Chart.") != std::string::npos;
  if (!of_chart) return "";
  return at == 0 ? "." : name.substr(0, at - 1);
}

// The argument of `.Files.Get "files/a.yaml"`, `.Files.Glob (printf "crds/%s/*" .Values.v)` at `at`; empty: unknown.
std::string argument_of_files(std::string_view text, size_t at) {
  const std::string_view rest = text.substr(at, text.substr(at).find_first_of("}\n"));
  const size_t open = rest.find_first_of("\"`");
  if (open == std::string_view::npos) return "";
  const size_t close = rest.find(rest[open], open + 1);
  if (close == std::string_view::npos) return "";
  return std::string(rest.substr(open + 1, close - open - 1));
}

void add_what_is_read(std::string_view text, std::vector<std::string>& out) {
  static constexpr std::string_view kCalls[] = {".Files.Get", ".Files.Glob", ".Files.Lines"};
  for (const std::string_view call : kCalls)
    for (size_t at = text.find(call); at != std::string_view::npos; at = text.find(call, at + 1))
      if (std::string argument = argument_of_files(text, at + call.size()); !argument.empty())
        out.push_back(std::move(argument));
}

// Whether a path or pattern may mean the file: up to its first wildcard.
bool may_mean(std::string_view pattern, std::string_view file) {
  const size_t wildcard = pattern.find_first_of("*?[{%");
  return wildcard == std::string_view::npos ? pattern == file : file.starts_with(pattern.substr(0, wildcard));
}

}  // namespace

Charts::Charts(const std::vector<doc::SourcePtr>& sources) {
  for (const doc::SourcePtr& source : sources) {
    const std::string folder = plain_path(folder_of(source->name));
    if (file_of(source->name) == "Chart.yaml") {
      read_by_templates_.try_emplace(folder.empty() ? "." : folder);
    } else if (const std::string chart = chart_around(*source); !chart.empty()) {
      read_by_templates_.try_emplace(chart);
    }
  }
  if (read_by_templates_.empty()) return;
  for (const doc::SourcePtr& source : sources) {
    if (source->text.find(".Files.") == std::string::npos) continue;
    const Place place = place_of(source->name);
    if (place.found && place.below.starts_with(kTemplates))
      add_what_is_read(source->text, read_by_templates_.find(place.chart)->second);
  }
}

Charts::Place Charts::place_of(std::string_view file) const {
  Place nearest;
  if (read_by_templates_.empty()) return nearest;
  for (std::string folder = plain_path(folder_of(file));;) {
    const std::string key = folder.empty() ? "." : folder;
    if (const auto chart = read_by_templates_.find(key); chart != read_by_templates_.end()) {
      nearest.chart = key;
      nearest.found = true;
      break;
    }
    if (folder.empty() || folder == "/") return nearest;
    const size_t slash = folder.rfind('/');
    folder = slash == std::string::npos ? "" : folder.substr(0, slash);
  }
  // What is behind the folder in the name as it is written.
  const std::string path = plain_path(file);
  const size_t skipped = nearest.chart == "." ? 0 : nearest.chart.size() + 1;
  const size_t left = path.size() - std::min(skipped, path.size());
  nearest.below = file.substr(file.size() - std::min(left, file.size()));
  return nearest;
}

std::string Charts::why_data(std::string_view file) const {
  const Place place = place_of(file);
  if (!place.found) return "";
  for (const std::string_view applied : {kTemplates, std::string_view("crds/"), std::string_view("charts/")})
    if (place.below.starts_with(applied)) return "";
  const std::vector<std::string>& read = read_by_templates_.find(place.chart)->second;
  if (std::ranges::any_of(read, [&](const std::string& one) { return may_mean(one, place.below); }))
    return fmt::format("data of the chart {}: its templates read it by .Files", place.chart);
  if (place.below.starts_with("files/")) return fmt::format("data of the chart {}: it is in files/", place.chart);
  return "";
}

std::string Charts::chart_of_template(std::string_view file) const {
  const Place place = place_of(file);
  return place.found && place.below.starts_with(kTemplates) ? place.chart : "";
}

}  // namespace railbed::check

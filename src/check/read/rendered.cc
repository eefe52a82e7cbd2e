// SPDX-License-Identifier: Apache-2.0
#include "check/read/rendered.h"

#include <algorithm>
#include <map>

#include <fmt/core.h>

#include "check/read/outside.h"
#include "check/read/paths.h"
#include "doc/yaml.h"

namespace railbed::check {
namespace {

constexpr std::string_view kPrefix = "rendered from ";
constexpr std::string_view kNumber = " (document ";

bool is_below(std::string_view name, std::string_view folder) {
  return folder == "." ? !name.starts_with('/')
                       : name.starts_with(folder) && name.substr(folder.size()).starts_with('/');
}

doc::Value first_document(const doc::SourcePtr& source) {
  doc::Diagnostics reported_when_checked;
  auto documents = doc::parse_yaml(source, reported_when_checked);
  return documents.empty() ? doc::Value() : std::move(documents.front());
}

// What a chart is made of, with what its templates read by .Files. Pages beside it are read as ever.
bool is_part_of_chart(std::string_view name, std::string_view folder) {
  const std::string_view below = folder == "." ? name : name.substr(folder.size() + 1);
  return below.starts_with("templates/") || below.starts_with("charts/") || below.starts_with("files/") ||
         (below.find('/') == std::string_view::npos && !below.ends_with(".md") && !below.ends_with(".txt"));
}

std::vector<Renderable> charts(const std::vector<doc::SourcePtr>& sources) {
  std::vector<Renderable> all;
  for (const doc::SourcePtr& source : sources) {
    if (file_of(source->name) != "Chart.yaml") continue;
    const doc::Value* type = nullptr;
    const doc::Value chart = first_document(source);
    if (chart.is_object()) type = chart.find("type");
    const bool library = type != nullptr && type->as_string() != nullptr && *type->as_string() == "library";
    Renderable one{.by = Renderer::kHelm, .folder = folder_of(source->name), .files = {}};
    for (const doc::SourcePtr& other : sources)
      if (is_below(other->name, one.folder) && is_part_of_chart(other->name, one.folder)) one.files.insert(other->name);
    if (!library) all.push_back(std::move(one));
  }
  // The charts in a chart's folder charts/ are rendered with it.
  std::erase_if(all, [&](const Renderable& inner) {
    return std::ranges::any_of(all, [&](const Renderable& outer) {
      return outer.folder != inner.folder &&
             is_below(inner.folder, outer.folder == "." ? "charts" : outer.folder + "/charts");
    });
  });
  return all;
}

// The paths that a kustomization takes its objects and patches from: items are paths, or objects with a `path`.
std::set<std::string> paths_of_parts(const doc::Value& kustomization, std::string_view name) {
  static constexpr std::string_view kLists[] = {"resources",      "bases",      "components",
                                                "crds",           "generators", "transformers",
                                                "configurations", "patches",    "patchesStrategicMerge",
                                                "patchesJson6902"};
  std::set<std::string> parts;
  for (const std::string_view list : kLists) parts.merge(listed_paths(kustomization.find(list), name));
  return parts;
}

struct Kustomization {
  std::string folder;           // as the sources name it
  std::set<std::string> files;  // names of sources
  std::set<std::string> parts;  // plain paths
  bool alone = true;            // not a part of another
  std::string remote;           // as in Renderable
  std::string executed;
};

std::map<std::string, Kustomization> read_kustomizations(const std::vector<doc::SourcePtr>& sources) {
  std::map<std::string, Kustomization> all;  // by the folder's plain path
  for (const doc::SourcePtr& source : sources) {
    if (!is_kustomization(source->name)) continue;
    const doc::Value value = first_document(source);
    if (!value.is_object()) continue;
    Kustomization& one = all[plain_path(folder_of(source->name))];
    one.folder = folder_of(source->name);
    one.files = {source->name};
    one.parts = paths_of_parts(value, source->name);
    one.remote = remote_entry(value);
    one.executed = executed_entry(value);
    const doc::Value* kind = value.find("kind");
    one.alone = kind == nullptr || kind->as_string() == nullptr || *kind->as_string() != "Component";
  }
  for (auto& [folder, one] : all) {
    for (const std::string& part : one.parts)
      if (const auto inner = all.find(part); inner != all.end() && part != folder) inner->second.alone = false;
    for (const doc::SourcePtr& source : sources)
      if (one.parts.contains(plain_path(source->name))) {
        one.files.insert(source->name);
        if (one.executed.empty() && is_executed_function(source->text)) one.executed = source->name;
      }
  }
  return all;
}

std::vector<Renderable> kustomizations(const std::vector<doc::SourcePtr>& sources) {
  const auto all = read_kustomizations(sources);
  std::vector<Renderable> roots;
  for (const auto& [folder, root] : all) {
    if (!root.alone) continue;
    Renderable made{.by = Renderer::kKustomize, .folder = root.folder, .files = {}};
    std::set<std::string> seen;
    for (std::vector<std::string> left{folder}; !left.empty();) {
      const std::string here = std::move(left.back());
      left.pop_back();
      const auto found = all.find(here);
      if (found == all.end() || !seen.insert(here).second) continue;
      made.files.insert(found->second.files.begin(), found->second.files.end());
      if (made.remote.empty()) made.remote = found->second.remote;
      if (made.executed.empty()) made.executed = found->second.executed;
      left.insert(left.end(), found->second.parts.begin(), found->second.parts.end());
    }
    roots.push_back(std::move(made));
  }
  return roots;
}

}  // namespace

std::vector<Renderable> renderables(const std::vector<doc::SourcePtr>& sources) {
  std::vector<Renderable> all = charts(sources);
  std::vector<doc::SourcePtr> others;
  std::ranges::copy_if(sources, std::back_inserter(others), [&](const doc::SourcePtr& source) {
    return std::ranges::none_of(all, [&](const Renderable& chart) { return chart.files.contains(source->name); });
  });
  std::ranges::move(kustomizations(others), std::back_inserter(all));
  std::ranges::sort(all, {}, &Renderable::folder);
  return all;
}

std::vector<doc::SourcePtr> rendered_documents(std::string_view folder, std::string_view text) {
  std::vector<doc::SourcePtr> documents;
  std::string here;
  const auto end_document = [&] {
    if (here.find_first_not_of(" \t\r\n") != std::string::npos)
      documents.push_back(std::make_shared<const doc::Source>(
          doc::Source{fmt::format("{}{}{}{})", kPrefix, folder, kNumber, documents.size() + 1), here}));
    here.clear();
  };
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    // At the margin it is never part of a value.
    if (line.starts_with("---") && line.find_first_not_of(" \t\r", 3) == std::string_view::npos)
      end_document();
    else
      here.append(line).append("\n");
    at = end + 1;
  }
  end_document();
  return documents;
}

bool is_rendered(std::string_view name) {
  return name.starts_with(kPrefix) && name.ends_with(')') && name.find(kNumber) != std::string_view::npos;
}

std::string_view rendered_folder(std::string_view name) {
  name.remove_prefix(kPrefix.size());
  return name.substr(0, name.rfind(kNumber));
}

}  // namespace railbed::check

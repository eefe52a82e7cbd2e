// SPDX-License-Identifier: Apache-2.0
#include "manifests.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <set>

#include <fmt/ranges.h>

#include "check/check.h"
#include "command/output.h"
#include "doc/render.h"
#include "doc/yaml.h"

namespace railbed {

namespace {

namespace fs = std::filesystem;

struct CloseFile {
  void operator()(FILE* file) const {
    if (file != stdin) std::fclose(file);
  }
};

}  // namespace

Result<doc::SourcePtr> read_source(const std::string& path) {
  bool standard_input = path == "-";
  std::unique_ptr<FILE, CloseFile> file(standard_input ? stdin : std::fopen(path.c_str(), "re"));
  if (!file) return fail(system_error(errno, "read " + path));
  auto source = std::make_shared<doc::Source>();
  source->name = standard_input ? "<stdin>" : path;
  char buffer[1 << 16];
  while (size_t count = std::fread(buffer, 1, sizeof buffer, file.get())) {
    source->text.append(buffer, count);
    if (source->text.size() > doc::kMaxSourceBytes)
      return fail(Code::kInvalid, "read {}: more than {} MiB", path, doc::kMaxSourceBytes >> 20);
  }
  if (std::ferror(file.get()) != 0) return fail(system_error(errno, "read " + path));
  return source;
}

namespace {

Result<std::vector<std::string>> files_of(const std::string& path) {
  static const std::set<std::string> kEndings = {".yaml", ".yml", ".json"};
  std::error_code error;
  if (path == "-" || !fs::is_directory(path, error)) return std::vector{path};
  std::vector<std::string> files;
  for (fs::recursive_directory_iterator entry(path, error), end; !error && entry != end; entry.increment(error))
    if (kEndings.contains(entry->path().extension().string()) && !entry->is_directory())
      files.push_back(entry->path().string());
  if (error) return fail(system_error(error.value(), "read " + path));
  if (files.empty()) return fail(Code::kNotFound, "no *{} in {}", fmt::join(kEndings, ", *"), path);
  std::ranges::sort(files);
  return files;
}

}  // namespace

namespace {

// Whether the file begins like what `discover` writes.
Result<bool> has_facts(const std::string& path) {
  const fs::path name(path);
  if (name.extension() == ".tar" || name.extension() == ".machine") return true;
  std::error_code error;
  if (path == "-" || fs::is_directory(name, error)) return false;
  const doc::SourcePtr source = TRY(read_source(path));
  const std::string_view head = std::string_view(source->text).substr(0, 200);
  return head.find("kind: NodeFacts") != std::string_view::npos ||
         head.find("\"kind\": \"NodeFacts\"") != std::string_view::npos;
}

}  // namespace

Result<void> take_facts(std::vector<std::string>& files, std::vector<std::string>& facts) {
  std::vector<std::string> manifests;
  for (const std::string& path : files) (TRY(has_facts(path)) ? facts : manifests).push_back(path);
  files = std::move(manifests);
  return {};
}

Result<Manifests> read_manifests(const std::vector<std::string>& paths) {
  Manifests manifests;
  for (const std::string& path : paths) {
    const std::vector<std::string> files = TRY(files_of(path));
    for (const std::string& file : files) manifests.sources.push_back(TRY(read_source(file)));
  }
  manifests.objects = api::load(manifests.sources, manifests.diagnostics);
  return manifests;
}

doc::Diagnostics rule_findings(const Manifests& manifests, const graph::Resolution& resolution,
                               const std::vector<std::string>& forced, const std::set<std::string>& lent) {
  check::Settings settings{.graph = resolution.catalog.options, .cluster_networks = {}, .lent_interfaces = lent};
  doc::Diagnostics findings = check::rule_findings(manifests.sources, manifests.objects, resolution.catalog,
                                                   resolution.graphs, resolution.nodes, settings);
  std::erase_if(findings.mutable_all(),
                [](const doc::Diagnostic& finding) { return finding.severity != doc::Severity::kError; });
  for (doc::Diagnostic& finding : findings.mutable_all())
    if (std::ranges::find(forced, finding.id) != forced.end()) finding.severity = doc::Severity::kWarning;
  return findings;
}

void print_diagnostics(const doc::Diagnostics& diagnostics) {
  if (diagnostics.all().empty()) return;
  doc::Diagnostics sorted = diagnostics;
  sorted.sort();
  print_error("{}", doc::render(sorted, colour_of(stderr)));
}

}  // namespace railbed

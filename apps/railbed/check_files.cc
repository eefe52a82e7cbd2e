// SPDX-License-Identifier: Apache-2.0
#include "check_files.h"

#include <algorithm>
#include <array>
#include <memory>

#include <fmt/core.h>
#include <fnmatch.h>

#include "base/command.h"
#include "check/project/ignored_paths.h"
#include "check/read/engines.h"
#include "manifests.h"

namespace railbed {

namespace fs = std::filesystem;

namespace {

constexpr std::array<std::string_view, 9> kReadEndings = {".yaml", ".yml",      ".json", ".md", ".markdown",
                                                          ".adoc", ".asciidoc", ".rst",  ".txt"};
constexpr std::array<std::string_view, 4> kSkippedFolders = {".git", "vendor", "node_modules", ".terraform"};
constexpr size_t kMostSkipped = 1000;  // more are not listed

constexpr size_t kMostForeignBytes = 1 << 20;

// Whether the text names something that manifests of networks have.
bool is_about_networks(std::string_view text) {
  static constexpr std::string_view kWords[] = {
      "sriov", "Sriov", "NetworkAttachmentDefinition", "cni.cncf.io", "rdma", "ipam", "NicClusterPolicy"};
  return std::ranges::any_of(kWords, [&](std::string_view word) { return text.find(word) != std::string_view::npos; });
}

Result<std::string> small_file(const fs::path& file, size_t most) {
  std::error_code failure;
  if (!fs::is_regular_file(file, failure) || fs::file_size(file, failure) > most) return std::string();
  const doc::SourcePtr source = TRY(read_source(file.string()));
  return source->text;
}

// What git says of the files of one repository.
class Repository {
 public:
  explicit Repository(const fs::path& root) : root_(root) {
    constexpr size_t kMostIndexBytes = 256u << 20;
    const fs::path git = git_folder();
    if (const auto exclude = small_file(common_folder(git) / "info/exclude", kMostRulesBytes))
      rules_.add_exclude(*exclude);
    const auto index = small_file(git / "index", kMostIndexBytes);
    if (auto paths = index ? check::paths_in_index(*index) : Result<std::vector<std::string>>{})
      tracked_ = check::TrackedPaths(std::move(*paths));
  }

  const fs::path& root() const { return root_; }

  void enter(const fs::path& folder) {
    const auto text = small_file(folder / ".gitignore", kMostRulesBytes);
    if (text && !text->empty()) rules_.add(path_of(folder), *text);
  }
  bool ignores(const fs::path& path, bool is_folder) const { return rules_.ignores(path_of(path), is_folder); }
  bool tracks(const fs::path& file) const { return tracked_.contains(path_of(file)); }
  bool tracks_below(const fs::path& folder) const { return tracked_.has_below(path_of(folder)); }

 private:
  static constexpr size_t kMostRulesBytes = 1 << 20;

  std::string path_of(const fs::path& path) const {
    const std::string relative = path.lexically_relative(root_).string();
    return relative == "." ? "" : relative;
  }

  // Of a work tree or a submodule, .git is a file that names it.
  fs::path git_folder() const {
    const fs::path git = root_ / ".git";
    std::error_code failure;
    if (fs::is_directory(git, failure)) return git;
    const auto text = small_file(git, 4096);
    constexpr std::string_view kKey = "gitdir: ";
    if (!text || !text->starts_with(kKey)) return git;
    const std::string name = text->substr(kKey.size(), text->find('\n') - kKey.size());
    return (root_ / name).lexically_normal();
  }
  static fs::path common_folder(const fs::path& git) {
    const auto text = small_file(git / "commondir", 4096);
    return text && !text->empty() ? (git / text->substr(0, text->find('\n'))).lexically_normal() : git;
  }

  fs::path root_;
  check::IgnoreRules rules_;
  check::TrackedPaths tracked_;
};

class Walk {
 public:
  Walk(const CheckFileChoice& choice, CheckProjects& projects, GivenPaths& out)
      : choice_(choice), projects_(projects), out_(out) {
    for (const std::string& output : choice.outputs) outputs_.push_back(plain_absolute(output));
  }

  // All below the folder `given`, whose rules of git begin at the root of its repository.
  Result<void> read(const std::string& given) {
    const fs::path folder = plain_absolute(given);
    given_ = folder;
    std::shared_ptr<Repository> repository;
    if (const fs::path root = repository_of(folder); !root.empty()) {
      repository = std::make_shared<Repository>(root);
      fs::path here = root;
      if (here != folder) repository->enter(here);
      for (const fs::path& name : folder.lexically_relative(root)) {
        here = (here / name).lexically_normal();
        if (name != "." && here != folder) repository->enter(here);
      }
    }
    return look_into(given, folder, repository, false);
  }

 private:
  // `shown` is the path as people typed it. Inside of a folder that git ignores only tracked files are read.
  Result<void> look_into(const fs::path& shown, const fs::path& folder, std::shared_ptr<Repository> repository,
                         bool ignored) {
    std::error_code failure;
    if (repository == nullptr || repository->root() != folder)
      if (fs::exists(folder / ".git", failure)) {
        repository = std::make_shared<Repository>(folder);
        ignored = false;
      }
    if (repository != nullptr) repository->enter(folder);
    TRY(projects_.of_folder(folder));
    std::vector<fs::directory_entry> entries;
    for (fs::directory_iterator entry(shown, failure), end; !failure && entry != end; entry.increment(failure))
      entries.push_back(*entry);
    if (failure) {
      out_.unread.push_back(system_error(failure.value(), fmt::format("read {}", shown.string())).to_string());
      return {};
    }
    std::ranges::sort(entries, {}, [](const fs::directory_entry& entry) { return entry.path(); });
    for (const fs::directory_entry& entry : entries) TRY(look_at(entry, folder, repository, ignored));
    return {};
  }

  Result<void> look_at(const fs::directory_entry& entry, const fs::path& folder,
                       const std::shared_ptr<Repository>& repository, bool ignored) {
    std::error_code failure;
    const fs::path path = folder / entry.path().filename();
    const bool is_folder = entry.is_directory(failure) && !entry.is_symlink(failure);
    if (!is_folder && entry.is_directory(failure)) return {};  // a link to a folder may lead anywhere
    if (TRY(is_left_out(path, is_folder))) return {};
    if (is_folder && is_skipped_folder(path.filename().string())) {
      if (path.filename() != ".git") skip(entry.path(), "not the repository's own: skipped by default");
      return {};
    }
    const bool of_git = repository != nullptr && repository->root() != path;
    const bool here_ignored = ignored || (of_git && repository->ignores(path, is_folder));
    if (is_folder) {
      if (here_ignored && !repository->tracks_below(path)) return skipped_by_git(entry.path(), true);
      return look_into(entry.path(), path, repository, here_ignored);
    }
    if (here_ignored && !repository->tracks(path)) return skipped_by_git(entry.path(), is_read_in_folders(path));
    take(entry.path(), path);
    return {};
  }

  Result<bool> is_left_out(const fs::path& path, bool is_folder) {
    if (std::ranges::find(outputs_, path) != outputs_.end()) return true;
    return is_excluded(is_folder ? path / "" : path, given_, choice_, projects_);
  }

  void take(const fs::path& shown, const fs::path& path) {
    if (projects_.is_project_file(path)) return;
    if (is_read_in_folders(path)) return out_.files.push_back(shown.string());
    if (check::has_here_documents(path.native())) {
      const auto script = small_file(shown, kMostForeignBytes);
      if (script && is_about_networks(*script)) out_.files.push_back(shown.string());
      return;
    }
    const check::OtherLanguage* other = check::other_language(path.native());
    if (other == nullptr || !other->makes) return;
    const auto text = small_file(shown, kMostForeignBytes);
    if (text && is_about_networks(*text))
      out_.foreign.push_back({shown.string(), fmt::format("a file of {}", other->language), other->command, true});
  }

  Result<void> skipped_by_git(const fs::path& shown, bool would_be_read) {
    if (would_be_read) skip(shown, "git ignores it");
    return {};
  }
  void skip(const fs::path& shown, std::string_view why) {
    if (out_.skipped.size() < kMostSkipped)
      out_.skipped.push_back(
          {shown.string(), std::string(why), fmt::format("{}", Command{"railbed", "check"}.path(shown.string()))});
  }

  const CheckFileChoice& choice_;
  CheckProjects& projects_;
  GivenPaths& out_;
  fs::path given_;  // absolute
  std::vector<fs::path> outputs_;
};

}  // namespace

Result<bool> is_excluded(const fs::path& file, const fs::path& given, const CheckFileChoice& choice,
                         CheckProjects& projects) {
  const bool is_folder = !file.has_filename();
  const fs::path path = is_folder ? file.parent_path() : file;
  // By the name of each file and folder alone, or by its path below the folder that was given.
  std::string below;
  for (const fs::path& name : path.lexically_relative(given)) {
    below += (below.empty() ? "" : "/") + name.string();
    for (const std::string& pattern : choice.excluded)
      if (fnmatch(pattern.c_str(), name.c_str(), 0) == 0 || fnmatch(pattern.c_str(), below.c_str(), 0) == 0)
        return true;
  }
  const std::optional<size_t> project = TRY(projects.of_folder(path.parent_path()));
  if (!project) return false;
  const std::string place = path.lexically_relative(projects.folder(*project)).string();
  return projects.all()[*project].excludes(is_folder ? place + "/" : place);
}

bool is_read_in_folders(const fs::path& file) {
  return std::ranges::find(kReadEndings, std::string_view(file.extension().native())) != kReadEndings.end();
}

std::span<const std::string_view> skipped_folders() {
  return kSkippedFolders;
}

bool is_skipped_folder(std::string_view name) {
  return std::ranges::find(kSkippedFolders, name) != kSkippedFolders.end();
}

Result<GivenPaths> given_paths(const std::vector<std::string>& paths, const CheckFileChoice& choice,
                               CheckProjects& projects) {
  GivenPaths out;
  for (const std::string& path : paths) {
    std::error_code failure;
    if (path == "-" || !fs::is_directory(path, failure)) {
      out.files.push_back(path);
      continue;
    }
    GivenPaths below;
    TRY(Walk(choice, projects, below).read(path));
    if (below.files.empty() && below.foreign.empty() && below.unread.empty())
      return fail(Code::kNotFound, "no *{} in {}{}", fmt::join(kReadEndings, ", *"), path,
                  below.skipped.empty() ? "" : "; some are skipped: name them to have them read");
    std::ranges::sort(below.files);
    std::ranges::move(below.files, std::back_inserter(out.files));
    std::ranges::move(below.skipped, std::back_inserter(out.skipped));
    std::ranges::move(below.foreign, std::back_inserter(out.foreign));
    std::ranges::move(below.unread, std::back_inserter(out.unread));
  }
  return out;
}

}  // namespace railbed

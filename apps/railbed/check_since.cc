// SPDX-License-Identifier: Apache-2.0
#include "check_since.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <utility>

#include <fmt/core.h>

#include "base/command.h"
#include "check/check.h"
#include "doc/text.h"
#include "os/real/run_program.h"
#include "trusted_programs.h"

namespace railbed {

namespace fs = std::filesystem;

namespace {

constexpr std::chrono::seconds kGitLimit{120};
constexpr size_t kMostListed = 256u << 20;  // bytes of a list of files

// A file of the commit.
struct Blob {
  std::string object;
  std::string path;  // below the root of the repository
  size_t size = 0;
};

// git, as it may be used on a repository whose author is unknown: these commands start no other program. A partial
// clone would fetch what it lacks, by a command that the repository's configuration names; so no transport is allowed.
class Git {
 public:
  Git(fs::path root, const std::vector<std::string>& given) : root_(std::move(root)), path_(trusted_path(given)) {
    program_ = program_in(path_, "git");
  }

  const fs::path& root() const { return root_; }

  Result<std::string> commit_of(const std::string& ref) const {
    const auto found = run({"rev-parse", "--verify", "--quiet", "--end-of-options", ref + "^{commit}"}, "", 1 << 16);
    if (found) return found->substr(0, found->find('\n'));
    if (found.error().code != Code::kInvalid) return fail(found.error());
    return fail(Error{.code = Code::kNotFound,
                      .message = fmt::format("{}: no commit \"{}\"", root_.string(), doc::printable(ref)),
                      .hint = "a shallow clone has the last commits only: git fetch --unshallow"});
  }

  Result<std::vector<Blob>> files_in(const std::string& commit, const std::string& folder) const {
    std::vector<std::string> words = {"ls-tree", "-r", "-z", "-l", "--full-tree", commit};
    if (!folder.empty()) words.insert(words.end(), {"--", folder});
    const std::string list = TRY(run(words, "", kMostListed));
    std::vector<Blob> files;
    for (std::string_view left = list; !left.empty();) {
      const std::string_view entry = left.substr(0, left.find('\0'));
      left.remove_prefix(std::min(entry.size() + 1, left.size()));
      if (auto file = blob_in(entry)) files.push_back(std::move(*file));
    }
    return files;
  }

  // The contents of the files, in their order.
  Result<std::vector<std::string>> contents(const std::vector<Blob>& files) const {
    constexpr size_t kHeader = 128;  // of each object in the output
    std::string input;
    size_t size = kHeader;
    for (const Blob& file : files) {
      input += file.object + '\n';
      size += file.size + kHeader;
    }
    if (files.empty()) return std::vector<std::string>();
    const std::string output = TRY(run({"cat-file", "--batch"}, input, size));
    std::vector<std::string> texts;
    size_t at = 0;
    for (const Blob& file : files) {
      const size_t header_end = output.find('\n', at);
      if (header_end == std::string::npos || output.size() - header_end < file.size + 2)
        return fail(Code::kInvalid, "{}: git cat-file ended before {}", root_.string(), doc::printable(file.path));
      texts.push_back(output.substr(header_end + 1, file.size));
      at = header_end + 1 + file.size + 1;
    }
    return texts;
  }

 private:
  // "100644 blob OBJECT    SIZE\tPATH"; nullopt for what is no file (a submodule, a link).
  static std::optional<Blob> blob_in(std::string_view entry) {
    const size_t tab = entry.find('\t');
    if (!entry.starts_with("100") || tab == std::string_view::npos) return std::nullopt;
    std::vector<std::string_view> words;
    for (std::string_view left = entry.substr(0, tab); !left.empty();) {
      const std::string_view word = left.substr(0, left.find(' '));
      left.remove_prefix(std::min(word.size() + 1, left.size()));
      if (!word.empty()) words.push_back(word);
    }
    if (words.size() != 4 || words[1] != "blob") return std::nullopt;
    Blob file{.object = std::string(words[2]), .path = std::string(entry.substr(tab + 1))};
    const char* end = words[3].data() + words[3].size();
    if (std::from_chars(words[3].data(), end, file.size).ptr != end) return std::nullopt;
    return file;
  }

  Result<std::string> run(std::vector<std::string> words, const std::string& input, size_t most) const {
    if (program_.empty())
      return fail(Error{.code = Code::kNotFound,
                        .message = "there is no git in PATH, which --since needs",
                        .hint = "install it, or compare with --baseline"});
    words.insert(words.begin(), {"-C", root_.string()});
    std::vector<std::string> environment = {"PATH=" + path_,           "LC_ALL=C",
                                            "GIT_LITERAL_PATHSPECS=1", "GIT_OPTIONAL_LOCKS=0",
                                            "GIT_TERMINAL_PROMPT=0",   "GIT_ALLOW_PROTOCOL=none",
                                            "GIT_NO_LAZY_FETCH=1"};
    for (const char* name : {"HOME", "XDG_CONFIG_HOME"})  // whose repositories are trusted
      if (const char* value = std::getenv(name)) environment.push_back(fmt::format("{}={}", name, value));
    const os::RunResult ran = TRY(os::run_program({.program = program_,
                                                   .arguments = words,
                                                   .environment = environment,
                                                   .input = input,
                                                   .deadline = std::chrono::steady_clock::now() + kGitLimit,
                                                   .most_output = most}));
    if (ran.exit_status == 0 && ran.signal == 0) return ran.output;
    return fail(Code::kInvalid, "git {} in {}: {}", words[2], root_.string(),
                ran.errors.empty() ? fmt::format("exit status {}", ran.exit_status)
                                   : doc::printable(ran.errors.substr(0, ran.errors.find('\n'))));
  }

  fs::path root_;
  std::string path_;
  std::string program_;
};

// Whether a walk through the folder `from` ("" for the root) would read this file.
bool would_be_read(const std::string& path, const std::string& from) {
  if (!is_read_in_folders(path)) return false;
  const fs::path below = from.empty() ? fs::path(path) : fs::path(path).lexically_relative(from);
  return std::ranges::none_of(below.parent_path(),
                              [](const fs::path& name) { return is_skipped_folder(name.string()); });
}

// The files of one given path at a commit, as far as they are read.
Result<std::vector<Blob>> chosen(const Git& git, const std::string& commit, const std::string& folder,
                                 const CheckFileChoice& choice, CheckProjects& projects) {
  std::vector<Blob> files = TRY(git.files_in(commit, folder));
  std::vector<Blob> kept;
  for (Blob& file : files) {
    if (file.path != folder) {
      if (!would_be_read(file.path, folder) || file.size > check::kMaxCheckedBytes) continue;
      if (TRY(is_excluded(git.root() / file.path, git.root() / folder, choice, projects))) continue;
    }
    kept.push_back(std::move(file));
  }
  return kept;
}

}  // namespace

Result<std::vector<doc::SourcePtr>> sources_at(const std::string& ref, const std::vector<std::string>& paths,
                                               const CheckFileChoice& choice, CheckProjects& projects) {
  std::vector<doc::SourcePtr> sources;
  for (const std::string& path : paths) {
    if (path == "-") return fail(Code::kInvalid, "--since needs files of a repository, standard input is none");
    const fs::path given = plain_absolute(path);
    const fs::path root = repository_of(given);
    if (root.empty()) return fail(Code::kInvalid, "--since: {} is in no git repository", path);
    const Git git(root, paths);
    const std::string folder = given == root ? "" : given.lexically_relative(root).string();
    const std::string commit = TRY(git.commit_of(ref));
    const std::vector<Blob> files = TRY(chosen(git, commit, folder, choice, projects));
    const std::vector<std::string> texts = TRY(git.contents(files));
    for (size_t i = 0; i < files.size(); ++i) {
      const fs::path below =
          folder.empty() ? fs::path(files[i].path) : fs::path(files[i].path).lexically_relative(folder);
      const std::string name = below == "." ? path : (fs::path(path) / below).string();
      sources.push_back(std::make_shared<const doc::Source>(doc::Source{name, texts[i]}));
    }
  }
  std::ranges::stable_sort(sources, {}, [](const doc::SourcePtr& source) { return std::string_view(source->name); });
  return sources;
}

}  // namespace railbed

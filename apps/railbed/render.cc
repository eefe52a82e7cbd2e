// SPDX-License-Identifier: Apache-2.0
#include "render.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <utility>

#include <fmt/core.h>
#include <unistd.h>

#include "base/command.h"
#include "check/check.h"
#include "check/read/paths.h"
#include "check/read/rendered.h"
#include "doc/text.h"
#include "os/real/run_program.h"
#include "trusted_programs.h"

namespace railbed {
namespace {

using check::Renderer;

constexpr std::chrono::seconds kProbeLimit{10};

// A folder of its own, empty, for programs that look for their settings in HOME.
class Scratch {
 public:
  Scratch() {
    std::string name = (std::filesystem::temp_directory_path(failure_) / "railbed-render-XXXXXX").string();
    if (::mkdtemp(name.data()) != nullptr) path_ = name;
  }
  ~Scratch() {
    if (!path_.empty()) std::filesystem::remove_all(path_, failure_);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::error_code failure_;
  std::string path_;
};

struct RenderCommand {
  std::string program;
  std::vector<std::string> arguments;
  Command typed;  // as a person types it
};

// Renders folders as the manifests' authors may be trusted: not at all.
class Rendering {
 public:
  explicit Rendering(const RenderOptions& options) : options_(options), path_(trusted_path(options.given)) {}

  Result<std::string> rendered(const check::Renderable& what) const {
    if (!what.executed.empty())
      return fail(Error{.code = Code::kDenied,
                        .message = fmt::format("{} is not rendered: rendering it executes programs ({})",
                                               doc::printable(what.folder), what.executed),
                        .hint = "render it where you trust it, and give railbed check the result"});
    if (!what.remote.empty() && !options_.remote)
      return fail(Error{.code = Code::kDenied,
                        .message = fmt::format("{} is not rendered: it fetches {} from another machine",
                                               doc::printable(what.folder), doc::printable(what.remote)),
                        .hint = "--render-remote allows it, for manifests that you trust"});
    const Scratch home;
    if (home.path().empty()) return fail(Code::kIo, "creating an empty directory for the renderer failed");
    const RenderCommand command = TRY(command_for(what));
    return output_of(command, os::run_program(request(command, home.path())));
  }

 private:
  // Nothing of this process but PATH: jobs have tokens in their environment, helm finds plugins by it.
  std::vector<std::string> environment(const std::string& home) const {
    return {"PATH=" + path_, "HOME=" + home, "HELM_PLUGINS=", "HELM_NO_PLUGINS=1"};
  }

  Result<RenderCommand> command_for(const check::Renderable& what) const {
    std::vector<Command> ways;
    if (what.by == Renderer::kHelm)
      ways = {Command{"helm", "template"}};
    else
      ways = {Command{"kubectl", "kustomize"}, Command{"kustomize", "build"}};
    for (Command& way : ways) {
      way.path(what.folder);
      const std::string program = program_in(path_, way.argv().front());
      if (!program.empty()) return RenderCommand{program, {way.argv().begin() + 1, way.argv().end()}, way};
    }
    const bool helm = what.by == Renderer::kHelm;
    return fail(Error{
        .code = Code::kNotFound,
        .message = fmt::format("{} is {}, and there is no {} in PATH", doc::printable(what.folder),
                               helm ? "a Helm chart" : "a kustomization", helm ? "helm" : "kubectl and no kustomize"),
        .hint = fmt::format("install it, or render where it is: {} | railbed check -", ways.front())});
  }

  os::RunRequest request(const RenderCommand& command, const std::string& home) const {
    os::RunRequest out{.program = command.program,
                       .arguments = command.arguments,
                       .environment = environment(home),
                       .input = "",
                       .deadline = std::chrono::steady_clock::now() + options_.limit,
                       .most_output = check::kMaxCheckedBytes};
    if (options_.remote) return out;
    std::vector<std::string> apart = without_network(home);
    if (apart.empty()) return out;
    apart.push_back(std::exchange(out.program, apart.front()));
    apart.erase(apart.begin());
    out.arguments.insert(out.arguments.begin(), apart.begin(), apart.end());
    return out;
  }

  // The words that start a program in a network namespace of its own; empty where this machine does not let us.
  // Root needs no user namespace, in which files of other users could not be read.
  std::vector<std::string> without_network(const std::string& home) const {
    const std::string unshare = program_in(path_, "unshare");
    const std::string probe = program_in(path_, "true");
    if (unshare.empty() || probe.empty()) return {};
    std::vector<std::string> words = {"--net", "--"};
    if (::geteuid() != 0) words.insert(words.begin(), {"--user", "--map-current-user"});
    std::vector<std::string> tried = words;
    tried.push_back(probe);
    const auto ran = os::run_program({.program = unshare,
                                      .arguments = std::move(tried),
                                      .environment = environment(home),
                                      .input = "",
                                      .deadline = std::chrono::steady_clock::now() + kProbeLimit});
    if (!ran || ran->exit_status != 0 || ran->signal != 0) return {};
    words.insert(words.begin(), unshare);
    return words;
  }

  Result<std::string> output_of(const RenderCommand& command, Result<os::RunResult> ran) const;

  RenderOptions options_;
  std::string path_;
};

std::string first_line(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of("\r\n"), text.size()));
  return std::string(text.substr(0, text.find_first_of("\r\n")));
}

Result<std::string> Rendering::output_of(const RenderCommand& command, Result<os::RunResult> ran) const {
  const std::string hint = fmt::format("try `{}`; check what it prints: | railbed check -", command.typed);
  if (!ran && ran.error().code == Code::kTimeout)
    return fail(Error{.code = Code::kTimeout,
                      .message = fmt::format("{}: timed out after {} s", command.typed, options_.limit.count()),
                      .hint = hint + "; raise --render-timeout"});
  if (!ran) return Result<std::string>(std::unexpected(ran.error())).context("{}", command.typed);
  if (ran->signal != 0 || ran->exit_status != 0)
    return fail(Error{
        .code = Code::kInvalid,
        .message = fmt::format("{}: ended with {} {}: {}", command.typed, ran->signal != 0 ? "signal" : "exit status",
                               ran->signal != 0 ? ran->signal : ran->exit_status,
                               first_line(ran->errors.empty() ? "no error output" : ran->errors)),
        .hint = hint});
  if (ran->output.size() >= check::kMaxCheckedBytes)
    return fail(
        Error{.code = Code::kInvalid,
              .message = fmt::format("{}: printed more than {} MiB", command.typed, check::kMaxCheckedBytes >> 20),
              .hint = hint});
  return ran->output;
}

bool is_description(const std::string& file) {
  return check::file_of(file) == "Chart.yaml" || check::is_kustomization(file);
}

}  // namespace

RenderedSources render(const std::vector<doc::SourcePtr>& sources, const RenderOptions& options) {
  const Rendering rendering(options);
  RenderedSources out;
  std::set<std::string> gone;
  std::vector<doc::SourcePtr> made;
  for (const check::Renderable& one : check::renderables(sources)) {
    const Result<std::string> text = rendering.rendered(one);
    if (!text) {
      out.failures.push_back(text.error());
      continue;
    }
    gone.insert(one.files.begin(), one.files.end());
    for (const std::string& file : one.files)
      if (check::folder_of(file) == one.folder && is_description(file)) out.from.emplace(one.folder, file);
    for (doc::SourcePtr& document : check::rendered_documents(one.folder, *text)) made.push_back(std::move(document));
  }
  for (const doc::SourcePtr& source : sources)
    if (!gone.contains(source->name)) out.sources.push_back(source);
  std::ranges::move(made, std::back_inserter(out.sources));
  return out;
}

}  // namespace railbed

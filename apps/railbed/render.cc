// SPDX-License-Identifier: Apache-2.0
#include "render.h"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string>

#include <fmt/core.h>
#include <unistd.h>

#include "check/check.h"
#include "check/read/rendered.h"
#include "os/real/run_program.h"

namespace railbed {
namespace {

using check::Renderer;

// The path of a program that PATH leads to; empty where there is none.
std::string program_in_path(std::string_view name) {
  const char* path = std::getenv("PATH");
  std::string_view left = path == nullptr ? "" : path;
  while (!left.empty()) {
    const std::string_view folder = left.substr(0, left.find(':'));
    left.remove_prefix(std::min(folder.size() + 1, left.size()));
    if (folder.empty()) continue;
    const std::string program = fmt::format("{}/{}", folder, name);
    if (::access(program.c_str(), X_OK) == 0) return program;
  }
  return "";
}

struct RenderCommand {
  std::string program;
  std::vector<std::string> arguments;
  std::string text;  // as a person types it
};

Result<RenderCommand> command_for(const check::Renderable& what) {
  std::vector<std::vector<std::string>> ways;
  if (what.by == Renderer::kHelm)
    ways = {{"helm", "template"}};
  else
    ways = {{"kubectl", "kustomize"}, {"kustomize", "build"}};
  for (const auto& way : ways) {
    const std::string program = program_in_path(way.front());
    if (program.empty()) continue;
    // A folder whose name begins with "-" is no option.
    const std::string folder = what.folder.starts_with('-') ? "./" + what.folder : what.folder;
    return RenderCommand{program, {way.back(), folder}, fmt::format("{} {} {}", way.front(), way.back(), folder)};
  }
  const bool helm = what.by == Renderer::kHelm;
  return fail(Error{
      .code = Code::kNotFound,
      .message = fmt::format("{} is {}, and there is no {} in PATH", what.folder,
                             helm ? "a Helm chart" : "a kustomization", helm ? "helm" : "kubectl and no kustomize"),
      .hint = fmt::format("install it, or render where it is: {} {} | railbed check -",
                          helm ? "helm template" : "kubectl kustomize", what.folder)});
}

// A renderer is the user's own program and gets what it gets from a shell.
std::vector<std::string> own_environment() {
  std::vector<std::string> environment;
  for (char** one = environ; *one != nullptr; ++one) environment.emplace_back(*one);
  return environment;
}

std::string first_line(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of("\r\n"), text.size()));
  return std::string(text.substr(0, text.find_first_of("\r\n")));
}

Result<std::string> rendered(const check::Renderable& what, std::chrono::seconds limit) {
  const RenderCommand command = TRY(command_for(what));
  const auto ran = os::run_program({.program = command.program,
                                    .arguments = command.arguments,
                                    .environment = own_environment(),
                                    .input = "",
                                    .deadline = std::chrono::steady_clock::now() + limit,
                                    .most_output = check::kMaxCheckedBytes});
  const std::string hint = fmt::format("try `{}`; check what it prints: | railbed check -", command.text);
  if (!ran && ran.error().code == Code::kTimeout)
    return fail(Error{.code = Code::kTimeout,
                      .message = fmt::format("{}: not done after {} s, so it was ended", command.text, limit.count()),
                      .hint = hint + "; --render-timeout gives it longer"});
  if (!ran) return Result<std::string>(std::unexpected(ran.error())).context("{}", command.text);
  if (ran->signal != 0 || ran->exit_status != 0)
    return fail(Error{
        .code = Code::kInvalid,
        .message = fmt::format("{}: ended with {} {}: {}", command.text, ran->signal != 0 ? "signal" : "exit status",
                               ran->signal != 0 ? ran->signal : ran->exit_status,
                               first_line(ran->errors.empty() ? "no word about why" : ran->errors)),
        .hint = hint});
  if (ran->output.size() >= check::kMaxCheckedBytes)
    return fail(
        Error{.code = Code::kInvalid,
              .message = fmt::format("{}: printed more than {} MiB", command.text, check::kMaxCheckedBytes >> 20),
              .hint = hint});
  return ran->output;
}

}  // namespace

RenderedSources render(const std::vector<doc::SourcePtr>& sources, std::chrono::seconds limit) {
  RenderedSources out;
  std::set<std::string> gone;
  std::vector<doc::SourcePtr> made;
  for (const check::Renderable& one : check::renderables(sources)) {
    const Result<std::string> text = rendered(one, limit);
    if (!text) {
      out.failures.push_back(text.error());
      continue;
    }
    gone.insert(one.files.begin(), one.files.end());
    for (doc::SourcePtr& document : check::rendered_documents(one.folder, *text)) made.push_back(std::move(document));
  }
  for (const doc::SourcePtr& source : sources)
    if (!gone.contains(source->name)) out.sources.push_back(source);
  std::ranges::move(made, std::back_inserter(out.sources));
  return out;
}

}  // namespace railbed

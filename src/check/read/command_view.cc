// SPDX-License-Identifier: Apache-2.0
#include "check/read/command_view.h"

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>

namespace railbed::check {

const Word* ToolCommand::argument(std::string_view option) const {
  const GivenOption* given = parsed.given(*tool, option);
  return given == nullptr || given->argument_word == 0 ? nullptr : &command->words[given->argument_word];
}

bool ToolCommand::uses_gpu_memory() const {
  return std::ranges::any_of(parsed.options, [&](const GivenOption& given) {
    return std::ranges::any_of(given.option->names,
                               [&](const std::string& name) { return tool->memory.contains(name); });
  });
}

std::vector<ToolCommand> tool_commands(const Bundle& bundle) {
  std::vector<ToolCommand> out;
  for (const Command& command : bundle.commands) {
    const Tool* tool = command.words.empty() ? nullptr : find_tool(command.words[0].text);
    if (tool == nullptr) continue;
    std::vector<std::string_view> words;
    for (const Word& word : command.words) words.emplace_back(word.text);
    out.push_back({&command, tool, parse_command(*tool, words)});
  }
  return out;
}

bool agree(const Pair& ends, std::string_view option) {
  const GivenOption* server = ends.server->parsed.given(*ends.server->tool, option);
  const GivenOption* client = ends.client->parsed.given(*ends.client->tool, option);
  if (server == nullptr || client == nullptr) return server == client;
  return server->argument == client->argument || is_placeholder_word(server->argument) ||
         is_placeholder_word(client->argument);
}

namespace {

constexpr std::string_view kPortOption = "-p";  // of all tools with two sides

bool have_one_device(const Pair& ends) {
  const std::string& option = ends.client->tool->device_option;
  const Word* server = option.empty() ? nullptr : ends.server->argument(option);
  const Word* client = option.empty() ? nullptr : ends.client->argument(option);
  return server != nullptr && client != nullptr && server->text == client->text;
}

int options_in_common(const Pair& ends) {
  return static_cast<int>(std::ranges::count_if(ends.client->tool->options, [&](const ToolOption& option) {
    return option.both_sides && agree(ends, option.names.front());
  }));
}

}  // namespace

std::vector<Pair> pairs(const std::vector<ToolCommand>& commands) {
  std::vector<Pair> out;
  std::set<const ToolCommand*> paired;
  for (size_t i = 0; i < commands.size(); ++i) {
    const ToolCommand& client = commands[i];
    if (!client.tool->two_sided || !client.is_client()) continue;
    using Fit = std::tuple<bool, bool, bool, int, size_t>;
    std::optional<Fit> best;
    for (size_t j = i; j-- > 0;) {
      const ToolCommand& server = commands[j];
      if (!same_source(server.command->span, client.command->span)) break;
      if (server.tool != client.tool || server.is_client()) continue;
      const Pair ends{&server, &client};
      const Fit fit{agree(ends, kPortOption), !paired.contains(&server), have_one_device(ends), options_in_common(ends),
                    j};
      if (!best || fit > *best) best = fit;
    }
    if (!best) continue;
    const ToolCommand& server = commands[std::get<size_t>(*best)];
    paired.insert(&server);
    out.push_back({&server, &client});
  }
  return out;
}

bool same_source(const doc::Span& a, const doc::Span& b) {
  return a.source == b.source;
}

doc::Span part_of(const doc::Span& line, size_t offset, size_t length) {
  doc::Span span = line;
  span.column += static_cast<int>(offset);
  span.offset += static_cast<uint32_t>(offset);
  span.length = static_cast<int>(length);
  return span;
}

bool is_placeholder_word(std::string_view word) {
  return word.find_first_of("<>${}[]*") != std::string_view::npos || word.find("...") != std::string_view::npos ||
         word.find("\xE2\x80\xA6") != std::string_view::npos;
}

std::vector<TextLine> text_lines(const Bundle& bundle) {
  std::vector<TextLine> out;
  for (const Prose& prose : bundle.prose) out.push_back({prose.text, &prose.span, nullptr});
  for (const Command& command : bundle.commands)
    for (const Command::Line& line : command.output) out.push_back({line.text, &line.span, &command});
  return out;
}

}  // namespace railbed::check

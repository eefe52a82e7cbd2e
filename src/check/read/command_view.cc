// SPDX-License-Identifier: Apache-2.0
#include "check/read/command_view.h"

#include <algorithm>
#include <map>
#include <optional>

#include "check/read/sections.h"

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

// Whether both ends name a device, and not the same one.
bool have_two_devices(const Pair& ends) {
  const std::string& option = ends.client->tool->device_option;
  return !option.empty() && ends.server->argument(option) != nullptr && ends.client->argument(option) != nullptr &&
         !have_one_device(ends);
}

// The one server of a client; none where several would do, or the only one is of another device and another port.
std::optional<size_t> server_of(const std::vector<ToolCommand>& commands, size_t client,
                                const std::vector<size_t>& servers) {
  const auto ends_with = [&](size_t server) { return Pair{&commands[server], &commands[client]}; };
  if (servers.size() == 1) {
    const Pair ends = ends_with(servers.front());
    const bool other_test = have_two_devices(ends) && !agree(ends, kPortOption);
    return other_test ? std::nullopt : std::optional(servers.front());
  }
  std::optional<size_t> found;
  for (const size_t server : servers) {
    const Pair ends = ends_with(server);
    if (!agree(ends, kPortOption) || have_two_devices(ends)) continue;
    if (found) return std::nullopt;
    found = server;
  }
  return found;
}

}  // namespace

std::vector<Pair> pairs(const std::vector<ToolCommand>& commands) {
  struct Test {
    std::vector<size_t> servers;
    bool has_client = false;  // what follows is another one
  };
  std::vector<Pair> out;
  std::map<const Tool*, Test> tests;
  Sections sections;
  for (size_t i = 0; i < commands.size(); ++i) {
    const ToolCommand& one = commands[i];
    if (i > 0 && !sections.same(commands[i - 1].command->span, one.command->span)) tests.clear();
    if (!one.tool->two_sided) continue;
    Test& test = tests[one.tool];
    if (one.is_client()) {
      test.has_client = true;
      if (const auto server = server_of(commands, i, test.servers)) out.push_back({&commands[*server], &one});
      continue;
    }
    if (test.has_client) test = {};
    test.servers.push_back(i);
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

// SPDX-License-Identifier: Apache-2.0
#include "check/read/tools.h"

#include <algorithm>
#include <map>

#include "check/data_files.h"
#include "doc/diagnostic.h"
#include "doc/members.h"

namespace railbed::check {

namespace {

using doc::Value;

std::vector<std::string_view> split_words(std::string_view text) {
  std::vector<std::string_view> words;
  for (size_t at = text.find_first_not_of(' '); at < text.size();) {
    const size_t end = std::min(text.find(' ', at), text.size());
    words.push_back(text.substr(at, end - at));
    at = text.find_first_not_of(' ', end);
  }
  return words;
}

// Parses "-d --ib-dev DEVICE"; "both" at the end marks options on which server and client must agree.
ToolOption option_of(std::string_view line) {
  ToolOption option;
  for (std::string_view word : split_words(line))
    if (word.starts_with("-"))
      option.names.emplace_back(word);
    else if (word == "both")
      option.both_sides = true;
    else
      option.argument = word;
  return option;
}

struct Tools {
  std::map<std::string, Tool, std::less<>> tools;
  // A program and the words that may follow it; empty: any word.
  std::map<std::string, std::set<std::string, std::less<>>, std::less<>> programs;
  std::set<std::string, std::less<>> shell;
};

void add_tool(const Value& entry, const Value& groups, Tools& out) {
  Tool tool;
  tool.package = doc::text_in(entry, "package");
  for (const std::string& group : doc::texts_in(entry, "groups"))
    for (const std::string& line : doc::texts_in(groups, group)) tool.options.push_back(option_of(line));
  for (const std::string& line : doc::texts_in(entry, "options")) tool.options.push_back(option_of(line));
  const Value* positionals = entry.find("positionals");
  if (const int64_t* count = positionals ? positionals->as_int() : nullptr) tool.positionals = static_cast<int>(*count);
  tool.takes = doc::text_in(entry, "takes");
  tool.stops_at_word = doc::flag_in(entry, "stopsAtWord");
  tool.two_sided = doc::flag_in(entry, "twoSided");
  tool.device_option = doc::text_in(entry, "device");
  for (std::string& name : doc::texts_in(entry, "gpuMemory")) tool.memory.insert(std::move(name));
  tool.hint = doc::text_in(entry, "hint");
  for (const std::string& name : doc::texts_in(entry, "names")) {
    tool.name = name;
    out.tools.emplace(name, tool);
    out.programs.try_emplace(name);
  }
}

Tools read_tools() {
  Tools out;
  const Value data = data_document("tools.yaml");
  const Value none;
  const Value* groups = data.find("groups");
  const Value* tools = data.find("tools");
  if (const Value::Array* entries = tools ? tools->as_array() : nullptr)
    for (const Value& entry : *entries) add_tool(entry, groups ? *groups : none, out);
  for (const std::string& line : doc::texts_in(data, "programs"))
    for (std::string_view name : split_words(line)) out.programs.try_emplace(std::string(name));
  const Value* subcommands = data.find("subcommands");
  if (const Value::Object* members = subcommands ? subcommands->as_object() : nullptr)
    for (const Value::Member& member : *members)
      for (const std::string& line : doc::texts_in(*subcommands, member.key))
        for (std::string_view word : split_words(line)) out.programs[member.key].emplace(word);
  for (const std::string& line : doc::texts_in(data, "shell"))
    for (std::string_view word : split_words(line)) out.shell.emplace(word);
  return out;
}

const Tools& tools() {
  static const Tools kTools = read_tools();
  return kTools;
}

}  // namespace

const ToolOption* Tool::find(std::string_view wanted) const {
  const ToolOption* begins = nullptr;
  for (const ToolOption& option : options)
    for (const std::string& known : option.names) {
      if (known == wanted) return &option;
      if (!wanted.starts_with("--") || wanted.size() < 4 || !known.starts_with(wanted)) continue;
      if (begins != nullptr && begins != &option)
        begins = nullptr;
      else
        begins = &option;
    }
  return begins;
}

const Tool* find_tool(std::string_view name) {
  name.remove_prefix(name.rfind('/') + 1);
  const auto found = tools().tools.find(name);
  return found == tools().tools.end() ? nullptr : &found->second;
}

bool is_program(std::string_view name) {
  name.remove_prefix(name.rfind('/') + 1);
  return tools().programs.contains(name);
}

bool may_follow(std::string_view name, std::string_view word) {
  if (word.empty()) return false;
  name.remove_prefix(name.rfind('/') + 1);
  const auto program = tools().programs.find(name);
  if (program == tools().programs.end()) return false;
  if (program->second.contains(word)) return true;
  if (std::string_view("-/<>$|.~{}'\"&;*:@[0123456789").find(word[0]) != std::string_view::npos) return true;
  if (!program->second.empty()) return false;
  return word.find_first_of("_0123456789=/.:<{*") < word.size() && !word.ends_with(':') && !word.ends_with('.');
}

bool is_shell_word(std::string_view word) {
  return tools().shell.contains(word);
}

const GivenOption* ParsedCommand::given(const Tool& tool, std::string_view name) const {
  const ToolOption* wanted = tool.find(name);
  const auto found = std::ranges::find(options, wanted, &GivenOption::option);
  return wanted == nullptr || found == options.end() ? nullptr : &*found;
}

namespace {

class CommandParser {
 public:
  CommandParser(const Tool& tool, std::span<const std::string_view> words) : tool_(tool), words_(words) {}

  ParsedCommand parse() {
    for (at_ = 1; at_ < words_.size(); ++at_) {
      const std::string_view word = words_[at_];
      if (options_ended_ || word.size() < 2 || word[0] != '-')
        positional();
      else if (word == "--")
        options_ended_ = true;
      else if (word[1] == '-')
        long_option(word);
      else if (!whole_word(word))
        letters(word);
    }
    return std::move(out_);
  }

 private:
  void positional() {
    out_.positionals.push_back(at_);
    if (tool_.stops_at_word) options_ended_ = true;
    if (tool_.positionals < 0 || out_.positionals.size() <= static_cast<size_t>(tool_.positionals)) return;
    OptionProblem stray{.what = OptionProblem::kStray, .word = at_};
    if (!out_.options.empty() && out_.options.back().word + 1 == at_ && out_.options.back().option->argument.empty())
      stray.after = out_.options.back().name;
    out_.problems.push_back(std::move(stray));
  }

  void give(const ToolOption& option, std::string name, std::string_view argument, size_t argument_word) {
    out_.options.push_back({&option, std::move(name), std::string(argument), at_, argument_word});
  }

  // Takes the next word as the argument of an option.
  void take_next(const ToolOption& option, const std::string& name, size_t word) {
    if (at_ + 1 >= words_.size()) {
      out_.problems.push_back({.what = OptionProblem::kNeedsArgument, .word = word, .option = name});
      give(option, name, {}, 0);
      return;
    }
    give(option, name, words_[at_ + 1], at_ + 1);
    ++at_;
  }

  void unknown(std::string_view name) {
    std::vector<std::string_view> names;
    for (const ToolOption& option : tool_.options)
      for (const std::string& known : option.names)
        if (known.size() > 2) names.push_back(known);
    out_.problems.push_back({.what = OptionProblem::kUnknown,
                             .word = at_,
                             .option = std::string(name),
                             .nearest = name.size() > 2 ? doc::nearest(name, names) : ""});
  }

  void long_option(std::string_view word) {
    const size_t equals = word.find('=');
    const std::string_view name = word.substr(0, equals);
    const ToolOption* option = tool_.find(name);
    if (option == nullptr) return unknown(name);
    if (equals != std::string_view::npos)
      give(*option, std::string(name), word.substr(equals + 1), at_);
    else if (option->argument.empty() || option->argument.starts_with('['))
      give(*option, std::string(name), {}, 0);
    else
      take_next(*option, std::string(name), at_);
  }

  // Some tools have options of one dash and several letters ("ip -br").
  bool whole_word(std::string_view word) {
    if (word.size() == 2) return false;
    const ToolOption* option = nullptr;
    for (const ToolOption& o : tool_.options)
      if (std::ranges::find(o.names, word) != o.names.end()) option = &o;
    if (option == nullptr) return false;
    if (option->argument.empty())
      give(*option, std::string(word), {}, 0);
    else
      take_next(*option, std::string(word), at_);
    return true;
  }

  void letters(std::string_view word) {
    const size_t here = at_;
    for (size_t i = 1; i < word.size(); ++i) {
      const std::string name{'-', word[i]};
      const ToolOption* option = tool_.find(name);
      if (option == nullptr) return unknown(i == 1 ? word : std::string_view(name));
      if (option->argument.empty()) {
        give(*option, name, {}, 0);
        continue;
      }
      if (i + 1 < word.size())
        give(*option, name, word.substr(i + 1), here);
      else
        take_next(*option, name, here);
      return;
    }
  }

  const Tool& tool_;
  std::span<const std::string_view> words_;
  size_t at_ = 1;
  bool options_ended_ = false;
  ParsedCommand out_;
};

}  // namespace

ParsedCommand parse_command(const Tool& tool, std::span<const std::string_view> words) {
  return CommandParser(tool, words).parse();
}

}  // namespace railbed::check

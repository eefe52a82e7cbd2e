// SPDX-License-Identifier: Apache-2.0
#include "check/read/shell.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <span>

#include "check/read/page.h"
#include "check/read/prompts.h"
#include "check/read/shell_words.h"
#include "check/read/tools.h"

namespace railbed::check {

namespace {

std::string_view from_first_word(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t");
  return first == std::string_view::npos ? std::string_view() : text.substr(first);
}

std::string_view first_shell_word(std::string_view text) {
  return text.substr(0, text.find_first_of(" \t|;&"));
}

// "name@host", "[root@node ~]", "sh-4.4", "bash-5.1": the part of a prompt before '#' or '$'.
bool is_prompt_name(std::string_view name) {
  if (name.starts_with("(") && name.find(") ") != std::string_view::npos) name.remove_prefix(name.find(") ") + 2);
  if (name.starts_with("[") && name.ends_with("]")) return name.size() < 60;
  if (name.find_first_of(" \t\"'=") != std::string_view::npos || name.size() > 60) return false;
  return name.starts_with("sh-") || name.starts_with("bash-") || name.find('@') != std::string_view::npos ||
         name.ends_with("~") || name == "/" || name.starts_with("/ ");
}

// "ann@laptop charts" before '%' (zsh), "laptop:charts ann" before '$' (bash of macOS).
bool is_prompt_of_mac(std::string_view name, char mark) {
  const size_t blank = name.find(' ');
  if (blank == std::string_view::npos || name.find(' ', blank + 1) != std::string_view::npos) return false;
  if (name.find_first_of("\t\"'=") != std::string_view::npos) return false;
  const std::string_view first = name.substr(0, blank);
  const std::string_view folder = name.substr(blank + 1);
  // "root@master ~/charts" before '#' or '$'.
  if (first.find('@') != std::string_view::npos && !first.ends_with(':') &&
      (mark == '%' || folder[0] == '~' || folder[0] == '/'))
    return true;
  return mark == '$' && first.find(':') != std::string_view::npos && !first.ends_with(':');
}

// "(venv)", "PS C:\\charts": what stands before a mark and is no name of a user or a machine.
bool is_prompt_of_tool(std::string_view name, char mark) {
  if (mark == '>') return name == "PS" || name.starts_with("PS ") || (name.size() > 2 && name.substr(1, 2) == ":\\");
  return name.size() > 2 && name.starts_with('(') && name.find(')') == name.size() - 1;
}

// One word that may be the name of a machine: "hub> oc get nodes", "master# kubectl get pods".
bool is_machine_word(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '-' || c == '.' || c == '@' || c == '_';
  });
}

}  // namespace

bool looks_like_command(std::string_view line) {
  line = from_first_word(line);
  if (line.starts_with("sudo ")) line = from_first_word(line.substr(5));
  const std::string_view program = first_shell_word(line);
  if (!is_program(program)) return false;
  const std::string_view rest = from_first_word(line.substr(program.size()));
  // Sentences end with a full stop and a colon; commands rarely do.
  if (rest.empty()) return true;
  return may_follow(program, first_shell_word(rest)) || rest[0] == '|' || rest[0] == ';' || rest[0] == '&';
}

size_t prompt_length(std::string_view line) {
  const size_t indent = line.find_first_not_of(" \t");
  if (indent == std::string_view::npos) return 0;
  const std::string_view text = line.substr(indent);
  const auto behind = [&](size_t mark) {
    const size_t next = text.find_first_not_of(" \t", mark + 1);
    return next == std::string_view::npos ? 0 : indent + next;
  };
  if (text.starts_with("$ ") || text.starts_with("% ")) return behind(0);
  if (text.starts_with("$> ") || text.starts_with("#> ")) return behind(1);
  if (const size_t drawn = drawn_prompt_length(text); drawn > 0) return indent + drawn;
  for (const std::string_view mark : {"❯ ", "➜ ", "λ "})
    if (text.starts_with(mark)) return behind(mark.size() - 2);
  // Also a whole line of a terminal that a mail or a page quotes: "> root@n1 ~# ls".
  if (text.starts_with("> ")) {
    const size_t length = behind(0);
    const std::string_view rest = length > 0 ? line.substr(length) : std::string_view();
    if (rest.empty() || rest[0] == '#' || rest[0] == '>') return 0;
    const size_t quoted = prompt_length(rest);
    return quoted > 0 ? length + quoted : looks_like_command(rest) ? length : 0;
  }
  if (text.starts_with("#")) {
    const size_t length = text.starts_with("##") ? 0 : behind(0);
    return length > 0 && looks_like_command(line.substr(length)) ? length : 0;
  }
  // What `set -x` prints: "+ oc create -f -", "++ hostname".
  if (const size_t mark = text.starts_with("++ ") ? 1 : 0; mark == 1 || text.starts_with("+ ")) {
    const size_t length = behind(mark);
    return length > 0 && looks_like_command(line.substr(length)) ? length : 0;
  }
  for (size_t at = text.find_first_of("#$%>"); at != std::string_view::npos && at < 64;
       at = text.find_first_of("#$%>", at + 1)) {
    if (at + 1 >= text.size() || text[at + 1] != ' ') continue;
    size_t last = at;
    while (last > 0 && text[last - 1] == ' ') --last;
    const std::string_view name = text.substr(0, last);
    if (text[at] != '>' && (is_prompt_name(name) || is_prompt_of_mac(name, text[at]))) return behind(at);
    if (is_prompt_of_tool(name, text[at])) return behind(at);
    if (last == at && is_machine_word(name) && looks_like_command(text.substr(at + 1))) return behind(at);
  }
  return 0;
}

namespace {

class ShellReader {
 public:
  ShellReader(const doc::SourcePtr& source, const doc::LineIndex& index, doc::Region region, ShellText kind,
              Bundle& bundle, const HereDocument& here_document, std::string& where)
      : text_(source->text),
        index_(index),
        region_(region),
        kind_(kind),
        bundle_(bundle),
        here_document_(here_document),
        lexer_(text_, region.end),
        where_(where) {}

  void read() {
    const bool prompts = kind_ == ShellText::kConsole || (kind_ == ShellText::kScript && has_prompt());
    for (size_t at = region_.begin; at < region_.end;) {
      const PageLine line = line_at(text_, at, region_.end);
      at = line.next;
      if (line.text.find_first_not_of(" \t") == std::string_view::npos) continue;
      const size_t prompt = kind_ == ShellText::kFile ? 0 : prompt_length(line.text);
      if (prompt > 0) {
        note_prompt(line.text.substr(0, prompt));
        at = commands(line.begin + prompt);
      } else if (is_table_head(line.text)) {
        output(line);
      } else if (from_first_word(line.text).starts_with("#")) {
        comment(line);
      } else if (prompts) {
        output(line);
      } else {
        at = unprompted(line);
      }
    }
  }

 private:
  bool has_prompt() const {
    for (size_t at = region_.begin; at < region_.end;) {
      const PageLine line = line_at(text_, at, region_.end);
      if (prompt_length(line.text) > 0) return true;
      at = line.next;
    }
    return false;
  }

  // "sh-4.4# " is a shell opened by `oc debug` or `oc rsh`; any other prompt means that it has ended.
  void note_prompt(std::string_view prompt) {
    prompt = from_first_word(prompt);
    if (!prompt.starts_with("sh-") && !prompt.starts_with("bash-") && !prompt.starts_with("#")) where_.clear();
  }

  doc::Span span(size_t begin, size_t end) const { return index_.at(begin, end - begin); }

  // "#bytes  #iterations": after output, a '#' without a blank after it is part of the output.
  bool is_table_head(std::string_view line) const {
    line = from_first_word(line);
    return kind_ != ShellText::kFile && last_ && !bundle_.commands[*last_].output.empty() && line.size() > 1 &&
           line[0] == '#' && line[1] != ' ' && line[1] != '#' && line[1] != '!';
  }

  void comment(const PageLine& line) {
    const size_t mark = line.text.find('#');
    const std::string_view said = line.text.substr(mark);
    if (said.starts_with("#!") || said.find_first_not_of("# \t-=") == std::string_view::npos) return;
    bundle_.prose.push_back({said, span(line.begin + mark, line.begin + line.text.size())});
  }

  void output(const PageLine& line) {
    if (!last_) return;
    const size_t first = std::min(line.text.find_first_not_of(" \t"), line.text.size());
    bundle_.commands[*last_].output.push_back(
        {line.text.substr(first), span(line.begin + first, line.begin + line.text.size())});
  }

  // A line of a script. Of what is neither a known program nor a word of the shell there is no way to know whether it
  // was pasted; below a command it counts as its output.
  size_t unprompted(const PageLine& line) {
    std::string_view word = first_shell_word(from_first_word(line.text));
    const size_t equals = word.find('=');
    const bool assigns =
        equals != std::string_view::npos && equals > 0 &&
        word.substr(0, equals).find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789") ==
            std::string_view::npos;
    const bool known = is_program(word) || is_shell_word(word) || assigns;
    if (!known && kind_ != ShellText::kFile && last_ && find_tool(program_of_last()) != nullptr) {
      output(line);
      return line.next;
    }
    return commands(line.begin);
  }

  std::string_view program_of_last() const {
    const std::vector<Word>& words = bundle_.commands[*last_].words;
    return words.empty() ? std::string_view() : std::string_view(words[0].text);
  }

  // Reads the commands that begin at `at` to the end of their line; returns where the next line begins.
  size_t commands(size_t at) {
    ShellLine line = lexer_.line(at);
    const size_t begin = bundle_.commands.size();
    for (ShellWords& words : line.commands) add(std::move(words), where_);
    if (bundle_.commands.size() > begin) last_ = first_tool(begin);
    size_t next = line.next;
    if (line.here_documents.empty()) return next;
    const Applied applied = applied_by(std::span(bundle_.commands).subspan(begin));
    for (const std::string& mark : line.here_documents) next = here_document(next, mark, applied);
    return next;
  }

  // The output of a pipe belongs to the first program that has a table of options, otherwise to the first one.
  size_t first_tool(size_t begin) const {
    for (size_t i = begin; i < bundle_.commands.size(); ++i)
      if (!bundle_.commands[i].words.empty() && find_tool(bundle_.commands[i].words[0].text) != nullptr) return i;
    return begin;
  }

  size_t here_document(size_t at, std::string_view mark, const Applied& applied) {
    const size_t begin = at;
    if (open_here_documents_ >= kMaxOpenHereDocuments) return begin;
    while (at < region_.end) {
      const PageLine line = line_at(text_, at, region_.end);
      at = line.next;
      if (from_first_word(line.text) != mark) continue;
      here_document_({begin, line.begin, region_.indent}, applied);
      return at;
    }
    ++open_here_documents_;
    return begin;  // never closed: treat it as no here-document
  }

  void add(ShellWords words, const std::string& where) {
    Command command;
    command.where = where;
    const size_t skipped = skip_leaders(words, command.where);
    command.environment = take_environment(words);
    const bool opens_shell = skipped + 1 == words.size() && is_shell(words[skipped].text);
    // `oc debug node/x`, `kubectl exec -it POD -- bash`: the following commands run there.
    if (skipped >= words.size() || opens_shell) where_ = command.where;
    if (skipped >= words.size()) return;
    if (auto inner = shell_argument(words, skipped)) {
      ShellLexer lexer(text_, inner->end);
      for (ShellWords& part : lexer.line(inner->begin).commands) add(std::move(part), command.where);
      return;
    }
    for (size_t i = skipped; i < words.size(); ++i)
      command.words.push_back({std::move(words[i].text), span(words[i].begin, words[i].end)});
    if (command.words.empty()) return;
    command.span = span(words[skipped].begin, words.back().end);
    bundle_.commands.push_back(std::move(command));
  }

  static bool is_shell(std::string_view program) {
    return program == "sh" || program == "bash" || program == "/bin/sh" || program == "/bin/bash";
  }

  std::vector<Word> take_environment(const ShellWords& words) const {
    std::vector<Word> environment;
    for (const ShellWord& word : words) {
      if (!is_assignment(word)) {
        if (word.text == "sudo" || word.text == "env" || word.text == "export") continue;
        break;
      }
      environment.push_back({word.text, span(word.begin, word.end)});
    }
    return environment;
  }

  // The place of COMMAND in `sh -c 'COMMAND'`; nullopt if it has escapes, which would make places wrong.
  std::optional<doc::Region> shell_argument(const ShellWords& words, size_t first) const {
    if (first + 2 >= words.size()) return std::nullopt;
    const std::string& program = words[first].text;
    const std::string& option = words[first + 1].text;
    if (!is_shell(program)) return std::nullopt;
    if (option != "-c" && option != "-lc" && option != "-ec" && option != "-xc") return std::nullopt;
    const ShellWord& argument = words[first + 2];
    if (!argument.quoted || argument.end - argument.begin != argument.text.size() + 2) return std::nullopt;
    return doc::Region{argument.begin + 1, argument.end - 1};
  }

  std::string_view text_;
  const doc::LineIndex& index_;
  doc::Region region_;
  ShellText kind_;
  Bundle& bundle_;
  const HereDocument& here_document_;
  ShellLexer lexer_;
  // Bounds the time: each one without an end is searched for to the end of the text.
  static constexpr int kMaxOpenHereDocuments = 8;
  int open_here_documents_ = 0;
  std::optional<size_t> last_;  // the command that output belongs to
  std::string& where_;
};

}  // namespace

void read_shell(const doc::SourcePtr& source, const doc::LineIndex& index, doc::Region region, ShellText kind,
                Bundle& bundle, const HereDocument& here_document, std::string& where) {
  ShellReader(source, index, region, kind, bundle, here_document, where).read();
}

}  // namespace railbed::check

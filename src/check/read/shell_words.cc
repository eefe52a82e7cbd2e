// SPDX-License-Identifier: Apache-2.0
#include "check/read/shell_words.h"

#include <algorithm>
#include <cctype>

namespace railbed::check {

struct ShellLexer::State {
  size_t at = 0;
  ShellLine line;
  ShellWords words;
  ShellWord word;
  bool open = false;       // a word has begun
  bool redirects = false;  // the next word is the target of a redirection
  bool ended = false;
  struct Outer {
    ShellWords words;
    char closing = ')';
    bool in_word = false;  // the substitution follows the last word without a blank
  };
  std::vector<Outer> outer;  // commands around $(…) and `…`

  void add(char c) {
    if (!open) {
      word = {.text = {}, .begin = at, .end = at};
      open = true;
    }
    word.text += c;
  }
  void end_word(size_t end) {
    if (!open) return;
    word.end = end;
    if (!redirects) words.push_back(std::move(word));
    redirects = false;
    open = false;
  }
  void end_command(size_t end) {
    end_word(end);
    redirects = false;
    if (!words.empty()) line.commands.push_back(std::move(words));
    words = {};
  }
};

size_t ShellLexer::closing(size_t at, char mark) {
  size_t& known = closing_[mark == '\'' ? 0 : 1];
  if (known > at) return known;
  size_t i = at + 1;
  while (i < text_.size() && text_[i] != mark) i += mark == '"' && text_[i] == '\\' ? 2 : 1;
  return known = std::min(i, text_.size());
}

void ShellLexer::quote(State& state, char mark) {
  const size_t end = closing(state.at, mark);
  if (end >= text_.size() || end - state.at > kMaxQuoted) {
    state.add(mark);
    ++state.at;
    return;
  }
  if (!state.open) {
    state.word = {.text = {}, .begin = state.at, .end = state.at};
    state.open = true;
  }
  state.word.quoted = true;
  for (size_t i = state.at + 1; i < end; ++i) {
    const bool escape = mark == '"' && text_[i] == '\\' && i + 1 < end &&
                        std::string_view("\"\\$`\n").find(text_[i + 1]) != std::string_view::npos;
    if (escape) ++i;
    state.word.text += text_[i];
  }
  state.at = end + 1;
}

// `<node-name>`, `<your namespace>`: a placeholder where a shell would see a redirection.
bool ShellLexer::placeholder(State& state) {
  const size_t end = text_.substr(0, std::min(text_.size(), state.at + 64)).find_first_of(">\n|;&<\"'", state.at + 1);
  if (end == std::string_view::npos || text_[end] != '>' || end == state.at + 1) return false;
  const char first = text_[state.at + 1];
  if (std::isalpha(static_cast<unsigned char>(first)) == 0) return false;
  for (; state.at <= end; ++state.at) state.add(text_[state.at]);
  return true;
}

void ShellLexer::here_mark(State& state) {
  size_t at = state.at + 2;
  if (at < text_.size() && text_[at] == '-') ++at;
  while (at < text_.size() && text_[at] == ' ') ++at;
  const bool quoted = at < text_.size() && (text_[at] == '\'' || text_[at] == '"');
  if (quoted) ++at;
  const size_t begin = at;
  while (at < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at])) != 0 || text_[at] == '_')) ++at;
  if (at > begin) state.line.here_documents.emplace_back(text_.substr(begin, at - begin));
  state.at = at + (quoted && at < text_.size() ? 1 : 0);
}

// Skips '>' with its target, which is no word of the command.
void ShellLexer::redirection(State& state) {
  const bool descriptor = state.open && !state.word.quoted && state.word.text.size() == 1 &&
                          std::isdigit(static_cast<unsigned char>(state.word.text[0])) != 0;
  if (descriptor) state.open = false;
  state.end_word(state.at);
  while (state.at < text_.size() && (text_[state.at] == '>' || text_[state.at] == '<')) ++state.at;
  if (state.at < text_.size() && text_[state.at] == '&') {
    ++state.at;
    while (state.at < text_.size() &&
           (std::isdigit(static_cast<unsigned char>(text_[state.at])) != 0 || text_[state.at] == '-'))
      ++state.at;
    return;
  }
  state.redirects = true;
}

void ShellLexer::step(State& state) {
  const char c = text_[state.at];
  const char next = state.at + 1 < text_.size() ? text_[state.at + 1] : '\0';
  const bool returns = c == '\r' && next == '\n';
  if (c == '\\' && next != '\0') {
    const bool continued = next == '\n' || (next == '\r' && text_.substr(state.at + 2).starts_with('\n'));
    if (continued) {
      state.end_word(state.at);
      state.at += next == '\n' ? 2 : 3;
    } else {
      state.add(next);
      state.at += 2;
    }
  } else if (c == '\n' || returns) {
    state.ended = true;
  } else if (c == ' ' || c == '\t') {
    state.end_word(state.at++);
  } else if (c == '#' && !state.open) {
    state.at = std::min(text_.find('\n', state.at), text_.size());
  } else if (c == '\'' || c == '"') {
    quote(state, c);
  } else if ((c == '$' && next == '(') || (c == '`' && (state.outer.empty() || state.outer.back().closing != '`'))) {
    const bool in_word = state.open;
    state.end_word(state.at);
    state.outer.push_back({std::move(state.words), c == '`' ? '`' : ')', in_word});
    state.words = {};
    state.at += c == '`' ? 1 : 2;
  } else if ((c == ')' || c == '`') && !state.outer.empty() && state.outer.back().closing == c) {
    state.end_command(state.at++);
    const bool in_word = state.outer.back().in_word;
    state.words = std::move(state.outer.back().words);
    state.outer.pop_back();
    // The result of a substitution counts as one word, or as the rest of one.
    if (in_word && !state.words.empty())
      state.words.back().text += '$';
    else if (!state.words.empty())
      state.add('$');
  } else if (c == '|' || c == ';' || c == '&' || c == '(' || c == ')') {
    state.end_command(state.at++);
  } else if (c == '<' && next == '<' && !text_.substr(state.at).starts_with("<<<")) {
    state.end_word(state.at);
    here_mark(state);
  } else if (c == '<' && placeholder(state)) {
    return;
  } else if (c == '<' || c == '>') {
    redirection(state);
  } else {
    state.add(c);
    ++state.at;
  }
}

ShellLine ShellLexer::line(size_t at) {
  State state;
  state.at = at;
  while (state.at < text_.size() && !state.ended) step(state);
  state.end_command(state.at);
  while (!state.outer.empty()) {
    if (!state.outer.back().words.empty()) state.line.commands.push_back(std::move(state.outer.back().words));
    state.outer.pop_back();
  }
  // The outer command of a substitution comes before the inner commands.
  std::ranges::stable_sort(state.line.commands, {}, [](const ShellWords& words) { return words[0].begin; });
  state.line.next = std::min(text_.find('\n', std::min(state.at, text_.size())), text_.size() - 1) + 1;
  return std::move(state.line);
}

bool is_assignment(const ShellWord& word) {
  const size_t equals = word.text.find('=');
  if (equals == 0 || equals == std::string::npos) return false;
  return std::ranges::all_of(word.text.substr(0, equals),
                             [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; });
}

namespace {

class Leaders {
 public:
  Leaders(const ShellWords& words, std::string& where) : words_(words), where_(where) {}

  size_t skip() {
    while (at_ < words_.size() && step()) {
    }
    return at_;
  }

 private:
  const std::string& word(size_t at) const { return words_[at].text; }
  bool is_option(size_t at) const { return at < words_.size() && word(at).starts_with("-"); }
  void skip_options() {
    while (is_option(at_)) ++at_;
  }

  bool step() {
    const std::string& name = word(at_);
    static constexpr std::array<std::string_view, 10> kKeywords{"do",    "then", "else", "if",     "elif",
                                                                "while", "!",    "{",    "export", "exec"};
    if (is_assignment(words_[at_]) || std::ranges::find(kKeywords, name) != kKeywords.end()) {
      ++at_;
      return true;
    }
    if (name == "sudo" || name == "env" || name == "nohup" || name == "time" || name == "watch" || name == "numactl") {
      ++at_;
      while (is_option(at_)) at_ += (word(at_) == "-u" || word(at_) == "-n") && at_ + 2 < words_.size() ? 2 : 1;
      return true;
    }
    if (name == "timeout" || name == "taskset" || name == "chroot") return with_one_argument();
    if (name == "kubectl" || name == "oc" || name == "docker" || name == "podman" || name == "crictl")
      return into_container();
    return false;
  }

  bool with_one_argument() {
    if (at_ + 2 >= words_.size()) return false;
    ++at_;
    skip_options();
    ++at_;
    return true;
  }

  // kubectl [options] exec|debug|rsh [options] POD [options] [--] COMMAND
  bool into_container() {
    size_t verb = at_ + 1;
    while (verb < words_.size() && word(verb) != "exec" && word(verb) != "debug" && word(verb) != "rsh") {
      const bool argument = word(verb - 1) == "-n" || word(verb - 1) == "--namespace" || word(verb - 1) == "--context";
      if (!is_option(verb) && !argument) return false;
      ++verb;
    }
    if (verb >= words_.size()) return false;
    size_t target = verb + 1;
    while (is_option(target)) target += takes_argument(word(target)) ? 2 : 1;
    if (target >= words_.size()) return false;
    size_t dashes = target;
    while (dashes < words_.size() && word(dashes) != "--") ++dashes;
    const bool rsh = word(verb) == "rsh" || word(at_) == "docker" || word(at_) == "podman" || word(at_) == "crictl";
    where_ = word(target);
    at_ = dashes < words_.size() ? dashes + 1 : rsh ? target + 1 : words_.size();
    return true;
  }

  static bool takes_argument(const std::string& option) {
    return option == "-n" || option == "--namespace" || option == "-c" || option == "--container" ||
           option == "--image" || option == "--context" || option == "-e" || option == "-u" || option == "-w";
  }

  const ShellWords& words_;
  std::string& where_;
  size_t at_ = 0;
};

}  // namespace

size_t skip_leaders(const ShellWords& words, std::string& where) {
  return Leaders(words, where).skip();
}

}  // namespace railbed::check

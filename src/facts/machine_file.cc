// SPDX-License-Identifier: Apache-2.0
#include "facts/machine_file.h"

#include <algorithm>

#include "base/text.h"

namespace railbed::facts {
namespace {

using EntryKind = os::MemoryFiles::Entry::Kind;

std::string unescaped(std::string_view text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      result += text[i];
      continue;
    }
    char next = text[++i];
    if (next == 'n')
      result += '\n';
    else if (next == 't')
      result += '\t';
    else if (next == 'r')
      result += '\r';
    else if (next == 's')
      result += ' ';
    else
      result += next;
  }
  return result;
}

std::string escaped(std::string_view text) {
  std::string result;
  for (char c : text) {
    if (c == '\n')
      result += "\\n";
    else if (c == '\t')
      result += "\\t";
    else if (c == '\r')
      result += "\\r";
    else if (c == '\\')
      result += "\\\\";
    else
      result += c;
  }
  // The parser strips blanks at the ends.
  if (result.starts_with(' ')) result.replace(0, 1, "\\s");
  if (result.ends_with(' ')) result.replace(result.size() - 1, 1, "\\s");
  return result;
}

class Parser {
 public:
  Parser(std::string_view text, std::string_view name) : rest_(text), name_(name) {}

  Result<std::unique_ptr<os::MemoryFiles>> parse() {
    while (!rest_.empty()) {
      std::string_view line = trimmed(next_line());
      if (line.empty() || line.front() == '#') continue;
      if (line.front() == '[' && line.back() == ']') {
        folder_ = line.substr(1, line.size() - 2);
        if (!folder_.starts_with('/')) return wrong("a folder begins with \"/\"");
        continue;
      }
      TRY(entry(line));
    }
    return std::move(files_);
  }

 private:
  std::string_view next_line() {
    size_t end = rest_.find('\n');
    std::string_view line = rest_.substr(0, end);
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
    ++line_;
    return line;
  }

  std::unexpected<Error> wrong(std::string_view why) { return fail(Code::kInvalid, "{}:{}: {}", name_, line_, why); }

  Result<std::string> path_of(std::string_view name) {
    if (!name.starts_with('/') && folder_.empty()) return wrong("a name before the first [folder]");
    std::string path = name.starts_with('/') ? std::string(name) : folder_ + "/" + std::string(name);
    // A blank ends a name in this format. No kernel attribute that is read here has one in its name.
    bool plain = std::ranges::none_of(path, [](unsigned char c) { return c <= ' ' || c == 0x7f; });
    if (!plain || path.find("//") != std::string::npos || path.find("/../") != std::string::npos || name.empty())
      return wrong("not a plain name");
    return path;
  }

  Result<void> entry(std::string_view line) {
    // The target of a link may end in a slash, too.
    if (line.ends_with('/') && line.find(' ') == std::string_view::npos)
      return put(files_->put_directory(TRY(path_of(line.substr(0, line.size() - 1)))));
    size_t blank = line.find(' ');
    std::string_view mark = blank == std::string_view::npos ? "" : trimmed(line.substr(blank));
    std::string path = TRY(path_of(line.substr(0, blank)));
    if (mark.starts_with("->")) {
      return put(files_->put_link(path, std::string(trimmed(mark.substr(2)))));
    } else if (mark.starts_with("<<")) {
      return many_lines(path, trimmed(mark.substr(2)));
    } else if (mark.starts_with(":=")) {
      return put(files_->put_file(path, unescaped(trimmed(mark.substr(2)))));
    } else if (mark.starts_with("=")) {
      return put(files_->put_file(path, unescaped(trimmed(mark.substr(1))) + "\n"));
    }
    return wrong("neither \"name = text\", \"name := text\", \"name -> target\", \"name <<END\" nor \"name/\"");
  }

  Result<void> put(bool done) {
    if (!done) return wrong("a part of this path is a file or a link");
    return {};
  }

  Result<void> many_lines(const std::string& path, std::string_view word) {
    if (word.empty()) return wrong("\"<<\" needs a word");
    std::string content;
    while (!rest_.empty()) {
      std::string_view line = next_line();
      if (trimmed(line) == word) return put(files_->put_file(path, std::move(content)));
      content += line;
      content += '\n';
    }
    return wrong(fmt::format("the text ends before \"{}\"", word));
  }

  std::string_view rest_;
  std::string_view name_;
  int line_ = 0;
  std::string folder_;
  std::unique_ptr<os::MemoryFiles> files_ = std::make_unique<os::MemoryFiles>();
};

std::string file_line(std::string_view name, const std::string& content) {
  size_t lines = 0;
  for (char c : content) lines += c == '\n';
  bool ends_well = content.ends_with('\n');
  bool plain = content.find_first_of("\r\\") == std::string::npos && content.find("\nEND\n") == std::string::npos;
  if (lines > 8 && ends_well && plain) return fmt::format("{} <<END\n{}END\n", name, content);
  if (ends_well)
    return fmt::format("{} = {}\n", name, escaped(std::string_view(content).substr(0, content.size() - 1)));
  return fmt::format("{} := {}\n", name, escaped(content));
}

}  // namespace

Result<std::unique_ptr<os::MemoryFiles>> parse_machine(std::string_view text, std::string_view name) {
  return Parser(text, name).parse();
}

std::string print_machine(const os::MemoryFiles& files) {
  std::string text;
  std::string folder = "/";
  std::string open_directory;  // the last directory, while no entry below it has appeared
  auto add = [&](const std::string& path, auto&& line_of) {
    size_t slash = path.rfind('/');
    std::string parent = path.substr(0, slash);
    if (!parent.empty() && parent != folder) {
      text += fmt::format("{}[{}]\n", text.empty() ? "" : "\n", parent);
      folder = parent;
    }
    text += line_of(parent.empty() ? path : path.substr(slash + 1));
  };
  auto close_directory = [&] {
    if (!open_directory.empty()) add(open_directory, [](const std::string& name) { return name + "/\n"; });
    open_directory.clear();
  };
  files.each([&](const os::MemoryFiles::Entry& entry) {
    if (entry.path.starts_with(open_directory + "/")) open_directory.clear();
    close_directory();
    if (entry.kind == EntryKind::kDirectory && entry.path != "/") open_directory = entry.path;
    if (entry.kind == EntryKind::kFile)
      add(entry.path, [&](const std::string& name) { return file_line(name, entry.text); });
    if (entry.kind == EntryKind::kLink)
      add(entry.path, [&](const std::string& name) { return fmt::format("{} -> {}\n", name, entry.text); });
  });
  close_directory();
  return text;
}

}  // namespace railbed::facts

// SPDX-License-Identifier: Apache-2.0
#include "man_page.h"

#include <algorithm>
#include <cctype>

#include <fmt/core.h>

#include "command/exit_status.h"

namespace railbed {
namespace {

// The UTF-8 code point that begins at `text[at]`; moves `at` behind it.
uint32_t next_code_point(std::string_view text, size_t& at) {
  const auto first = static_cast<unsigned char>(text[at++]);
  if (first < 0x80) return first;
  uint32_t code = first & (first >= 0xf0 ? 0x07 : first >= 0xe0 ? 0x0f : 0x1f);
  while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80)
    code = code << 6 | (static_cast<unsigned char>(text[at++]) & 0x3f);
  return code;
}

// Escapes text so that troff prints it unchanged. A '-' becomes a minus, because users mostly type such words; \& keeps
// a line that begins like a request from being one.
std::string escaped_for_man(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const uint32_t code = next_code_point(text, at);
    const bool line_begins = out.empty() || out.back() == '\n';
    if (line_begins && (code == '.' || code == '\'')) out += "\\&";
    if (code == '\\')
      out += "\\e";
    else if (code == '-')
      out += "\\-";
    else if (code == '\'')
      out += "\\(aq";
    else if (code == '`')
      out += "\\(ga";
    else if (code == 0x2026)  // an ellipsis, which ASCII terminals lack
      out += "...";
    else if (code < 0x80)
      out += static_cast<char>(code);
    else
      out += fmt::format("\\[u{:04X}]", code);
  }
  return out;
}

std::string bold(std::string_view text) {
  return "\\fB" + escaped_for_man(text) + "\\fR";
}

std::string slanted(std::string_view text) {
  return "\\fI" + escaped_for_man(text) + "\\fR";
}

std::string title(std::string_view name) {
  std::string upper(name);
  std::ranges::transform(upper, upper.begin(), [](unsigned char c) { return std::toupper(c); });
  return fmt::format(".\\\" SPDX-License-Identifier: Apache-2.0\n.TH {} 1 \"\" \"railbed {}\" \"railbed\"\n",
                     escaped_for_man(upper), RAILBED_VERSION);
}

// "bold -o, --output, slanted placeholder of the value".
std::string heading(const Declaration& option) {
  if (option.positional()) return slanted(option.names.front());
  std::string text;
  for (const std::string_view name : option.names) text += (text.empty() ? "" : ", ") + bold(name);
  if (option.takes_value)
    text += " " + slanted(value_placeholder(option)) + (option.with_file ? "[=" + slanted("FILE") + "]" : "");
  if (!option.flag_value.empty()) text += "[=" + slanted(value_placeholder(option)) + "]";
  return text;
}

std::string comma_list(const std::vector<std::string_view>& words) {
  std::string text;
  for (const std::string_view word : words) text += fmt::format("{}{}", text.empty() ? "" : ", ", word);
  return text;
}

// The help text, followed by what only the declaration says.
std::string explanation(const Declaration& option) {
  std::string text(option.help);
  auto add = [&](const std::string& sentence) { text += (text.empty() ? "" : "; ") + sentence; };
  if (!option.choices.empty() && value_placeholder(option) == "TEXT") add("one of: " + comma_list(option.choices));
  if (option.default_text && !option.default_text->empty()) add("default: " + *option.default_text);
  if (option.required && !option.positional()) add("must be given");
  if (!option.excluded.empty()) add("not together with " + comma_list(option.excluded));
  return text;
}

std::string option_list(const CommandLine& line) {
  std::string text;
  for (const Option& one : line.options())
    text += fmt::format(".TP\n{}\n{}\n", heading(one.declaration()), escaped_for_man(explanation(one.declaration())));
  return text;
}

std::string synopsis(const std::string& command, const CommandLine& line) {
  std::string text = fmt::format("{} [{}]", bold(command), slanted("OPTION") + "...");
  for (const Option& one : line.options()) {
    const Declaration& option = one.declaration();
    if (!option.positional()) continue;
    const std::string name = slanted(option.names.front()) + (option.many ? "..." : "");
    text += option.required ? " " + name : " [" + name + "]";
  }
  return text + "\n";
}

// Joins the lines that an author broke for the terminal.
std::string paragraphs(std::string_view text) {
  std::string flowing(text);
  std::ranges::replace(flowing, '\n', ' ');
  return escaped_for_man(flowing) + "\n";
}

std::string exit_statuses(const CommandLine& line) {
  std::string text = ".SH EXIT STATUS\n";
  const auto add = [&text](int status, std::string_view meaning) {
    text += fmt::format(".TP\n{}\n{}\n", status, escaped_for_man(meaning));
  };
  for (const ExitStatus& one : kExitStatuses)
    if (one.of_every_verb) add(one.status, one.meaning);
  for (const CommandLine::Status& one : line.statuses()) add(one.status, one.meaning);
  return text;
}

}  // namespace

std::string man_page_of(const Described& verb) {
  const std::string name = fmt::format("railbed-{}", verb.name);
  const std::string command = fmt::format("railbed {}", verb.name);
  std::string page = title(name);
  page += fmt::format(".SH NAME\n{} \\- {}\n.SH SYNOPSIS\n", escaped_for_man(name), escaped_for_man(verb.summary));
  if (verb.line.subcommands().empty()) page += synopsis(command, verb.line);
  for (const auto& sub : verb.line.subcommands())
    page += synopsis(fmt::format("{} {}", command, sub->name()), *sub) +
            (sub == verb.line.subcommands().back() ? "" : ".br\n");
  page += ".SH DESCRIPTION\n" + paragraphs(verb.line.about());
  page += ".SH OPTIONS\n" + option_list(verb.line) + ".TP\n" + bold("-h") + ", " + bold("--help") +
          "\nshow the options and exit\n";
  for (const auto& sub : verb.line.subcommands())
    page += fmt::format(".SH \"{} {}\"\n{}\n{}", escaped_for_man(command), escaped_for_man(sub->name()),
                        escaped_for_man(sub->about()), option_list(*sub));
  page += exit_statuses(verb.line);
  return page + ".SH SEE ALSO\n.BR railbed (1)\n";
}

std::string man_page_of_all(std::span<const Described> verbs) {
  std::string page = title("railbed");
  page +=
      ".SH NAME\nrailbed \\- SR\\-IOV and RDMA networks for pods that train or serve large models\n"
      ".SH SYNOPSIS\n" +
      bold("railbed") + " " + slanted("VERB") + " [" + slanted("OPTION") + "...] [" + slanted("ARGUMENT") +
      "...]\n.br\n" + bold("railbed help") + " [" + slanted("VERB") + "]\n.br\n" + bold("railbed version") +
      "\n.SH DESCRIPTION\n" +
      paragraphs(
          "railbed reads the manifests of the Kubernetes SR-IOV ecosystem, reports errors before a machine changes, "
          "applies them, attaches pods, and measures every rail. Each verb has its own page.") +
      ".SH VERBS\n";
  for (const Described& verb : verbs)
    page += fmt::format(".TP\n.BR railbed\\-{} (1)\n{}\n", escaped_for_man(verb.name), escaped_for_man(verb.summary));
  page += ".SH FILES\n";
  for (const auto& [path, what] :
       {std::pair{"/etc/railbed/manifests", "manifests that the agent reads"},
        std::pair{"/run/railbed", "state of this machine since boot, and the agent's socket"},
        std::pair{"/var/lib/railbed", "records that persist across reboots until they are undone"},
        std::pair{"/opt/cni/bin",
                  "where `railbed cni install` installs the shim; the originals are kept in .railbed-originals"}})
    page += fmt::format(".TP\n{}\n{}\n", slanted(path), escaped_for_man(what));
  return page;
}

}  // namespace railbed

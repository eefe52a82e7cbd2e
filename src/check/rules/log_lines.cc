// SPDX-License-Identifier: Apache-2.0
// What pasted logs of NCCL, UCX, libfabric and libibverbs say; the lines are in data/logs.yaml.
//
// A page also writes about such lines ("look for `Using network Socket`"), so only a line that begins as the library
// begins its own is taken for a log.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "check/data_files.h"
#include "check/read/command_view.h"
#include "check/rules/lookups.h"
#include "check/rules/output.h"

namespace railbed::check {
namespace {

using doc::Value;

// A row of logs.yaml: `text` in a line of `library`, whose lines have `mark` before what they say.
struct LogSign {
  std::string text, mark, library, says, fix;
  std::vector<std::string> without;  // words of a line that says otherwise
  bool is_sure = true;               // else it may be of no consequence
};

std::vector<LogSign> log_signs(std::string_view key) {
  std::vector<LogSign> out;
  const Value data = data_document("logs.yaml");
  const Value* list = data.find(key);
  if (const Value::Array* items = list ? list->as_array() : nullptr)
    for (const Value& item : *items) {
      LogSign sign{.text = std::string(text_at(item, "text")),
                   .mark = std::string(text_at(item, "mark")),
                   .library = std::string(text_at(item, "library")),
                   .says = std::string(text_at(item, "says")),
                   .fix = std::string(text_at(item, "fix")),
                   .without = {},
                   .is_sure = flag_at(item, "sure").value_or(true)};
      for (const Word& word : texts_at(item, "without")) sign.without.push_back(word.text);
      out.push_back(std::move(sign));
    }
  return out;
}

// What is before the mark in a log: nothing, or host, process, time or rank, which end in such a character.
bool begins_a_log(std::string_view before) {
  if (before.find_first_of("`\"“") != std::string_view::npos) return false;
  const size_t last = before.find_last_not_of(" \t");
  return last == std::string_view::npos || std::string_view("]:>|").find(before[last]) != std::string_view::npos ||
         (before.find('[') != std::string_view::npos && before.find(']') != std::string_view::npos);
}

// Where the sign's text is in a line of its library; npos for all other lines.
size_t place_of_sign(std::string_view line, const LogSign& sign) {
  const size_t mark = line.find(sign.mark);
  if (mark == std::string_view::npos || !begins_a_log(line.substr(0, mark))) return std::string_view::npos;
  for (const std::string& word : sign.without)
    if (line.find(word) != std::string_view::npos) return std::string_view::npos;
  return line.find(sign.text, mark);
}

struct SignInText {
  const LogSign* sign = nullptr;
  doc::Span span;
};

// The first place of each sign of `key` in each source.
std::map<doc::SourcePtr, std::vector<SignInText>> places_of(const Bundle& bundle, const std::vector<LogSign>& signs) {
  std::map<doc::SourcePtr, std::vector<SignInText>> places;
  for (const TextLine& line : text_lines(bundle))
    for (const LogSign& sign : signs) {
      const size_t at = place_of_sign(line.text, sign);
      if (at == std::string_view::npos) continue;
      std::vector<SignInText>& known = places[line.span->source];
      if (std::ranges::find(known, &sign, &SignInText::sign) == known.end())
        known.push_back({&sign, part_of(*line.span, at, sign.text.size())});
    }
  return places;
}

// Whether the text sets the variable to this value, as "NAME=1", "NAME: '1'" or "name: NAME" with "value: "1"" below.
bool sets_variable(std::string_view text, std::string_view variable, std::string_view value) {
  constexpr std::string_view kBetween = "=: \t\n\r\"'";
  constexpr std::string_view kValueKey = "value";
  for (size_t at = text.find(variable); at != std::string_view::npos; at = text.find(variable, at + 1)) {
    std::string_view rest = text.substr(at + variable.size());
    const auto skip = [&] { rest.remove_prefix(std::min(rest.find_first_not_of(kBetween), rest.size())); };
    const size_t before = rest.size();
    skip();
    if (rest.size() == before) continue;  // a longer name
    if (rest.starts_with(kValueKey)) rest.remove_prefix(kValueKey.size());
    skip();
    if (rest.starts_with(value)) return true;
  }
  return false;
}

// A run without RDMA on purpose, to compare.
bool is_deliberate(std::string_view text, const Value& data) {
  for (const Word& setting : texts_at(data, "deliberate")) {
    const size_t equals = setting.text.find('=');
    if (equals != std::string::npos && sets_variable(text, std::string_view(setting.text).substr(0, equals),
                                                     std::string_view(setting.text).substr(equals + 1)))
      return true;
  }
  return false;
}

}  // namespace

void log_shows_tcp(const Input& in, Findings& out) {
  if (text_lines(in.bundle).empty()) return;
  const std::vector<LogSign> tcp = log_signs("tcp");
  const std::vector<LogSign> causes = log_signs("tcpCauses");
  const std::vector<LogSign> rdma = log_signs("rdma");
  const auto where_causes = places_of(in.bundle, causes);
  const auto where_rdma = places_of(in.bundle, rdma);
  const Value data = data_document("logs.yaml");
  for (auto& [source, places] : places_of(in.bundle, tcp)) {
    if (is_deliberate(source->text, data)) continue;
    std::ranges::sort(places, {}, &SignInText::sign);  // the plainest line first, as in the data
    std::set<std::string_view> reported;
    for (const SignInText& one : places) {
      const std::string& library = one.sign->library;
      if (!reported.insert(library).second) continue;
      const auto of_library = [&](const SignInText& other) { return other.sign->library == library; };
      // A page that shows a run with RDMA as well compares the two, or shows both ends of a fault.
      const auto other_runs = where_rdma.find(source);
      const bool has_other = other_runs != where_rdma.end() && std::ranges::any_of(other_runs->second, of_library);
      const std::string message = fmt::format("this log of {} shows TCP: RDMA is not used", library);
      doc::Diagnostic& finding = has_other ? out.note(one.span, message) : out.warning(one.span, message);
      if (const auto found = where_causes.find(source); found != where_causes.end())
        for (const SignInText& cause : found->second)
          if (of_library(cause)) finding.note(cause.span, cause.sign->says);
      finding.with_fix(
          "the pod needs an RDMA device (its resource, /dev/infiniband/uverbs*), libibverbs with the card's provider, "
          "and names of devices that exist there (NCCL_IB_HCA, UCX_NET_DEVICES)");
    }
  }
}

void provider_not_loaded(const Input& in, Findings& out) {
  if (text_lines(in.bundle).empty()) return;
  const std::vector<LogSign> signs = log_signs("provider");
  for (const auto& [source, places] : places_of(in.bundle, signs))
    for (const SignInText& one : places) {
      const std::string message = fmt::format("{}: {}", one.sign->library, one.sign->says);
      doc::Diagnostic& finding = one.sign->is_sure ? out.warning(one.span, message) : out.note(one.span, message);
      finding.with_fix(one.sign->fix);
    }
}

}  // namespace railbed::check

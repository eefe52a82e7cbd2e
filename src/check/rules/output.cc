// SPDX-License-Identifier: Apache-2.0
#include "check/rules/output.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "check/data_files.h"
#include "check/read/command_view.h"
#include "check/read/sections.h"
#include "check/rules/lookups.h"
#include "schema/schema.h"

namespace railbed::check {

using doc::Value;
using schema::FieldType;
using schema::Schema;
using Line = Command::Line;

namespace {

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace

std::optional<Found> value_behind(std::string_view line, std::string_view label) {
  size_t at = line.find(label);
  if (at == std::string_view::npos) return std::nullopt;
  at = line.find_first_not_of(" \t", at + label.size());
  if (at == std::string_view::npos || line[at] != ':') return std::nullopt;
  at = line.find_first_not_of(" \t", at + 1);
  if (at == std::string_view::npos) return std::nullopt;
  return Found{line.substr(at, line.find_first_of(" \t", at) - at), at};
}

std::vector<std::string_view> fields_of_line(std::string_view line) {
  std::vector<std::string_view> out;
  for (size_t at = line.find_first_not_of(" \t"); at < line.size();) {
    const size_t end = std::min(line.find_first_of(" \t", at), line.size());
    out.push_back(line.substr(at, end - at));
    at = line.find_first_not_of(" \t", end);
  }
  return out;
}

std::optional<double> number_in(std::string_view text) {
  double value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ec != std::errc{} || result.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<double> measured_gbps(const Command& command) {
  double unit = 0;
  std::optional<double> measured;
  for (const Line& line : command.output) {
    if (has(line.text, "BW average[Gb/sec]")) unit = 1;
    if (has(line.text, "BW average[MB/sec]")) unit = 8.0 * 1.048576 / 1000;
    if (has(line.text, "BW average[MiB/sec]")) unit = 8.0 * 1.048576 / 1000;
    const auto columns = fields_of_line(line.text);
    if (unit > 0 && columns.size() == 5 && number_in(columns[0]) && number_in(columns[3]))
      measured = *number_in(columns[3]) * unit;
  }
  return measured;
}

void ibping_clock(const Input& in, Findings& out) {
  for (const ToolCommand& one : tool_commands(in.bundle)) {
    if (one.tool->name != "ibping") continue;
    const Line* reported = nullptr;
    for (const Line& line : one.command->output)
      if (has(line.text, "rtt min/avg/max") || (reported == nullptr && has(line.text, "Pong from"))) reported = &line;
    if (reported == nullptr) continue;
    out.warning(reported->span,
                "ibping counts ten nanoseconds as one: these times are ten times too small, and a ping across a second "
                "boundary shows 900 ms too much")
        .with_fix(
            "measure latency with ib_write_lat or ib_send_lat (or `railbed perf`); ibping "
            "shows only that a port answers");
  }
}

void output_of_another_device(const Input& in, Findings& out) {
  for (const ToolCommand& one : tool_commands(in.bundle)) {
    const Word* asked = one.tool->device_option.empty() ? nullptr : one.argument(one.tool->device_option);
    if (asked == nullptr || is_placeholder_word(asked->text)) continue;
    for (const Line& line : one.command->output) {
      const auto device = value_behind(line.text, "Device");
      if (!device || device->text == asked->text) continue;
      out.warning(part_of(line.span, device->at, device->text.size()),
                  fmt::format("this output is of {}, but the command uses {}: it is from another run", device->text,
                              asked->text))
          .note(asked->span, "asked for here")
          .with_fix("show what this command printed");
      break;
    }
  }
}

namespace {

// The line with "LID 0x8f QPN 0x012b …" after "local address:".
const Line* local_address(const ToolCommand& one) {
  for (const Line& line : one.command->output)
    if (line.text.starts_with("local address")) return &line;
  return nullptr;
}

std::string_view address_in(const Line& line) {
  const size_t colon = line.text.find(':');
  return colon == std::string_view::npos ? std::string_view() : line.text.substr(colon + 1);
}

}  // namespace

// The local address at one end must be the remote address at the other.
void ends_not_mirrored(const Input& in, Findings& out) {
  // By tool, port and address: tests of several rails on one page have a port each.
  using Key = std::tuple<std::string_view, std::string_view, std::string_view>;
  std::map<Key, std::pair<const ToolCommand*, const Line*>> first;
  Sections sections;
  const std::vector<ToolCommand> all = tool_commands(in.bundle);
  for (const ToolCommand& one : all) {
    const Line* line = one.tool->two_sided ? local_address(one) : nullptr;
    if (line == nullptr || fields_of_line(address_in(*line)).size() < 4) continue;
    const Word* port = one.argument("-p");
    const Key key{one.tool->name, port != nullptr ? std::string_view(port->text) : "", address_in(*line)};
    const auto [before, is_new] = first.try_emplace(key, &one, line);
    if (is_new) continue;
    const ToolCommand& other = *before->second.first;
    if (!sections.same(other.command->span, one.command->span)) {
      before->second = {&one, line};
      continue;
    }
    if (other.is_client() == one.is_client()) continue;
    out.warning(line->span, fmt::format("server and client of {} print the same local address: "
                                        "both outputs are of one end",
                                        one.tool->name))
        .note(before->second.second->span, "the other end prints it here")
        .with_fix("show the output of each end; what is local on one is remote on the other");
  }
}

void switches_of_one_name(const Input& in, Findings& out) {
  for (const ToolCommand& one : tool_commands(in.bundle)) {
    std::map<std::string_view, std::vector<const Line*>> by_name;
    for (const Line& line : one.command->output) {
      const size_t open = line.text.starts_with("Switch") ? line.text.find('"') : std::string_view::npos;
      const size_t close = open == std::string_view::npos ? open : line.text.find('"', open + 1);
      if (close != std::string_view::npos && has(one.tool->package, "infiniband-diags"))
        by_name[line.text.substr(open + 1, close - open - 1)].push_back(&line);
    }
    for (const auto& [name, lines] : by_name)
      if (lines.size() > 1)
        out.note(part_of(lines[1]->span, lines[1]->text.find('"') + 1, name.size()),
                 fmt::format("{} switches are called '{}': a fault cannot be found by name", lines.size(), name))
            .note(lines[0]->span, "the first")
            .with_fix("give each switch a NodeDescription, or the tools a --node-name-map");
  }
}

void clock_changes(const Input& in, Findings& out) {
  std::set<doc::SourcePtr> reported;
  for (const TextLine& line : text_lines(in.bundle)) {
    for (std::string_view sign : {"Conflicting CPU frequency", "CPU Frequency is not max"}) {
      const size_t at = line.text.find(sign);
      if (at == std::string_view::npos || line.command == nullptr || !reported.insert(line.span->source).second)
        continue;
      out.warning(part_of(*line.span, at, sign.size()),
                  "the CPU frequency changed during the test: results of small messages are unreliable")
          .with_fix("set the governor to performance (cpupower frequency-set -g performance) and measure again");
    }
  }
}

void one_queue_pair(const Input& in, Findings& out) {
  static constexpr double kRates[] = {25, 50, 100, 200, 400, 800};
  for (const ToolCommand& one : tool_commands(in.bundle)) {
    bool gbits = false;
    bool single = false;
    const Line* last = nullptr;
    for (const Line& line : one.command->output) {
      gbits |= has(line.text, "BW average[Gb/sec]");
      if (const auto pairs_used = value_behind(line.text, "Number of qps")) single = pairs_used->text == "1";
      const auto columns = fields_of_line(line.text);
      if (gbits && columns.size() == 5 && number_in(columns[0]) && number_in(columns[3])) last = &line;
    }
    if (!single || last == nullptr) continue;
    const auto columns = fields_of_line(last->text);
    const double size = *number_in(columns[0]);
    const double rate = *number_in(columns[3]);
    const auto link = std::ranges::find_if(kRates, [&](double nominal) { return nominal >= rate; });
    if (link == std::end(kRates) || *link < 200 || size < 65536) continue;
    const double share = rate / *link;
    if (share < 0.85 || share > 0.97) continue;
    out.note(part_of(last->span, static_cast<size_t>(columns[3].data() - last->text.data()), columns[3].size()),
             fmt::format("{:.0f} % of a {:.0f} Gb/s link is the limit of one queue pair; it says nothing about the "
                         "link or the fabric",
                         share * 100, *link))
        .with_fix("measure with four as well: -q 4 on both sides (about 99 %)");
  }
}

namespace {

struct NeverPrinted {
  std::string text, library, instead;
};

std::vector<NeverPrinted> never_printed_lines() {
  std::vector<NeverPrinted> out;
  const Value data = data_document("logs.yaml");
  const Value* list = data.find("never");
  if (const Value::Array* items = list ? list->as_array() : nullptr)
    for (const Value& item : *items)
      out.push_back({std::string(text_at(item, "text")), std::string(text_at(item, "library")),
                     std::string(text_at(item, "instead"))});
  return out;
}

}  // namespace

void never_printed(const Input& in, Findings& out) {
  if (in.bundle.commands.empty() && text_lines(in.bundle).empty()) return;
  const std::vector<NeverPrinted> lines = never_printed_lines();
  const auto report = [&](std::string_view text, const doc::Span& span, size_t before) {
    for (const NeverPrinted& never : lines) {
      const size_t at = text.find(never.text);
      if (at == std::string_view::npos) continue;
      out.warning(part_of(span, at + before, never.text.size()),
                  fmt::format("no version of {} prints '{}'", never.library, never.text))
          .with_fix(fmt::format("look for '{}'", never.instead));
    }
  };
  for (const TextLine& line : text_lines(in.bundle)) report(line.text, *line.span, 0);
  for (const Command& command : in.bundle.commands)
    if (!command.words.empty() && command.words[0].text.ends_with("grep"))
      for (const Word& word : command.words) {
        const std::string_view written = std::string_view(word.span.source->text).substr(word.span.offset, 1);
        report(word.text, word.span, written == "\"" || written == "'" ? 1 : 0);
      }
}

namespace {

const Schema* child(const Schema* schema, std::string_view key) {
  if (schema == nullptr || schema->type != FieldType::kObject) return nullptr;
  const auto found = schema->fields.find(key);
  return found == schema->fields.end() ? nullptr : found->second;
}

bool is_open(const Schema* schema) {
  return schema != nullptr && (schema->type == FieldType::kMap || schema->type == FieldType::kAny ||
                               (schema->type == FieldType::kObject && schema->fields.empty()));
}

// Whether `path` exists in `schema`; inside lists and open objects any path does.
bool leads(const Schema* schema, std::string_view path) {
  while (true) {
    while (schema != nullptr && schema->type == FieldType::kList) schema = schema->items;
    if (is_open(schema)) return true;
    const size_t dot = path.find('.');
    schema = child(schema, path.substr(0, dot));
    if (schema == nullptr) return false;
    if (dot == std::string_view::npos) return true;
    path.remove_prefix(dot + 1);
  }
}

// Names of fields joined by dots: "driver.gdrcopy.enabled".
std::vector<std::string_view> dotted_paths(std::string_view line) {
  std::vector<std::string_view> out;
  const auto is_part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.'; };
  for (size_t at = 0; at < line.size();) {
    if (!is_part(line[at])) {
      ++at;
      continue;
    }
    size_t end = at;
    while (end < line.size() && is_part(line[end])) ++end;
    std::string_view path = line.substr(at, end - at);
    while (path.ends_with('.')) path.remove_suffix(1);
    const bool alone = (at == 0 || std::string_view("/-_:@").find(line[at - 1]) == std::string_view::npos) &&
                       (end == line.size() || std::string_view("/-_@").find(line[end]) == std::string_view::npos);
    if (alone && std::islower(static_cast<unsigned char>(path.empty() ? '0' : path[0])) != 0 &&
        std::ranges::count(path, '.') >= 2)
      out.push_back(path);
    at = end;
  }
  return out;
}

}  // namespace

void path_leads_nowhere(const Input& in, Findings& out) {
  for (const Prose& prose : in.bundle.prose)
    for (std::string_view path : dotted_paths(prose.text)) {
      if (path.starts_with("spec.")) path.remove_prefix(5);
      const std::string_view first = path.substr(0, path.find('.'));
      const std::string_view rest = path.substr(first.size() + 1);
      for (const Document& document : in.bundle.documents) {
        if (!same_source(document.value.span, prose.span)) continue;
        const Schema* spec = child(schema::find_schema(document.api_version, document.kind), "spec");
        if (child(spec, first) == nullptr || leads(spec, path) || !leads(spec, rest) || is_open(spec)) continue;
        out.warning(part_of(prose.span, static_cast<size_t>(path.data() - prose.text.data()), path.size()),
                    fmt::format("{} has no field spec.{}; it is spec.{}", document.kind, path, rest))
            .with_fix(fmt::format("write {}", rest));
        break;
      }
    }
}

}  // namespace railbed::check

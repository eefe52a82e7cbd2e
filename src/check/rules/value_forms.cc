// SPDX-License-Identifier: Apache-2.0
#include "check/rules/value_forms.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <string>

#include "base/ip.h"
#include "base/number.h"
#include "base/object_names.h"
#include "base/text.h"

namespace railbed::check {
namespace {

bool is_figure_char(char c) {
  return c >= '0' && c <= '9';
}
bool is_low_letter(char c) {
  return c >= 'a' && c <= 'z';
}

// Calls `take` with each part between the separators; whether it takes all of them.
template <typename Take>
bool each_part(std::string_view text, char separator, Take take) {
  while (true) {
    const size_t end = text.find(separator);
    if (!take(text.substr(0, end))) return false;
    if (end == std::string_view::npos) return true;
    text.remove_prefix(end + 1);
  }
}

// The repository of an image without its registry: the part before the first '/' is one where it looks like a host.
std::string_view without_registry(std::string_view repository) {
  const size_t slash = repository.find('/');
  if (slash == std::string_view::npos) return repository;
  const std::string_view first = repository.substr(0, slash);
  const bool host = first == "localhost" || first.find_first_of(".:") != std::string_view::npos ||
                    std::ranges::any_of(first, [](unsigned char c) { return std::isupper(c) != 0; });
  return host ? repository.substr(slash + 1) : repository;
}

bool is_tag(std::string_view text) {
  if (text.empty() || text.size() > 128 || text.front() == '.' || text.front() == '-') return false;
  return std::ranges::all_of(text,
                             [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '.' || c == '-'; });
}

bool is_image_reference(std::string_view text) {
  if (text.empty()) return true;  // an operator may fill it in
  if (const size_t digest = text.find('@'); digest != std::string_view::npos) text = text.substr(0, digest);
  const size_t slash = text.rfind('/');
  const size_t colon = text.find(':', slash == std::string_view::npos ? 0 : slash);
  if (colon != std::string_view::npos) {
    if (!is_tag(text.substr(colon + 1))) return false;
    text = text.substr(0, colon);
  }
  return each_part(without_registry(text), '/', [](std::string_view part) {
    const auto edge = [](char c) { return is_low_letter(c) || is_figure_char(c); };
    return !part.empty() && edge(part.front()) && edge(part.back()) &&
           std::ranges::all_of(part, [&](char c) { return edge(c) || c == '.' || c == '_' || c == '-'; });
  });
}

// A path below a volume: relative, and never upwards.
bool is_inner_path(std::string_view text) {
  return !text.starts_with('/') && each_part(text, '/', [](std::string_view part) { return part != ".."; });
}

bool is_config_key(std::string_view text) {
  if (text.empty() || text.size() > 253 || text == "." || text.starts_with("..")) return false;
  return std::ranges::all_of(text,
                             [](unsigned char c) { return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.'; });
}

bool is_cluster_ip(std::string_view text) {
  return text.empty() || text == "None" || IpAddress::parse(text).has_value();
}

struct CronField {
  int least;
  int most;
  std::string_view words;  // names that it takes, three letters each; empty: none
};
constexpr CronField kCronFields[] = {{0, 59, ""},
                                     {0, 23, ""},
                                     {1, 31, ""},
                                     {1, 12, "jan feb mar apr may jun jul aug sep oct nov dec"},
                                     {0, 6, "sun mon tue wed thu fri sat"}};

bool is_cron_value(std::string_view text, const CronField& field) {
  if (const auto number = whole_number<int>(text)) return *number >= field.least && *number <= field.most;
  if (text.size() != 3) return false;
  const std::string low = lower(text);
  return std::ranges::all_of(low, is_low_letter) && field.words.find(low) != std::string_view::npos;
}

// "*", "*/5", "1-5/2", "mon-fri", "0,30"
bool is_cron_field(std::string_view text, const CronField& field) {
  return each_part(text, ',', [&](std::string_view part) {
    const size_t slash = part.find('/');
    if (slash != std::string_view::npos && whole_number<int>(part.substr(slash + 1)).value_or(0) <= 0) return false;
    const std::string_view range = part.substr(0, slash);
    if (range == "*" || range == "?") return true;
    const size_t dash = range.find('-');
    if (dash == std::string_view::npos) return is_cron_value(range, field);
    return is_cron_value(range.substr(0, dash), field) && is_cron_value(range.substr(dash + 1), field);
  });
}

bool is_cron_schedule(std::string_view text) {
  static constexpr std::string_view kShort[] = {"@yearly", "@annually", "@monthly", "@weekly",
                                                "@daily",  "@midnight", "@hourly"};
  if (text.starts_with("TZ=") || text.starts_with("CRON_TZ="))
    text.remove_prefix(std::min(text.find(' '), text.size()));
  text = trimmed(text, " \t");
  if (text.starts_with("@every ")) return true;
  if (text.starts_with('@')) return std::ranges::find(kShort, text) != std::end(kShort);
  size_t at = 0;
  for (const CronField& field : kCronFields) {
    const size_t begin = text.find_first_not_of(" \t", at);
    if (begin == std::string_view::npos) return false;
    at = std::min(text.find_first_of(" \t", begin), text.size());
    if (!is_cron_field(text.substr(begin, at - begin), field)) return false;
  }
  return text.find_first_not_of(" \t", at) == std::string_view::npos;
}

bool is_count_or_percent(std::string_view text) {
  if (text.ends_with('%')) text.remove_suffix(1);
  return !text.empty() && text.size() < 10 && std::ranges::all_of(text, is_figure_char);
}

bool is_interface_name(std::string_view text) {
  return text.size() <= 15 && text != "." && text != ".." &&
         std::ranges::none_of(text, [](char c) { return c == '/' || c == ' ' || c == '\t' || c == '\n'; });
}

// What an interface can have; 0 leaves it as it is.
bool is_mtu(std::string_view text) {
  constexpr int kLeast = 68;  // of the kernel, for Ethernet and for IPv4
  const auto number = whole_number<int>(text);
  return !number || *number == 0 || *number >= kLeast;
}

// Of a Service on the nodes, in the range that API servers have by default; 0 is none, and what no port can be is the
// schema's.
bool is_node_port(std::string_view text) {
  constexpr int kMostPort = 65535;
  const int number = whole_number<int>(text).value_or(0);
  return number <= 0 || number > kMostPort || (number >= 30000 && number <= 32767);
}

template <size_t N>
bool is_any_name(std::string_view text, const std::array<std::string_view, N>& names) {
  return std::ranges::any_of(names, [&](std::string_view name) { return lower(name) == lower(text); });
}
bool is_pytorch_replica(std::string_view text) {
  return is_any_name(text, std::to_array<std::string_view>({"Master", "Worker"}));
}
bool is_mpi_replica(std::string_view text) {
  return is_any_name(text, std::to_array<std::string_view>({"Launcher", "Worker"}));
}
bool is_tensorflow_replica(std::string_view text) {
  return is_any_name(text, std::to_array<std::string_view>({"Chief", "Master", "Worker", "PS", "Evaluator"}));
}

constexpr ValueForm kForms[] = {
    {"dns-label", is_dns_label, "lower-case letters, digits and '-', at most 63, with a letter or digit at both ends"},
    {"image", is_image_reference, "[registry/]repository[:tag] with a repository in lower-case letters"},
    {"inner-path", is_inner_path, "a relative path without '..'"},
    {"config-key", is_config_key, "letters, digits, '-', '_' and '.', at most 253, without '..' at the beginning"},
    {"cluster-ip", is_cluster_ip, "an IP address, \"\" or None"},
    {"cron", is_cron_schedule, "five fields (minute, hour, day, month, weekday) or a word such as @daily"},
    {"count-or-percent", is_count_or_percent, "a number from 0 on or a percentage such as \"25%\""},
    {"interface", is_interface_name, "a name of an interface: at most 15 bytes, without '/' and blanks"},
    {"node-port", is_node_port, "30000 to 32767"},
    {"mtu", is_mtu, "0 (as it is) or at least 68"},
    {"pytorch-replica", is_pytorch_replica, "Master or Worker"},
    {"mpi-replica", is_mpi_replica, "Launcher or Worker"},
    {"tensorflow-replica", is_tensorflow_replica, "Chief, Master, Worker, PS or Evaluator"},
};

}  // namespace

const ValueForm* find_form(std::string_view name) {
  const auto found = std::ranges::find(kForms, name, &ValueForm::name);
  return found == std::end(kForms) ? nullptr : found;
}

}  // namespace railbed::check

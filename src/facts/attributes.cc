// SPDX-License-Identifier: Apache-2.0
#include "facts/attributes.h"

#include <algorithm>
#include <limits>

#include "base/number.h"
#include "facts/natural_order.h"

namespace railbed::facts {
namespace {

constexpr size_t kMaxProblems = 50;

std::string_view end_trimmed(std::string_view text) {
  size_t end = text.find_last_not_of(" \t\r\n");
  return end == std::string_view::npos ? std::string_view() : text.substr(0, end + 1);
}

// A cheap test before the real parser: most path components are no addresses, and making its errors is slow.
bool looks_like_pci_address(std::string_view part) {
  return part.size() >= 12 && part[part.size() - 2] == '.' && part[part.size() - 5] == ':' &&
         part[part.size() - 8] == ':';
}

}  // namespace

std::vector<PciAddress> pci_addresses(std::string_view path) {
  std::vector<PciAddress> found;
  while (!path.empty()) {
    size_t slash = path.find('/');
    std::string_view part = path.substr(0, slash);
    if (looks_like_pci_address(part))
      if (Result<PciAddress> address = PciAddress::parse(part)) found.push_back(*address);
    if (slash == std::string_view::npos) break;
    path.remove_prefix(slash + 1);
  }
  return found;
}

std::optional<PciAddress> last_pci_address(std::string_view path) {
  while (!path.empty()) {
    size_t slash = path.rfind('/');
    std::string_view part = slash == std::string_view::npos ? path : path.substr(slash + 1);
    if (looks_like_pci_address(part))
      if (Result<PciAddress> address = PciAddress::parse(part)) return *address;
    if (slash == std::string_view::npos) break;
    path = path.substr(0, slash);
  }
  return std::nullopt;
}

std::optional<int64_t> parse_number(std::string_view text) {
  text = end_trimmed(text);
  bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  int base = 10;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    base = 16;
    text.remove_prefix(2);
  }
  const std::optional<int64_t> value = whole_number<int64_t>(text, base);
  if (value.value_or(-1) < 0) return std::nullopt;
  return negative ? -*value : *value;
}

void Attributes::note(std::string line) {
  if (std::ranges::find(problems_, line) != problems_.end()) return;
  if (problems_.size() < kMaxProblems) {
    problems_.push_back(std::move(line));
  } else if (problems_.size() == kMaxProblems) {
    problems_.push_back("… and more that are not listed");
  }
}

void Attributes::note(const Error& error) {
  if (error.code == Code::kNotFound || error.code == Code::kInvalid || error.code == Code::kUnsupported) return;
  note(error.story());
}

template <typename T>
std::optional<T> Attributes::value(Result<T> result) {
  if (result.has_value()) return std::move(*result);
  note(result.error());
  return std::nullopt;
}

std::optional<std::string> Attributes::text(const std::string& path) {
  std::optional<std::string> content = value(files_.read(path));
  if (content) content->resize(end_trimmed(*content).size());
  return content;
}

std::optional<int64_t> Attributes::number(const std::string& path) {
  std::optional<std::string> content = text(path);
  return content ? parse_number(*content) : std::nullopt;
}

std::optional<int> Attributes::small_number(const std::string& path) {
  std::optional<int64_t> wide = number(path);
  if (!wide || *wide < std::numeric_limits<int>::min() || *wide > std::numeric_limits<int>::max()) return {};
  return static_cast<int>(*wide);
}

std::optional<std::string> Attributes::link(const std::string& path) {
  return value(files_.read_link(path));
}

std::string Attributes::link_name(const std::string& path) {
  std::optional<std::string> target = link(path);
  if (!target) return {};
  return target->substr(target->rfind('/') + 1);
}

std::vector<std::string> Attributes::list(const std::string& path) {
  std::vector<std::string> names = value(files_.list(path)).value_or(std::vector<std::string>{});
  std::ranges::sort(names, natural_less);
  return names;
}

std::map<std::string, PciAddress> Attributes::children_of_functions(const std::string& kind) {
  std::map<std::string, PciAddress> children;
  if (exists("/sys/class/net") || exists("/sys/class/infiniband")) return children;
  for (const std::string& function : list("/sys/bus/pci/devices"))
    if (Result<PciAddress> address = PciAddress::parse(function))
      for (const std::string& name : list(fmt::format("/sys/bus/pci/devices/{}/{}", function, kind)))
        children.emplace(name, *address);
  return children;
}

}  // namespace railbed::facts

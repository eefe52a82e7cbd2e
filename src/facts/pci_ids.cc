// SPDX-License-Identifier: Apache-2.0
#include "facts/pci_ids.h"

#include <array>
#include <cstddef>

namespace railbed::facts {
namespace {

// The rest of the line that begins with `key` and two blanks.
std::string_view line_value(std::string_view text, std::string_view key) {
  std::string needle = "\n" + std::string(key) + "  ";
  size_t at = text.find(needle);
  if (at == std::string_view::npos) return {};
  std::string_view rest = text.substr(at + needle.size());
  std::string_view value = rest.substr(0, rest.find('\n'));
  if (value.ends_with('\r')) value.remove_suffix(1);
  return value;
}

bool starts_vendor(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

bool is_id(std::string_view id) {
  return id.size() == 4 && id.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace

std::string_view PciIds::block(std::string_view vendor_id) const {
  if (!is_id(vendor_id)) return {};
  std::string needle = "\n" + std::string(vendor_id) + "  ";
  size_t begin = text_.find(needle);
  if (begin == std::string::npos) {
    if (!text_.starts_with(needle.substr(1))) return {};
    begin = 0;
  }
  // The block ends before the next line that begins with a vendor's digit or with "C " (the classes).
  size_t end = begin + 1;
  while (true) {
    end = text_.find('\n', end);
    if (end == std::string::npos || end + 1 >= text_.size()) return std::string_view(text_).substr(begin);
    if (starts_vendor(text_[end + 1]) || text_[end + 1] == 'C')
      return std::string_view(text_).substr(begin, end - begin);
    ++end;
  }
}

std::string PciIds::vendor(std::string_view vendor_id) const {
  std::string_view lines = block(vendor_id);
  if (lines.empty()) return {};
  if (lines.front() == '\n') return std::string(line_value(lines, vendor_id));
  return std::string(line_value("\n" + std::string(lines), vendor_id));
}

std::string PciIds::device(std::string_view vendor_id, std::string_view device_id) const {
  if (!is_id(device_id)) return {};
  return std::string(line_value(block(vendor_id), "\t" + std::string(device_id)));
}

std::string short_model(std::string_view model) {
  // "MT43244 BlueField-3 integrated ConnectX-7 network controller"
  if (const size_t at = model.find("BlueField");
      at != std::string_view::npos && model.find('[') == std::string_view::npos)
    return std::string(model.substr(at, model.find(' ', at) - at));
  size_t open = model.rfind('[');
  size_t close = model.rfind(']');
  if (open != std::string_view::npos && close != std::string_view::npos && open + 1 < close)
    return std::string(model.substr(open + 1, close - open - 1));
  constexpr std::array<std::string_view, 7> kNoise = {
      " Gigabit Network Connection", " Network Connection", " Ethernet Controller", "Ethernet Controller ",
      " Gigabit Ethernet",           " Network Adapter",    " network device"};
  std::string name(model);
  for (std::string_view noise : kNoise)
    if (size_t at = name.find(noise); at != std::string::npos) name.erase(at, noise.size());
  return name;
}

}  // namespace railbed::facts

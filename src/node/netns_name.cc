// SPDX-License-Identifier: Apache-2.0
#include "node/netns_name.h"

#include <cctype>

#include "base/fnv1a.h"
#include "base/format.h"

namespace railbed::node {

std::string netns_name(std::string_view pod) {
  size_t slash = pod.find('/');
  std::string name = "railbed-";
  bool plain = slash != std::string_view::npos && pod.substr(0, slash).find('-') == std::string_view::npos;
  for (char c : pod) {
    bool usable = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '.';
    name += usable ? c : '-';
    if (!usable && c != '/') plain = false;
  }
  if (plain && name.size() <= kMaxNetnsName) return name;
  std::string number = fmt::format("-{:016x}", fnv1a(pod));
  name.resize(std::min(name.size(), kMaxNetnsName - number.size()));
  return name + number;
}

}  // namespace railbed::node

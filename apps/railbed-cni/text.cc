// SPDX-License-Identifier: Apache-2.0
#include "text.h"

#include <cerrno>
#include <cstring>

namespace railbed::shim {

std::string number(unsigned long long value) {
  char digits[24];
  char* at = digits + sizeof digits;
  do *--at = static_cast<char>('0' + value % 10);
  while ((value /= 10) != 0);
  return std::string(at, static_cast<size_t>(digits + sizeof digits - at));
}

std::string json_quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      (out += '\\') += c;
    else if (byte < 0x20 || byte >= 0x7F)
      out += '?';  // occurs only in paths, and nothing parses them back
    else
      out += c;
  }
  return out += '"';
}

std::string error_text(int sys_errno) {
  const char* name = strerrorname_np(sys_errno);
  const char* story = strerrordesc_np(sys_errno);
  if (name == nullptr || story == nullptr) return "errno " + number(static_cast<unsigned>(sys_errno));
  return std::string(name) + " (" + story + ")";
}

}  // namespace railbed::shim

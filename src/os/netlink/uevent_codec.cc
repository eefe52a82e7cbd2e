// SPDX-License-Identifier: Apache-2.0
#include "os/netlink/uevent_codec.h"

namespace railbed::os {

std::optional<Uevent> parse_uevent(std::string_view datagram) {
  Uevent event;
  size_t head_size = datagram.find('\0');
  if (head_size == std::string_view::npos) return std::nullopt;
  std::string_view head = datagram.substr(0, head_size);
  size_t at = head.find('@');
  if (at == std::string_view::npos || at == 0) return std::nullopt;
  event.action = head.substr(0, at);
  event.devpath = head.substr(at + 1);
  std::string_view rest = datagram.substr(head_size + 1);
  while (!rest.empty()) {
    size_t size = std::min(rest.find('\0'), rest.size());
    std::string_view pair = rest.substr(0, size);
    size_t equals = pair.find('=');
    if (equals != std::string_view::npos && equals > 0)
      event.properties.insert_or_assign(std::string(pair.substr(0, equals)), std::string(pair.substr(equals + 1)));
    rest.remove_prefix(std::min(size + 1, rest.size()));
  }
  if (auto found = event.properties.find("SUBSYSTEM"); found != event.properties.end()) event.subsystem = found->second;
  return event;
}

}  // namespace railbed::os

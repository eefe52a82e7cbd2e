// SPDX-License-Identifier: Apache-2.0
#include "agent/addresses/resolv_conf.h"

#include <sstream>
#include <string>

namespace railbed::agent {

cni::Dns read_resolv_conf(std::string_view text) {
  cni::Dns dns;
  std::istringstream lines{std::string(text)};
  std::string line;
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    std::string key;
    std::vector<std::string> values;
    words >> key;
    for (std::string value; words >> value;) values.push_back(value);
    if (key.empty() || key[0] == '#' || key[0] == ';' || values.empty()) continue;
    if (key == "nameserver")
      dns.nameservers.push_back(values[0]);
    else if (key == "domain")
      dns.domain = values[0];
    else if (key == "search")
      dns.search.insert(dns.search.end(), values.begin(), values.end());
    else if (key == "options")
      dns.options.insert(dns.options.end(), values.begin(), values.end());
  }
  return dns;
}

}  // namespace railbed::agent

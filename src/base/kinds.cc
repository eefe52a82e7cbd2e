// SPDX-License-Identifier: Apache-2.0
#include "base/kinds.h"

namespace railbed {

std::string api_version_of(std::string_view group, std::string_view version) {
  std::string out(group);
  if (!out.empty()) out += '/';
  return out += version;
}

std::string Kind::api_version() const {
  return api_version_of(group, version);
}

}  // namespace railbed

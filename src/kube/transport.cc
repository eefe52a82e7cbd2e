// SPDX-License-Identifier: Apache-2.0
#include "kube/transport.h"

namespace railbed::kube {

std::string_view method_name(Method method) {
  constexpr std::string_view kNames[] = {"GET", "POST", "PUT", "PATCH", "DELETE"};
  return kNames[static_cast<size_t>(method)];
}

std::string Request::to_string() const {
  return fmt::format("{} {}", method_name(method), target.substr(0, target.find('?')));
}

}  // namespace railbed::kube

// SPDX-License-Identifier: Apache-2.0
// The owner of attachments: a pod of the manifests, or one sandbox of a pod under a container runtime.
//
// Why both: a pod name can have two sandboxes for a while (the successor starts before the DEL of the old one arrives),
// and they must never be confused. As the key of records it is "namespace/name" for pods that `up` attached,
// "namespace/name@container" under a runtime, and "@container" if the runtime did not name the pod; '@' is in no pod's
// name.
// Threading: plain value.
#pragma once

#include <string>
#include <string_view>

namespace railbed::state {

struct Sandbox {
  std::string pod;        // "namespace/name"; may be empty where `container` is not
  std::string container;  // the runtime's id; empty: none
  friend auto operator<=>(const Sandbox&, const Sandbox&) = default;

  std::string key() const { return container.empty() ? pod : pod + "@" + container; }
  static Sandbox of_key(std::string_view key) {
    size_t at = key.rfind('@');
    if (at == std::string_view::npos) return {std::string(key), ""};
    return {std::string(key.substr(0, at)), std::string(key.substr(at + 1))};
  }
};

}  // namespace railbed::state

// SPDX-License-Identifier: Apache-2.0
// Whose attachments they are: a pod of the manifests, or one sandbox of a pod under a container runtime.
//
// Why both: a pod of one name may have two sandboxes for a while (its successor starts before DEL of the old
// one came), and they must never be taken for each other. As the key of records it is "namespace/name" for
// pods that `up` attached, "namespace/name@container" under a runtime, and "@container" where the runtime did
// not name the pod; '@' is in no pod's name. Threading: plain value.
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

// SPDX-License-Identifier: Apache-2.0
// Pod: the parts that networks, resources and placement need; all other fields are checked by name only.
#pragma once

#include <optional>

#include "api/objects.h"
#include "doc/diagnostic.h"

namespace railbed::api {

inline constexpr std::string_view kNetworksAnnotation = "k8s.v1.cni.cncf.io/networks";

// Nothing when the pod has errors.
std::optional<Pod> parse_pod(const doc::Value& object, doc::Diagnostics& diagnostics);

}  // namespace railbed::api

// SPDX-License-Identifier: Apache-2.0
// Which prefix an SR-IOV operator or a device plugin puts before the names of resources, as the files of a run say.
//
// Why: a policy has the name of a resource only; the prefix is a setting of the operator (RESOURCE_PREFIX, a value of
// its chart). It holds for everything of its environment, also where the files of that are alternatives, of which each
// is checked apart. So the signs are collected from all files of a run, with the file of each.
// Threading: pure functions.
// Failure: none.
// Source: sriov-network-operator, deploy/operator.yaml (RESOURCE_PREFIX) and its chart (operator.resourcePrefix);
// sriov-network-device-plugin, README (resourcePrefix, "intel.com" by default).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "check/read/bundle.h"
#include "check/read/kustomizations.h"

namespace railbed::check {

struct PrefixSign {
  enum class By : uint8_t { kOperator, kPlugin };
  By by = By::kOperator;
  std::string prefix;  // "nvidia.com"
  std::string file;
};

// What the files of a bundle say: environments of pods, values of charts, commands, configurations of device plugins.
std::vector<PrefixSign> prefix_signs(const Bundle& bundle);

// Whether a sign holds for a file: it is in it, in a folder around it, or one kustomization takes both.
bool sign_holds_for(const PrefixSign& sign, std::string_view file, const Kustomizations& kustomizations);

// The operator's prefix for a file, by the sign that is nearest to it; nullopt: nothing says one, or two say different
// ones.
std::optional<std::string> operators_prefix(std::span<const PrefixSign> signs, std::string_view file,
                                            const Kustomizations& kustomizations);

}  // namespace railbed::check

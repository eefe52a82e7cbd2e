// SPDX-License-Identifier: Apache-2.0
// The finalizers of the SR-IOV operator, which nothing removes once that operator has gone.
//
// Threading: pure. Failure: none.
#pragma once

#include <optional>
#include <string_view>

#include "doc/value.h"

namespace railbed::controller {

inline constexpr std::string_view kUpstreamFinalizer = "netattdef.finalizers.sriovnetwork.openshift.io";
inline constexpr std::string_view kUpstreamConfigFinalizer = "operatorconfig.finalizers.sriovnetwork.openshift.io";
inline constexpr std::string_view kUpstreamPoolFinalizer = "poolconfig.finalizers.sriovnetwork.openshift.io";

// A merge patch that holds for one resourceVersion; nothing where the object has no such finalizer.
std::optional<doc::Value> patch_without(const doc::Value& object, std::string_view finalizer);

}  // namespace railbed::controller

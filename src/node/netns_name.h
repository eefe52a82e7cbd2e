// SPDX-License-Identifier: Apache-2.0
// The name of a pod's network namespace below /run/netns.
//
// Why: `ip netns exec railbed-llm-worker-0` must be predictable, and two pods must never share one: a name that could
// mean two pods, or is too long, ends in a hash of both parts.
// Threading: pure function.
#pragma once

#include <string>
#include <string_view>

namespace railbed::node {

inline constexpr size_t kMaxNetnsName = 128;

// "llm/worker-0" → "railbed-llm-worker-0"; "a-b/c" → "railbed-a-b-c-5f3a…", to differ from that of "a/b-c".
std::string netns_name(std::string_view pod);

}  // namespace railbed::node

// SPDX-License-Identifier: Apache-2.0
// The release of Kubernetes that a repository installs, where a text of it says so ("k8s_version = \"1.21.7\"").
//
// Why: what no API server of today serves is no mistake in a repository that installs an old one.
// Threading: pure functions.
// Failure: none.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "doc/text.h"

namespace railbed::check {

// The minor number of the oldest whole version (three numbers) of Kubernetes, kubelet or kubeadm that the texts name:
// 21. A range ("1.21 or newer") pins nothing.
std::optional<int> pinned_minor(const std::vector<doc::SourcePtr>& sources);
// The same of one text.
std::optional<int> pinned_minor(std::string_view text);

// The release that serves an apiVersion of Kubernetes no more: 25 of "batch/v1beta1"; nullopt: not known.
std::optional<int> gone_since_minor(std::string_view api_version);

}  // namespace railbed::check

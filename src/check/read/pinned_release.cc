// SPDX-License-Identifier: Apache-2.0
#include "check/read/pinned_release.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "base/text.h"

namespace railbed::check {
namespace {

bool is_decimal(std::string_view text, size_t at) {
  return at < text.size() && text[at] >= '0' && text[at] <= '9';
}

std::string_view without_end(std::string_view text, std::string_view bytes) {
  return text.substr(0, text.find_last_not_of(bytes) + 1);  // npos + 1 is 0
}

// Whether what stands before a number names Kubernetes: "k8s_version = \"", "Kubernetes v".
bool names_kubernetes(std::string_view before) {
  static constexpr std::array<std::string_view, 4> kNames{"kubernetes", "k8s", "kubelet", "kubeadm"};
  static constexpr std::string_view kVersion = "version";
  const std::string plain = lower(before);
  std::string_view text = without_end(plain, " \t\"'");
  if (text.ends_with('v')) text.remove_suffix(1);
  text = without_end(text, " \t\"'=:");
  if (text.ends_with(kVersion)) text.remove_suffix(kVersion.size());
  text = without_end(text, " \t\"'_-.");
  return std::ranges::any_of(kNames, [&](std::string_view name) { return text.ends_with(name); });
}

}  // namespace

std::optional<int> pinned_minor(std::string_view text) {
  constexpr size_t kMostBefore = 60;
  std::optional<int> oldest;
  for (size_t at = text.find("1."); at != std::string_view::npos; at = text.find("1.", at + 1)) {
    if (at > 0 && (is_decimal(text, at - 1) || text[at - 1] == '.')) continue;
    // Two digits, and a third number.
    if (!is_decimal(text, at + 2) || !is_decimal(text, at + 3) || at + 4 >= text.size() || text[at + 4] != '.')
      continue;
    if (!is_decimal(text, at + 5)) continue;
    const size_t line = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;  // npos + 1 is 0
    const size_t begin = std::max(line, at - std::min(at, kMostBefore));
    if (!names_kubernetes(text.substr(begin, at - begin))) continue;
    const int minor = (text[at + 2] - '0') * 10 + (text[at + 3] - '0');
    oldest = std::min(minor, oldest.value_or(minor));
  }
  return oldest;
}

std::optional<int> pinned_minor(const std::vector<doc::SourcePtr>& sources) {
  std::optional<int> oldest;
  for (const doc::SourcePtr& source : sources)
    if (const std::optional<int> one = pinned_minor(source->text)) oldest = std::min(*one, oldest.value_or(*one));
  return oldest;
}

std::optional<int> gone_since_minor(std::string_view api_version) {
  // Source: Kubernetes' deprecated API migration guide.
  static constexpr std::pair<std::string_view, int> kGone[] = {{"extensions/v1beta1", 22},
                                                               {"apps/v1beta1", 16},
                                                               {"apps/v1beta2", 16},
                                                               {"batch/v1beta1", 25},
                                                               {"policy/v1beta1", 25},
                                                               {"discovery.k8s.io/v1beta1", 25},
                                                               {"events.k8s.io/v1beta1", 25},
                                                               {"node.k8s.io/v1beta1", 25},
                                                               {"autoscaling/v2beta1", 25},
                                                               {"autoscaling/v2beta2", 26},
                                                               {"networking.k8s.io/v1beta1", 22},
                                                               {"rbac.authorization.k8s.io/v1beta1", 22},
                                                               {"admissionregistration.k8s.io/v1beta1", 22},
                                                               {"apiextensions.k8s.io/v1beta1", 22},
                                                               {"apiregistration.k8s.io/v1beta1", 22},
                                                               {"scheduling.k8s.io/v1beta1", 22},
                                                               {"coordination.k8s.io/v1beta1", 22}};
  for (const auto& [version, minor] : kGone)
    if (version == api_version) return minor;
  return std::nullopt;
}

}  // namespace railbed::check

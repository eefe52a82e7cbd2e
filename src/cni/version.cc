// SPDX-License-Identifier: Apache-2.0
#include "cni/version.h"

#include <algorithm>
#include <charconv>

namespace railbed::cni {

std::string Version::to_string() const {
  return fmt::format("{}.{}.{}", major, minor, patch);
}

namespace {
std::unexpected<Error> unreadable(std::string_view text) {
  return fail_with(kIncompatibleVersion, fmt::format("\"{}\" is not a CNI version", text.substr(0, 40)),
                   "cniVersion is up to three numbers with dots between them, as 1.1.0");
}
}  // namespace

Result<Version> parse_version(std::string_view text) {
  if (text.empty()) return Version{0, 1, 0};
  Version version;
  int* const parts[] = {&version.major, &version.minor, &version.patch};
  size_t at = 0;
  for (size_t i = 0;; ++i) {
    if (i == std::size(parts)) return unreadable(text);
    const size_t end = std::min(text.find('.', at), text.size());
    const char* last = text.data() + end;
    const auto [stop, problem] = std::from_chars(text.data() + at, last, *parts[i]);
    if (problem != std::errc() || stop != last || *parts[i] < 0) return unreadable(text);
    if (end == text.size()) return version;
    at = end + 1;
  }
}

Result<Version> supported_version(std::string_view text) {
  const Version version = TRY(parse_version(text));
  const std::string name = version.to_string();
  if (std::ranges::find(kSupportedVersions, name) != std::end(kSupportedVersions)) return version;
  return fail_with(kIncompatibleVersion,
                   fmt::format("incompatible CNI versions: the configuration is {}, this plugin has {}", name,
                               fmt::join(kSupportedVersions, ", ")),
                   text.empty() ? "a configuration without cniVersion counts as 0.1.0: add \"cniVersion\": \"1.0.0\""
                                : "set cniVersion to one of these");
}

}  // namespace railbed::cni

// SPDX-License-Identifier: Apache-2.0
// Any bytes as a .gitignore and as an index of git: no crash, no hang, no memory beyond the size of the input.
#include "check/project/ignored_paths.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace railbed;
  const std::string text(reinterpret_cast<const char*>(data), size);
  check::IgnoreRules rules;
  rules.add_exclude(text);
  rules.add("a", text);
  for (const std::string& path : {std::string("a/b.yaml"), text.substr(0, 300)}) {
    rules.ignores(path, false);
    rules.ignores(path, true);
  }
  if (const auto paths = check::paths_in_index(text)) {
    size_t sum = 0;
    for (const std::string& path : *paths) sum += path.empty() ? size + 1 : 1;
    if (sum > size) __builtin_trap();
    const check::TrackedPaths tracked(*paths);
    for (const std::string& path : *paths)
      if (!tracked.contains(path)) __builtin_trap();
  }
  return 0;
}

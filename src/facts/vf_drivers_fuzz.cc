// SPDX-License-Identifier: Apache-2.0
// Any text as a file of modprobe.d and as the kernel's command line: no crash, only modules that were asked for, each
// with a line of the text.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>

#include "facts/vf_drivers.h"

using namespace railbed;  // NOLINT

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const std::set<std::string> modules = {"iavf", "mlx5_core"};
  const auto lines = static_cast<int>(std::ranges::count(text, '\n')) + 1;
  for (const facts::ModuleBlock& one : facts::blocks_in_modprobe_file(text, "f", modules))
    if (!modules.contains(one.module) || one.line < 1 || one.line > lines || one.text.empty()) std::abort();
  for (const facts::ModuleBlock& one : facts::blocks_in_command_line(text, modules))
    if (!modules.contains(one.module) || text.find(one.text) == std::string::npos) std::abort();
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
// Any bytes as commands, of a script and of a page's block: no crash, no hang; every place lies in the text.
#include "check/read/reading_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace railbed::check;
  fuzzing::read_any("a.sh", data, size);
  std::string page = "```console\n";
  page.append(reinterpret_cast<const char*>(data), size);
  fuzzing::read_any("a.md", reinterpret_cast<const uint8_t*>(page.data()), page.size());
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
// Any bytes as the head of an HTTP request: no crash, and what is accepted is a method and a path.
#include "agent/door/http.h"

using namespace railbed;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto line = agent::read_request_line({reinterpret_cast<const char*>(data), size});
  if (!line.has_value()) return 0;
  if (line->method.empty() || !line->path.starts_with('/') || line->path.find_first_of(" ?\n") != std::string::npos)
    __builtin_trap();
  return 0;
}

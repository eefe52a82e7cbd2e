// SPDX-License-Identifier: Apache-2.0
// Any bytes as a baseline: no crash, no hang; what is read is written so that it reads the same.
#include "check/findings/baseline.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace railbed;
  const auto source_of = [](std::string text) {
    return std::make_shared<const doc::Source>(doc::Source{"baseline.json", std::move(text)});
  };
  const auto baseline = check::Baseline::read(source_of(std::string(reinterpret_cast<const char*>(data), size)));
  if (!baseline) return 0;
  const std::string written = baseline->to_json();
  const auto again = check::Baseline::read(source_of(written));
  if (!again || again->to_json() != written) __builtin_trap();
  check::Report none;
  baseline->remove_known(none, "");
  return 0;
}

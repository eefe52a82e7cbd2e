// SPDX-License-Identifier: Apache-2.0
// A finding as a line of a list, as lines of a terminal, and for programs.
//
// Texts are safe to print: names in a finding come from machines and clusters, and their control characters are shown
// as escapes.
// Threading: pure functions.
// Failure: none.
#pragma once

#include <string>
#include <string_view>

#include "doc/value.h"
#include "findings/finding.h"

namespace railbed::findings {

// The message, and the fix in brackets where there is one: "eth2 is off (ip link set dev eth2 up)".
std::string to_line(const Finding& finding);

enum class Detail : uint8_t {
  kShort,
  kFull,  // with the id and the evidence
};

// `severity` is the word for it in this list, of at most 8 characters.
//
//   warning  PCIe at 32 GT/s x8, both ends can 32 GT/s x16 [RB-PCIE-001]
//            where: PCI function 0000:3b:00.0
//            seen:  8 in /sys/bus/pci/devices/0000:3b:00.0/current_link_width (sysfs)
//            do:    …
std::string to_text(const Finding& finding, std::string_view severity, Detail detail);

// {"id", "severity", "subject": {"kind", "name"}, "message", "fix", "evidence": [{"source", "what", "value", "at"}]};
// "fix" and "at" are omitted where they are empty or unknown.
doc::Value to_value(const Finding& finding);

}  // namespace railbed::findings

// SPDX-License-Identifier: Apache-2.0
// Any text as pci.ids: no crash, and a name is a part of one line of it, with an id before it.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "facts/pci_ids.h"

using namespace railbed;  // NOLINT

namespace {

void check(const std::string& name, const std::string& text) {
  if (name.find('\n') != std::string::npos || text.find(name) == std::string::npos) std::abort();
  if (facts::short_model(name).size() > name.size()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // The first eight bytes are the ids that are looked up, besides one that is usual.
  const std::string text(reinterpret_cast<const char*>(data), size);
  const std::string vendor = text.substr(0, 4);
  const std::string device = size < 8 ? "" : text.substr(4, 4);
  const std::string list = size < 8 ? text : text.substr(8);
  const facts::PciIds ids(list);
  for (const std::string& one : {vendor, std::string("15b3")}) {
    check(ids.vendor(one), list);
    for (const std::string& other : {device, std::string("101d")}) check(ids.device(one, other), list);
  }
  (void)facts::short_model(text);
  return 0;
}

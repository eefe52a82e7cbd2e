// SPDX-License-Identifier: Apache-2.0
// A recording from an untrusted sender: the tar file, and the JSON inside.
#include "doc/json.h"
#include "os/record/netlink_json.h"
#include "os/record/tar.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace railbed;
  std::string text(reinterpret_cast<const char*>(data), size);
  os::MemoryFiles files;
  if (os::read_tar_bytes(text, "fuzz.tar", files))
    files.each([&](const os::MemoryFiles::Entry& entry) { (void)files.read(entry.path); });
  doc::Diagnostics diagnostics;
  auto value = doc::parse_json(std::make_shared<doc::Source>(doc::Source{"fuzz.json", text}), diagnostics);
  if (!value) return 0;
  // Whatever can be read can be written and read again with the same result.
  if (auto links = os::read_links(*value))
    if (os::read_links(os::to_value(*links)).value() != *links) __builtin_trap();
  if (auto rdma = os::read_rdma(*value))
    if (os::read_rdma(os::to_value(*rdma)).value() != *rdma) __builtin_trap();
  if (auto answers = os::read_answers(*value))
    if (os::read_answers(os::to_value(*answers)).value() != *answers) __builtin_trap();
  (void)os::read_host(*value);
  return 0;
}

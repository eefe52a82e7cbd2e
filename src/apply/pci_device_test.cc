// SPDX-License-Identifier: Apache-2.0
#include "apply/pci_device.h"

#include <gtest/gtest.h>

#include "os/record/memory_files.h"

namespace railbed::apply {
namespace {

// A number that cannot be read must never count as 0: VFs would be made, or their absence believed.
TEST(PciDevice, WhatIsNoNumberIsNotRead) {
  os::MemoryFiles files;
  const auto read = [&](const std::string& text) {
    files.put_file("/n", text);
    const auto number = read_number(files, "/n");
    return number.has_value() ? std::to_string(*number) : number.error().message;
  };
  EXPECT_EQ(read("8\n"), "8");
  EXPECT_EQ(read("-1\n"), "-1");
  EXPECT_EQ(read(""), "read /n: \"\" is not a number");
  EXPECT_EQ(read("8 VFs\n"), "read /n: \"8 VFs\" is not a number");
  EXPECT_EQ(read("99999999999\n"), "read /n: \"99999999999\" is not a number");
}

}  // namespace
}  // namespace railbed::apply

// SPDX-License-Identifier: Apache-2.0
#include "facts/machine_file.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace railbed::facts {
namespace {

TEST(MachineFile, ReadsEveryKindOfLine) {
  auto files = parse_machine(
      "# a comment\n"
      "[/sys/a]\n"
      "mtu = 9000\n"
      "board := MT 1\n"
      "uevent = A=1\\nB=\\\\x\n"
      "down -> ../b\n"
      "net/\n"
      "/proc/modules <<END\n"
      " ib_core 1\n"
      "END\n"
      "\n"
      "[/sys/b]\n"
      "deep/value = x\n",
      "test");
  ASSERT_TRUE(files) << files.error().to_string();
  EXPECT_EQ((*files)->read("/sys/a/mtu").value(), "9000\n");
  EXPECT_EQ((*files)->read("/sys/a/board").value(), "MT 1");
  EXPECT_EQ((*files)->read("/sys/a/uevent").value(), "A=1\nB=\\x\n");
  EXPECT_EQ((*files)->read("/sys/a/down/deep/value").value(), "x\n");
  EXPECT_EQ((*files)->real_path("/sys/a/down/deep").value(), "/sys/b/deep");
  EXPECT_EQ((*files)->read_link("/sys/a/down").value(), "../b");
  EXPECT_EQ((*files)->list("/sys/a").value(), (std::vector<std::string>{"board", "down", "mtu", "net", "uevent"}));
  EXPECT_TRUE((*files)->list("/sys/a/net").value().empty());
  EXPECT_EQ((*files)->read("/proc/modules").value(), " ib_core 1\n");
  EXPECT_EQ((*files)->read("/sys/a/nothing").error().story(),
            "read /sys/a/nothing: ENOENT (No such file or directory)");
  EXPECT_EQ((*files)->read("/sys/a").error().story(), "read /sys/a: EISDIR (Is a directory)");
}

TEST(MachineFile, SaysWhichLineIsWrong) {
  auto why = [](std::string_view text) {
    auto files = parse_machine(text, "m");
    return files ? "read" : files.error().story();
  };
  EXPECT_EQ(why("x = 1\n"), "m:1: a name before the first [folder]");
  EXPECT_EQ(why("[sys]\n"), "m:1: a folder begins with \"/\"");
  EXPECT_EQ(why("\n[/sys]\nmtu\n"),
            "m:3: neither \"name = text\", \"name := text\", \"name -> target\", \"name <<END\" nor \"name/\"");
  EXPECT_EQ(why("[/sys]\na <<\n"), "m:2: \"<<\" needs a word");
  EXPECT_EQ(why("[/sys]\na <<E\nb\n"), "m:3: the text ends before \"E\"");
  EXPECT_EQ(why("[/sys]\na/../b = 1\n"), "m:2: not a plain name");
}

std::vector<std::string> entries(const os::MemoryFiles& files) {
  std::vector<std::string> all;
  files.each([&](const os::MemoryFiles::Entry& entry) {
    all.push_back(fmt::format("{} {} {}", entry.path, static_cast<int>(entry.kind), entry.text));
  });
  return all;
}

RC_GTEST_PROP(MachineFile, PrintsWhatItReads, ()) {
  auto name = rc::gen::nonEmpty(rc::gen::container<std::string>(rc::gen::elementOf(std::string("abc0:."))));
  auto text = rc::gen::container<std::string>(rc::gen::elementOf(std::string("ab \n\\\t\r#=<")));
  os::MemoryFiles files;
  int count = *rc::gen::inRange(0, 12);
  for (int i = 0; i < count; ++i) {
    std::string path = "/sys/" + std::to_string(i % 3) + "/n" + *name;
    if (files.exists(path)) continue;
    if (*rc::gen::inRange(0, 5) == 0) {
      files.put_directory(path);
      continue;
    }
    if (*rc::gen::inRange(0, 4) == 0)
      files.put_link(path, "../t" + *name);
    else
      files.put_file(path, *text);
  }
  std::string printed = print_machine(files);
  auto again = parse_machine(printed, "again");
  RC_ASSERT(again.has_value());
  RC_ASSERT(entries(files) == entries(**again));
}

// Texts of more than eight lines stand as they are, folders have one heading, and a folder without content is named.
TEST(MachineFile, PrintsForPeople) {
  os::MemoryFiles files;
  files.put_file("/top", "x\n");
  files.put_file("/proc/eight", "1\n2\n3\n4\n5\n6\n7\n8\n");
  files.put_file("/proc/nine", "1\n2\n3\n4\n5\n6\n7\n8\n9\n");
  files.put_file("/proc/nine_with_end", "1\n2\n3\n4\n5\n6\n7\nEND\n9\n");
  files.put_file("/proc/no_newline", "1\n2\n3\n4\n5\n6\n7\n8\n9");
  files.put_directory("/sys/a/empty");
  files.put_directory("/sys/a/full");
  files.put_file("/sys/a/full/mtu", "9000\n");
  files.put_file("/sys/a/mtu", "1500\n");
  files.put_link("/sys/a/up", "../b");
  EXPECT_EQ(print_machine(files), R"([/proc]
eight = 1\n2\n3\n4\n5\n6\n7\n8
nine <<END
1
2
3
4
5
6
7
8
9
END
nine_with_end = 1\n2\n3\n4\n5\n6\n7\nEND\n9
no_newline := 1\n2\n3\n4\n5\n6\n7\n8\n9

[/sys/a]
empty/

[/sys/a/full]
mtu = 9000

[/sys/a]
mtu = 1500
up -> ../b
/top = x
)");
}

// The kernel writes such targets for domains of 32 bits (VMD).
TEST(MachineFile, ALinkMayEndInASlash) {
  const auto files = parse_machine("[/sys/bus]\na -> ../devices/a/\nb/\n", "m");
  ASSERT_TRUE(files) << files.error().to_string();
  EXPECT_EQ((*files)->read_link("/sys/bus/a").value(), "../devices/a/");
  EXPECT_TRUE((*files)->exists("/sys/bus/b"));
  const auto again = parse_machine(print_machine(**files), "again");
  ASSERT_TRUE(again) << again.error().to_string();
  EXPECT_EQ(print_machine(**again), print_machine(**files));
}

}  // namespace
}  // namespace railbed::facts

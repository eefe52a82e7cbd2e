// SPDX-License-Identifier: Apache-2.0
#include "os/real/path_walk.h"

#include <cerrno>
#include <map>

#include <gtest/gtest.h>

namespace railbed::os {
namespace {

using Kind = PathEntry::Kind;

const std::map<std::string, PathEntry> kTree = {
    {"/sys", {Kind::kDirectory, {}}},
    {"/sys/file", {Kind::kFile, {}}},
    {"/sys/class", {Kind::kDirectory, {}}},
    {"/sys/class/net", {Kind::kLink, "../devices"}},
    {"/sys/devices", {Kind::kDirectory, {}}},
    {"/sys/devices/x", {Kind::kFile, {}}},
    {"/sys/absolute", {Kind::kLink, "/sys/devices/"}},
    {"/sys/outside", {Kind::kLink, "../../../sys/file"}},
    {"/sys/loop", {Kind::kLink, "loop"}},
    {"/sys/filedir", {Kind::kLink, "file/"}},
    {"/sys/empty", {Kind::kLink, ""}},
};

std::string walked(std::string_view path, LastLink last = LastLink::kFollow) {
  auto probe = [](const std::string& at) {
    auto found = kTree.find(at);
    return found == kTree.end() ? PathEntry{} : found->second;
  };
  auto result = walk_path(path, probe, last);
  return result ? *result : "errno " + std::to_string(result.error());
}

TEST(WalkPath, ResolvesAsTheKernelDoesInsideARoot) {
  EXPECT_EQ(walked("/"), "/");
  EXPECT_EQ(walked("/sys//class/."), "/sys/class");
  EXPECT_EQ(walked("sys/file"), "/sys/file");
  EXPECT_EQ(walked("/../../sys/.."), "/");
  EXPECT_EQ(walked("/sys/class/net/x"), "/sys/devices/x");
  EXPECT_EQ(walked("/sys/class/net"), "/sys/devices");
  EXPECT_EQ(walked("/sys/class/net", LastLink::kKeep), "/sys/class/net");
  EXPECT_EQ(walked("/sys/class/net/", LastLink::kKeep), "/sys/devices");
  EXPECT_EQ(walked("/sys/absolute/x"), "/sys/devices/x");
  EXPECT_EQ(walked("/sys/outside"), "/sys/file");
}

TEST(WalkPath, FailsAsTheKernelDoes) {
  EXPECT_EQ(walked("/sys/none"), "errno " + std::to_string(ENOENT));
  EXPECT_EQ(walked("/sys/file/x"), "errno " + std::to_string(ENOTDIR));
  EXPECT_EQ(walked("/sys/file/"), "errno " + std::to_string(ENOTDIR));
  EXPECT_EQ(walked("/sys/file/.."), "errno " + std::to_string(ENOTDIR));
  EXPECT_EQ(walked("/sys/loop"), "errno " + std::to_string(ELOOP));
  EXPECT_EQ(walked("/sys/filedir"), "errno " + std::to_string(ENOTDIR));
  EXPECT_EQ(walked("/sys/empty"), "errno " + std::to_string(ENOENT));
}

}  // namespace
}  // namespace railbed::os

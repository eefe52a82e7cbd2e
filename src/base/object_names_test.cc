// SPDX-License-Identifier: Apache-2.0
#include "base/object_names.h"

#include <string>

#include <gtest/gtest.h>

namespace railbed {
namespace {

TEST(ObjectNames, LabelsHaveAForm) {
  for (const char* right : {"", "a", "A", "0", "a-b", "a_b", "1.2.3", "v1.2-rc_3", "ConnectX-7"})
    EXPECT_TRUE(is_label_value(right)) << right;
  for (const char* wrong : {"-a", "a-", ".a", "a.", "_a", "a b", "a/b", "a:b", "a@b", "a,b", "ä", " "})
    EXPECT_FALSE(is_label_value(wrong)) << wrong;
  EXPECT_TRUE(is_label_value(std::string(63, 'a')));
  EXPECT_FALSE(is_label_value(std::string(64, 'a')));
}

TEST(ObjectNames, KeysOfLabelsMayHaveAPrefix) {
  for (const char* right : {"app", "App", "a.b", "app.kubernetes.io/name", "node-role.kubernetes.io/worker", "x/y_z"})
    EXPECT_TRUE(is_label_key(right)) << right;
  for (const char* wrong : {"", "/a", "a/", "a/b/c", "Example.com/a", "my app", "app:", "-a", "a_b/c"})
    EXPECT_FALSE(is_label_key(wrong)) << wrong;
  EXPECT_TRUE(is_label_key(std::string(253, 'a') + "/" + std::string(63, 'b')));
  EXPECT_FALSE(is_label_key(std::string(254, 'a') + "/b"));
  EXPECT_FALSE(is_label_key("a/" + std::string(64, 'b')));
}

TEST(ObjectNames, WhatIsFilledInLaterIsSeen) {
  for (const char* yes :
       {"<name>", "{{ name }}", "${NAME}", "$NAME", "$(NAME)", "%(name)s", "%s", "__NAME__", "@NAME@", "%NAME%", "..."})
    EXPECT_TRUE(is_filled_in_later(yes)) << yes;
  for (const char* no : {"", "a", "a b", "My_x", "50%", "a@b", "_a_", "__", "@@"})
    EXPECT_FALSE(is_filled_in_later(no)) << no;
}

}  // namespace
}  // namespace railbed

// SPDX-License-Identifier: Apache-2.0
#include "doc/markup.h"

#include <gtest/gtest.h>

namespace railbed::doc {
namespace {

TEST(Markup, EndsNoTextAndNoAttribute) {
  EXPECT_EQ(markup_text("a & b <c> \"d\" 'e' &amp;"), "a &amp; b &lt;c&gt; &quot;d&quot; 'e' &amp;amp;");
  EXPECT_EQ(markup_text("mlx5_0 Größe"), "mlx5_0 Größe");
  EXPECT_EQ(markup_text(""), "");
}

TEST(Markup, WritesControlCharactersAndBrokenUtf8AsTheyArePrinted) {
  EXPECT_EQ(markup_text("\x1b]0;x\x07\n<"), "\\x1b]0;x\\x07\\x0a&lt;");
  EXPECT_EQ(markup_text("\xff"), "\xef\xbf\xbd");
}

}  // namespace
}  // namespace railbed::doc

// SPDX-License-Identifier: Apache-2.0
#include "check/read/purpose.h"

#include <string>

#include <gtest/gtest.h>

namespace railbed::check {
namespace {

// Of the example that begins with "apiVersion".
bool purpose_of(const std::string& page) {
  return is_wrong_on_purpose(page, page.find("apiVersion"));
}

TEST(Purpose, IsSaidByTheHeadingOrTheLineBefore) {
  for (const char* page :
       {"#### Test 6: Negative values (Should Fail)\n```bash\n# Try it\nkubectl apply -f - <<EOF\napiVersion: v1\n",
        "# A\n\nThis is an invalid pod:\n\n```yaml\napiVersion: v1\n",
        "\xE2\x9D\x8C Two names:\n```yaml\napiVersion: v1\n",
        "## Bad example\n\nSome words.\n\n```yaml\napiVersion: v1\n",
        "== Wrong\n\n[source,yaml]\n----\napiVersion: v1\n",
        "It will be rejected:\n\n.. code-block:: yaml\n\n   apiVersion: v1\n",
        "```bash\n# negative test\nkubectl apply -f - <<EOF\napiVersion: v1\n"})
    EXPECT_TRUE(purpose_of(page)) << page;
  for (const char* page : {"# Rails\n\nMake the pod:\n\n```yaml\napiVersion: v1\n", "apiVersion: v1\n",
                           "\napiVersion: v1\n", "# Invalid names\n\n## Right ones\n\n```yaml\napiVersion: v1\n",
                           "This is wrong:\n\n```yaml\na: 1\n```\n\nThis is right:\n\n```yaml\napiVersion: v1\n",
                           "Invalid ones are refused.\n\nThe pod:\n\n```yaml\napiVersion: v1\n"})
    EXPECT_FALSE(purpose_of(page)) << page;
}

}  // namespace
}  // namespace railbed::check

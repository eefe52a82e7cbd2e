// SPDX-License-Identifier: Apache-2.0
#include "check/schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "doc/yaml.h"

namespace railbed::check {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(SchemaData, IsRight) {
  EXPECT_THAT(schema_problems(), IsEmpty());
}

}  // namespace
}  // namespace railbed::check

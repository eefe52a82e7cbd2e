// SPDX-License-Identifier: Apache-2.0
// Objects of the API server in the tests of preflight. Threading: a test's. Failure: a failed expectation.
#pragma once

#include <string>

#include <gtest/gtest.h>

#include "kube/object.h"

namespace railbed::preflight {

inline doc::Value json(const std::string& text) {
  auto read = kube::parse_object(text);
  EXPECT_TRUE(read.has_value()) << text;
  return read.value_or(doc::Value());
}

}  // namespace railbed::preflight

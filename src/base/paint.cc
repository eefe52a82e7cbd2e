// SPDX-License-Identifier: Apache-2.0
#include "base/paint.h"

#include <fmt/format.h>

namespace railbed {
namespace {

std::string_view escape_of(Paint paint) {
  switch (paint) {
    case Paint::kNone:
      return "";
    case Paint::kGood:
      return "\x1b[32m";
    case Paint::kWarning:
      return "\x1b[33m";
    case Paint::kBad:
      return "\x1b[31m";
    case Paint::kDim:
      return "\x1b[2m";
    case Paint::kStrong:
      return "\x1b[1m";
  }
  return "";
}

}  // namespace

std::string painted(std::string_view text, Paint paint, Colour colour) {
  if (colour == Colour::kNo || paint == Paint::kNone || text.empty()) return std::string(text);
  return fmt::format("{}{}\x1b[0m", escape_of(paint), text);
}

}  // namespace railbed

// SPDX-License-Identifier: Apache-2.0
#include "doc/markup.h"

#include "doc/text.h"

namespace railbed::doc {

std::string markup_text(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else
      out += c;
  }
  return out;
}

}  // namespace railbed::doc

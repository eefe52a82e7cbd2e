// SPDX-License-Identifier: Apache-2.0
#include "report/html_type.h"

namespace railbed::report {
namespace {

std::string script_safe(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  for (size_t i = 0; i < json.size(); ++i) {
    const std::string_view rest = json.substr(i);
    if (json[i] == '<')
      out += "\\u003c";
    else if (json[i] == '&')
      out += "\\u0026";
    else if (rest.starts_with("\xe2\x80\xa8"))
      out += "\\u2028", i += 2;
    else if (rest.starts_with("\xe2\x80\xa9"))
      out += "\\u2029", i += 2;
    else
      out += json[i];
  }
  return out;
}

}  // namespace

Html markup(MarkupLiteral literal) {
  return Html(std::string(literal.text));
}

Html json_script(MarkupLiteral id, std::string_view json) {
  return html("<script type=\"application/json\" id=\"{}\">{}</script>\n", id.text, Html(script_safe(json)));
}

Html embedded_file(const char* begin, const char* end) {
  return Html(std::string(begin, end));
}

std::string Html::escaped(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += static_cast<unsigned char>(c) < ' ' || c == 0x7f ? ' ' : c;
    }
  }
  return out;
}

}  // namespace railbed::report

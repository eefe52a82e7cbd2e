// SPDX-License-Identifier: Apache-2.0
// Random document values for property tests.
#pragma once

#include <string>
#include <utility>

#include <rapidcheck.h>

#include "doc/text.h"
#include "doc/value.h"

namespace railbed::doc {

// Texts with everything that causes trouble: quotes, control characters, line ends, blanks at the ends, words that look
// like numbers, several bytes per character.
inline rc::Gen<std::string> arbitrary_text() {
  using namespace rc;
  auto code_point =
      gen::oneOf(gen::inRange<uint32_t>(1, 0x80), gen::element<uint32_t>(' ', '\n', ':', '#', '-', '"', '\'', '\\'),
                 gen::inRange<uint32_t>(0x80, 0xD800), gen::inRange<uint32_t>(0xE000, 0x110000));
  auto free_text = gen::map(gen::container<std::vector<uint32_t>>(code_point), [](const auto& points) {
    std::string out;
    for (uint32_t c : points) append_utf8(out, c);
    return out;
  });
  auto word = gen::element<std::string>("", "~", "null", "yes", "No", "0x1f", "017", "1e3", ".5", "-", "--- a", "<<",
                                        "a: b", "a #b", " x", "x ", "line\nline\n", "|", "1_000", "on", "{}", "[a]",
                                        "*a", "&a", "!t", "@x", "15b3", "1021", "0000:3c:00.0", "...", "a:", "? a");
  return gen::oneOf(free_text, word);
}

inline rc::Gen<Value> arbitrary_value(int depth = 3) {
  using namespace rc;
  auto scalar = gen::oneOf(gen::just(Value()), gen::map(gen::arbitrary<bool>(), [](bool b) { return Value(b); }),
                           gen::map(gen::arbitrary<int64_t>(), [](int64_t i) { return Value(i); }),
                           gen::map(gen::arbitrary<double>(), [](double d) { return Value(d); }),
                           gen::map(arbitrary_text(), [](std::string text) { return Value(std::move(text)); }));
  if (depth == 0) return scalar;
  auto array =
      gen::map(gen::resize(4, gen::container<Value::Array>(gen::lazy([depth] { return arbitrary_value(depth - 1); }))),
               [](Value::Array items) { return Value(std::move(items)); });
  auto member = gen::pair(arbitrary_text(), gen::lazy([depth] { return arbitrary_value(depth - 1); }));
  auto object = gen::map(gen::resize(4, gen::container<std::vector<std::pair<std::string, Value>>>(member)),
                         [](const std::vector<std::pair<std::string, Value>>& members) {
                           Value out = Value::object();
                           for (const auto& [key, value] : members) out.set(key, value);
                           return out;
                         });
  return gen::oneOf(scalar, array, object);
}

}  // namespace railbed::doc

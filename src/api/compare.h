// SPDX-License-Identifier: Apache-2.0
// From an object to what railbed knows of it: the schema of its kind first, then a reader.
//
// Why: the schema alone says which fields there are, of which types and with which values (schema/schema.h). A reader
// (read_policy, …) takes typed values and reports what spans several fields or what a value means; a field of a wrong
// type counts as absent there, since its error has been reported.
// Threading: pure functions. Failure: diagnostics; an object with errors is never half read.
#pragma once

#include <concepts>
#include <optional>
#include <string_view>
#include <utility>

#include "api/objects.h"
#include "doc/diagnostic.h"
#include "schema/schema.h"

namespace railbed::api {

// The status of an object is written by servers and programs: an error in it keeps no object from being read.
enum class StatusPart : uint8_t { kSkipped, kCompared };
enum class NetworksAnnotation : uint8_t {
  kRead,
  kLeftToTheReader,  // of pods, which keeps what it says
};

// False: it has errors outside of its status.
bool compare(const doc::Value& object, const schema::Schema& schema, StatusPart status, NetworksAnnotation networks,
             doc::Diagnostics& out);
// The same with the schema of a kind that has one.
bool compare(const doc::Value& object, std::string_view kind, StatusPart status, NetworksAnnotation networks,
             doc::Diagnostics& out);

// Nothing when the schema or `read` finds an error.
template <auto read>
auto parsed(std::string_view kind, const doc::Value& object, StatusPart status, doc::Diagnostics& out) {
  using T = decltype(read(object, out));
  constexpr auto kNetworks = std::same_as<T, Pod> ? NetworksAnnotation::kLeftToTheReader : NetworksAnnotation::kRead;
  const bool fits = compare(object, kind, status, kNetworks, out);
  doc::Diagnostics reported;
  std::optional<T> result = read(object, reported);
  if (!fits || reported.has_errors()) result.reset();
  out.append(std::move(reported));
  return result;
}

// A value that its schema allows, and that is wrong anyway (RB-API-005).
doc::Diagnostic& wrong_value(const doc::Span& span, std::string message, doc::Diagnostics& out);

}  // namespace railbed::api

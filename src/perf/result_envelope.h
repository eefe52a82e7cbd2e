// SPDX-License-Identifier: Apache-2.0
// What every result of `railbed perf` begins with: what kind of result it is, which railbed measured when and how, and
// whether anything is missing.
//
// Why: people and programs read results of all kinds, so what these share is written and read here, once. A kind names
// the members that its form has, in the order in which that has them, since what is on disk does not change: early
// kinds have fewer of them, or in another order.
// Threading: plain values; pure.
// Failure: of reading, Code::kInvalid with the field's path.
// Schemas: docs/schemas; report/result_kinds.h lists the kinds.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "doc/value.h"

namespace railbed::doc {
class Fields;
}

namespace railbed::perf {

class JsonWriter;

// A kind of result, and the version of its form.
struct ResultName {
  std::string_view kind;    // "Jitter"; docs/schemas/Jitter.json
  std::string_view schema;  // "railbed.jitter/v1"
};

inline constexpr size_t kMaxCommand_bytes = 16384;
inline constexpr size_t kMaxReason_bytes = 1 << 18;  // why a result is incomplete: what several peers said

struct ResultEnvelope {
  std::string version;     // of the railbed that measured
  std::string started_at;  // UTC, ISO 8601
  std::string command;     // as typed by the user
  std::string label;       // what reports call it
  std::string peer;        // as given
  std::string ended_by;    // why something is missing; "": nothing is
  bool right = true;       // what was transferred was right
  bool soft = false;       // software RDMA: its figures say nothing about a fabric
};

struct ResultMember {
  // kComplete stands for `complete` and, where something is missing, `ended_by`.
  enum class What : uint8_t { kVersion, kStartedAt, kCommand, kLabel, kPeer, kComplete, kRight, kSoft };
  // Whether a file must have it, may have it, or its member is passed over. `ended_by` is always read.
  enum class Read : uint8_t { kNo, kIfThere, kAlways };
  What what;
  Read read = Read::kNo;
  size_t bytes = 256;  // of a text, at most
};

// Members of the object that is being written.
void write_name(JsonWriter& writer, const ResultName& name);
void write_envelope(JsonWriter& writer, std::span<const ResultMember> members, const ResultEnvelope& envelope);
// An object with both.
doc::Value begin_result(const ResultName& name, std::span<const ResultMember> members, const ResultEnvelope& envelope);

// What is wrong is reported to `fields`.
ResultEnvelope read_envelope(doc::Fields& fields, std::span<const ResultMember> members);

// A file with a result of whatever kind, but for the rows of a mesh (mesh/mesh_file.h).
Result<doc::Value> read_result(std::string_view text);
// Whether a result is of this kind, of whatever version.
bool is_result_of(const doc::Value& result, const ResultName& name);
// An error unless it is of this kind and version.
Result<void> check_schema(const doc::Value& result, const ResultName& name);

}  // namespace railbed::perf

// SPDX-License-Identifier: Apache-2.0
#include "perf/result_envelope.h"

#include <algorithm>
#include <iterator>

#include "base/well_known.h"
#include "doc/fields.h"
#include "perf/json_writer.h"

namespace railbed::perf {
namespace {

constexpr size_t kMaxResult_bytes = size_t{256} << 20;

struct EnvelopeText {
  ResultMember::What what;
  std::string_view key;
  std::string ResultEnvelope::* text;
};
constexpr EnvelopeText kEnvelopeTexts[] = {
    {ResultMember::What::kVersion, "version", &ResultEnvelope::version},
    {ResultMember::What::kStartedAt, "started_at", &ResultEnvelope::started_at},
    {ResultMember::What::kCommand, "command", &ResultEnvelope::command},
    {ResultMember::What::kLabel, "label", &ResultEnvelope::label},
    {ResultMember::What::kPeer, "peer", &ResultEnvelope::peer},
};

struct EnvelopeFlag {
  ResultMember::What what;
  std::string_view key;
  bool ResultEnvelope::* flag;
};
constexpr EnvelopeFlag kEnvelopeFlags[] = {
    {ResultMember::What::kRight, "right", &ResultEnvelope::right},
    {ResultMember::What::kSoft, "soft", &ResultEnvelope::soft},
};

// The row of a table; null where it has none.
template <typename Row, size_t kCount>
const Row* row_of(const Row (&rows)[kCount], ResultMember::What what) {
  const Row* found = std::ranges::find(rows, what, &Row::what);
  return found == std::end(rows) ? nullptr : found;
}

doc::Value name_value(const ResultName& name) {
  doc::Value out = doc::Value::object();
  out.set("apiVersion", kOwnApiVersion);
  out.set("kind", name.kind);
  out.set("schema", name.schema);
  return out;
}

void set_envelope(doc::Value& out, std::span<const ResultMember> members, const ResultEnvelope& envelope) {
  for (const ResultMember& one : members) {
    if (const EnvelopeText* text = row_of(kEnvelopeTexts, one.what)) {
      out.set(text->key, envelope.*(text->text));
    } else if (const EnvelopeFlag* flag = row_of(kEnvelopeFlags, one.what)) {
      out.set(flag->key, envelope.*(flag->flag));
    } else {
      out.set("complete", envelope.ended_by.empty());
      if (!envelope.ended_by.empty()) out.set("ended_by", envelope.ended_by);
    }
  }
}

// Texts and flags.
void write_members(JsonWriter& writer, const doc::Value& value) {
  for (const doc::Value::Member& member : *value.as_object()) {
    if (const bool* flag = member.value.as_bool())
      writer.flag(member.key, *flag);
    else
      writer.text(member.key, *member.value.as_string());
  }
}

template <typename T>
void read_member(doc::Fields& fields, const ResultMember& member, std::string_view key, T& out) {
  if (member.read == ResultMember::Read::kAlways) fields.require(key);
  if (member.read != ResultMember::Read::kNo) fields.read(key, out, {.bytes = member.bytes});
}

void read_completeness(doc::Fields& fields, const ResultMember& member, std::string& ended_by) {
  fields.read("ended_by", ended_by, {.bytes = kMaxReason_bytes});
  const bool complete = ended_by.empty();
  bool said = complete;
  read_member(fields, member, "complete", said);
  if (said != complete) fields.wrong("complete", fmt::format("{}, which contradicts ended_by", said));
}

}  // namespace

void write_name(JsonWriter& writer, const ResultName& name) {
  write_members(writer, name_value(name));
}

void write_envelope(JsonWriter& writer, std::span<const ResultMember> members, const ResultEnvelope& envelope) {
  doc::Value value = doc::Value::object();
  set_envelope(value, members, envelope);
  write_members(writer, value);
}

doc::Value begin_result(const ResultName& name, std::span<const ResultMember> members, const ResultEnvelope& envelope) {
  doc::Value out = name_value(name);
  set_envelope(out, members, envelope);
  return out;
}

ResultEnvelope read_envelope(doc::Fields& fields, std::span<const ResultMember> members) {
  ResultEnvelope out;
  for (const ResultMember& one : members) {
    if (const EnvelopeText* text = row_of(kEnvelopeTexts, one.what))
      read_member(fields, one, text->key, out.*(text->text));
    else if (const EnvelopeFlag* flag = row_of(kEnvelopeFlags, one.what))
      read_member(fields, one, flag->key, out.*(flag->flag));
    else
      read_completeness(fields, one, out.ended_by);
  }
  return out;
}

Result<doc::Value> read_result(std::string_view text) {
  if (text.size() > kMaxResult_bytes)
    return fail(Code::kInvalid, "{} bytes of JSON, at most {} are allowed", text.size(), kMaxResult_bytes);
  return doc::read_object("", text).context("these are not results");
}

bool is_result_of(const doc::Value& result, const ResultName& name) {
  const doc::Value* schema = result.find("schema");
  const std::string_view any_version = name.schema.substr(0, name.schema.find('/') + 1);
  return schema != nullptr && schema->is_string() && schema->as_string()->starts_with(any_version);
}

Result<void> check_schema(const doc::Value& result, const ResultName& name) {
  doc::Diagnostics found;
  doc::Fields fields(result, "", doc::kNoFamily, found);
  std::string schema;
  fields.need("schema", schema, {.bytes = 256});
  TRY(doc::first_error(found));
  if (schema != name.schema)
    return fail(Code::kInvalid, "schema: \"{}\" is not {}, the one this version reads", schema, name.schema);
  return {};
}

}  // namespace railbed::perf

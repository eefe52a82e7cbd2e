// SPDX-License-Identifier: Apache-2.0
#include "agent/cluster/object_file.h"

#include "doc/json.h"
#include "doc/members.h"
#include "doc/text.h"
#include "kube/object.h"

namespace railbed::agent {
namespace {

using doc::Value;
constexpr int kObjectFileVersion = 1;

}  // namespace

std::string object_file_text(KeptObjects kept) {
  Value file = Value::object();
  file.set("version", kObjectFileVersion);
  file.set("of", std::move(kept.of));
  file.set("asOf", int64_t{std::chrono::duration_cast<std::chrono::seconds>(kept.as_of.time_since_epoch()).count()});
  file.set("objects", Value(std::move(kept.objects)));
  return doc::to_json(file);
}

Result<KeptObjects> read_object_file(const std::string& text, const std::string& of) {
  Value file = TRY(kube::parse_object(text));
  if (doc::number_in(file, "version") != kObjectFileVersion)
    return fail(Code::kInvalid, "it was written by another version of railbed, or is not a railbed file");
  KeptObjects kept{.of = doc::text_in(file, "of")};
  if (kept.of != of)
    return fail(Code::kConflict, "it has objects of {}, not of {}", doc::printable(kept.of), doc::printable(of));
  const Value* as_of = file.find("asOf");
  if (as_of == nullptr || as_of->as_int() == nullptr) return fail(Code::kInvalid, "it has no time");
  // Beyond the year 9999 a clock's arithmetic would overflow.
  if (*as_of->as_int() < 0 || *as_of->as_int() > 253402300799) return fail(Code::kInvalid, "its time is invalid");
  kept.as_of = std::chrono::system_clock::time_point(std::chrono::seconds(*as_of->as_int()));
  Value* objects = file.find("objects");
  if (objects == nullptr || !objects->is_array()) return fail(Code::kInvalid, "it has no list of objects");
  for (Value& object : *objects->as_array()) {
    if (kube::key_of(object).name.empty()) return fail(Code::kInvalid, "it has an object without a name");
    kept.objects.push_back(std::move(object));
  }
  return kept;
}

}  // namespace railbed::agent

// SPDX-License-Identifier: Apache-2.0
#include "drain/state.h"

#include "base/format.h"
#include "doc/fields.h"
#include "doc/json.h"
#include "doc/record.h"

namespace railbed::doc {

template <>
struct Words<drain::Phase> {
  static constexpr std::string_view all[] = {"Idle", "Withdrawn", "Evicting", "Changing", "Restarting", "Blocked"};
};

}  // namespace railbed::doc

namespace railbed::drain {
namespace {

constexpr int kStateVersion = 1;
constexpr int64_t kLatestSecond = int64_t{1} << 40;
constexpr doc::Limits kSeconds{.min = 0, .max = kLatestSecond};
constexpr doc::Limits kName{.bytes = 1024};
constexpr doc::Limits kNames{.bytes = 1024, .entries = 1024};

template <typename Io, typename T>
void second(Io& io, std::string_view key, T& time) {
  int64_t seconds = time.time_since_epoch().count();
  io.some(key, seconds, kSeconds);
  if constexpr (!Io::kWrites) time = Time(std::chrono::seconds(seconds));
}

}  // namespace

template <typename Io, doc::Is<NodeDrain> T>
void fields(Io& io, T& state) {
  io.need("phase", state.phase);
  io.some("change", state.change, kName);
  io.some("resources", state.resources, kNames);
  io.some("units", state.units, kNames);
  io.some("spreads", state.spreads, kNames);
  io.some("slot", state.slot);
  second(io, "since", state.since);
  second(io, "started", state.started);
  io.some("bootID", state.boot_id, kName);
  io.some("why", state.why, doc::Limits{.bytes = 4096});
}

std::string to_text(const NodeDrain& state) {
  if (state == NodeDrain{}) return "";
  doc::Value value = doc::record_value(state);
  value.set("version", int64_t{kStateVersion});
  return doc::to_json(value);
}

Result<NodeDrain> read_node_drain(std::string_view text) {
  NodeDrain state;
  if (text.empty()) return state;
  const doc::Value value = TRY(doc::read_object(std::string(kDrainAnnotation), text));
  doc::Diagnostics found;
  int version = 0;
  {
    doc::Fields fields_of(value, "", doc::kNoFamily, found);
    fields_of.need("version", version, {.min = 1});
    if (found.all().empty() && version > kStateVersion)
      return fail(Error{.code = Code::kUnsupported,
                        .message = fmt::format("{}: version {} is later than {}, the last that is known",
                                               kDrainAnnotation, version, kStateVersion),
                        .hint = "run the operator of the version that wrote it until the node is done"});
    doc::read_record(fields_of, state);
  }
  TRY(doc::first_error(found).context("annotation {}", kDrainAnnotation));
  return state;
}

std::string time_text(Time time) {
  std::string text = utc_text(time);
  if (const size_t dot = text.find('.'); dot != std::string::npos) text.erase(dot, text.size() - dot - 1);
  return text;
}

}  // namespace railbed::drain

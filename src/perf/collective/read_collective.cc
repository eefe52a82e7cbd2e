// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <map>

#include "doc/fields.h"
#include "doc/text.h"
#include "perf/collective/bandwidth.h"
#include "perf/collective/collective_report.h"

namespace railbed::perf::collective {
namespace {

using doc::Fields;

constexpr doc::Limits kText{.bytes = 256};
constexpr doc::Limits kName{.bytes = 4 * mesh::kMaxNameBytes, .entries = kMaxRanks};  // cleaned of control characters
constexpr doc::Limits kFigure{.min = 0, .max = 1'000'000'000'000};                    // us, GB/s
constexpr size_t kMaxResults = 1024;

// The places of names in a list of the result, by which its other parts speak.
using Places = std::map<std::string, uint32_t>;

Places places_of(const std::vector<std::string>& names) {
  Places places;
  for (size_t i = 0; i < names.size(); ++i) places.emplace(names[i], static_cast<uint32_t>(i));
  return places;
}

void need_place(Fields& fields, std::string_view key, const Places& places, uint32_t& out) {
  std::string name;
  fields.need(key, name, kName);
  if (const auto found = places.find(name); found != places.end())
    out = found->second;
  else
    fields.wrong(key, fmt::format("\"{}\" is not in the list", doc::printable(name)));
}

class Reader {
 public:
  explicit Reader(CollectiveRun& run) : run_(run) {}

  void read(Fields& fields) {
    ResultEnvelope envelope = read_envelope(fields, collective_members());
    run_.version = std::move(envelope.version);
    run_.started_at = std::move(envelope.started_at);
    run_.command = std::move(envelope.command);
    run_.label = std::move(envelope.label);
    run_.ended_by = std::move(envelope.ended_by);
    run_.soft = envelope.soft;
    read_transport(fields);
    read_names(fields);
    fields.need("iterations", run_.iterations, {.min = 1, .max = kMaxIterations});
    fields.need("warm_up", run_.warm_up, {.min = 0, .max = kMaxIterations});
    fields.require("results");
    fields.each(
        "results", run_.results, [this](Fields& inner, SizeResult& size) { read_size(inner, size); }, kMaxResults);
    if (envelope.right != run_.is_right())
      fields.wrong("right", fmt::format("{}, which contradicts what is reported as wrong", envelope.right));
    for (std::string& rank : run_.ranks) rank = doc::printable(rank);
  }

 private:
  void read_transport(Fields& fields) {
    std::string name;
    fields.need("transport", name, kText);
    if (auto transport = transport_from(name))
      run_.transport = *transport;
    else
      fields.wrong("transport", transport.error().story());
  }

  void read_names(Fields& fields) {
    fields.need("ranks", run_.ranks, kName);
    if (run_.ranks.size() < 2) fields.wrong("ranks", "a collective has two or more");
    fields.need("rails", run_.rails, {.bytes = kName.bytes, .entries = kMaxRails});
    if (run_.rails.empty()) fields.wrong("rails", "a collective has one or more");
    ranks_ = places_of(run_.ranks);
    rails_ = places_of(run_.rails);
  }

  void read_size(Fields& fields, SizeResult& size) const {
    fields.require("algorithm");
    fields.choose("algorithm", kAlgorithmNames, size.algorithm);
    fields.need("size_bytes", size.size_bytes, {.min = kElement_bytes, .max = kLargest_bytes});
    fields.each("wrong", size.wrong, [this](Fields& inner, WrongAt& at) { read_wrong(inner, at); }, size_t{kMaxNics});
    fields.require("rails");
    fields.each("rails", size.rails, [this](Fields& inner, RailResult& rail) { read_rail(inner, rail); }, kMaxRails);
    if (size.rails.empty()) fields.wrong("rails", "a size is measured on one or more");
  }

  void read_wrong(Fields& fields, WrongAt& at) const {
    constexpr doc::Limits kElements{.min = 0, .max = kLargest_bytes / kElement_bytes};
    need_place(fields, "rank", ranks_, at.rank);
    need_place(fields, "rail", rails_, at.rail);
    fields.need("elements", at.wrong.count, kElements);
    fields.need("offset", at.wrong.offset, kElements);
    fields.need("wanted", at.wrong.wanted);
    at.wrong.got = std::numeric_limits<double>::quiet_NaN();
    fields.read("got", at.wrong.got);
  }

  void read_rail(Fields& fields, RailResult& rail) const {
    need_place(fields, "rail", rails_, rail.rail);
    fields.need("time_us", rail.time_us, kFigure);
    fields.need("algbw_gbytes_per_s", rail.algbw_gbytes_per_s, kFigure);
    fields.need("busbw_gbytes_per_s", rail.busbw_gbytes_per_s, kFigure);
    fields.each("ranks", rail.ranks, [this](Fields& inner, RankFigures& it) { read_rank(inner, it); }, kMaxRanks);
    fields.each("steps", rail.steps, [this](Fields& inner, StepFigures& it) { read_step(inner, it); }, kMaxSteps);
    fields.inside("straggler", [&](Fields& inner) { read_straggler(inner, rail.straggler.emplace()); });
  }

  void read_rank(Fields& fields, RankFigures& it) const {
    need_place(fields, "rank", ranks_, it.rank);
    fields.need("mean_us", it.mean_us, kFigure);
    fields.need("p50_us", it.p50_us, kFigure);
    fields.read("p99_us", it.p99_us, kFigure);
    fields.need("max_us", it.max_us, kFigure);
    fields.need("waited_p50_us", it.waited_p50_us, kFigure);
    fields.read("waited_p99_us", it.waited_p99_us, kFigure);
    fields.need("transfer_us", it.transfer_us, kFigure);
    fields.need("reduce_us", it.reduce_us, kFigure);
    fields.need("own_p50_us", it.own_p50_us, kFigure);
    fields.need("own_max_us", it.own_max_us, kFigure);
  }

  void read_step(Fields& fields, StepFigures& it) const {
    fields.need("step", it.step, {.min = 0, .max = kMaxSteps});
    size_t phase = 0;
    fields.require("phase");
    fields.choose("phase", kPhases, phase);
    it.phase = kPhases[phase];
    fields.need("waited_us", it.waited_us, kFigure);
    fields.need("transfer_us", it.transfer_us, kFigure);
    fields.need("reduce_us", it.reduce_us, kFigure);
    need_place(fields, "late_rank", ranks_, it.late_rank);
    need_place(fields, "late_from", ranks_, it.late_from);
    fields.need("late_us", it.late_us, kFigure);
  }

  void read_straggler(Fields& fields, Straggler& it) const {
    if (fields.has("rank")) {
      need_place(fields, "rank", ranks_, it.rank.emplace());
    } else {
      need_place(fields, "from", ranks_, it.from);
      need_place(fields, "to", ranks_, it.to);
    }
    fields.need("took_us", it.took_us, kFigure);
    fields.need("usual_us", it.usual_us, kFigure);
    fields.need("all_reduce_us", it.all_reduce_us, kFigure);
  }

  CollectiveRun& run_;
  Places ranks_;
  Places rails_;
};

}  // namespace

Result<CollectiveRun> run_from(const doc::Value& result) {
  TRY(check_schema(result, kCollectiveName));
  doc::Diagnostics found;
  Fields fields(result, "", doc::kNoFamily, found);
  CollectiveRun run;
  Reader(run).read(fields);
  TRY(doc::first_error(found));
  return run;
}

}  // namespace railbed::perf::collective

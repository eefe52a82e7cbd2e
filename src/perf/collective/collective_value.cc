// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "perf/collective/collective_report.h"

namespace railbed::perf::collective {
namespace {

using doc::Value;

Value names_value(const std::vector<std::string>& names) {
  Value out = Value::array();
  for (const std::string& name : names) out.push(name);
  return out;
}

Value rank_value(const CollectiveRun& run, const RankFigures& it) {
  Value out = Value::object();
  out.set("rank", run.ranks[it.rank]);
  out.set("mean_us", it.mean_us);
  out.set("p50_us", it.p50_us);
  if (it.p99_us > 0) out.set("p99_us", it.p99_us);
  out.set("max_us", it.max_us);
  out.set("waited_p50_us", it.waited_p50_us);
  if (it.waited_p99_us > 0) out.set("waited_p99_us", it.waited_p99_us);
  out.set("transfer_us", it.transfer_us);
  out.set("reduce_us", it.reduce_us);
  out.set("own_p50_us", it.own_p50_us);
  out.set("own_max_us", it.own_max_us);
  return out;
}

Value step_value(const CollectiveRun& run, const StepFigures& it) {
  Value out = Value::object();
  out.set("step", static_cast<uint64_t>(it.step));
  out.set("phase", it.phase);
  out.set("waited_us", it.waited_us);
  out.set("transfer_us", it.transfer_us);
  out.set("reduce_us", it.reduce_us);
  out.set("late_rank", run.ranks[it.late_rank]);
  out.set("late_from", run.ranks[it.late_from]);
  out.set("late_us", it.late_us);
  return out;
}

Value straggler_value(const CollectiveRun& run, const Straggler& it) {
  Value out = Value::object();
  if (it.rank) {
    out.set("rank", run.ranks[*it.rank]);
  } else {
    out.set("from", run.ranks[it.from]);
    out.set("to", run.ranks[it.to]);
  }
  out.set("took_us", it.took_us);
  out.set("usual_us", it.usual_us);
  out.set("all_reduce_us", it.all_reduce_us);
  return out;
}

Value rail_value(const CollectiveRun& run, const RailResult& it) {
  Value out = Value::object();
  out.set("rail", run.rails[it.rail]);
  out.set("time_us", it.time_us);
  out.set("algbw_gbytes_per_s", it.algbw_gbytes_per_s);
  out.set("busbw_gbytes_per_s", it.busbw_gbytes_per_s);
  Value& ranks = out.set("ranks", Value::array());
  for (const RankFigures& rank : it.ranks) ranks.push(rank_value(run, rank));
  Value& steps = out.set("steps", Value::array());
  for (const StepFigures& step : it.steps) steps.push(step_value(run, step));
  if (it.straggler) out.set("straggler", straggler_value(run, *it.straggler));
  return out;
}

Value wrong_value(const CollectiveRun& run, const WrongAt& it) {
  Value out = Value::object();
  out.set("rank", run.ranks[it.rank]);
  out.set("rail", run.rails[it.rail]);
  out.set("elements", it.wrong.count);
  out.set("offset", it.wrong.offset);
  out.set("wanted", it.wrong.wanted);
  if (!std::isnan(it.wrong.got)) out.set("got", it.wrong.got);  // else nothing came there
  return out;
}

Value size_value(const CollectiveRun& run, const SizeResult& it) {
  Value out = Value::object();
  out.set("algorithm", name_of(it.algorithm));
  out.set("size_bytes", it.size_bytes);
  out.set("count", it.size_bytes / kElement_bytes);
  out.set("time_us", it.time_us());
  out.set("algbw_gbytes_per_s", it.algbw_gbytes_per_s());
  out.set("busbw_gbytes_per_s", it.busbw_gbytes_per_s());
  Value& wrong = out.set("wrong", Value::array());
  for (const WrongAt& at : it.wrong) wrong.push(wrong_value(run, at));
  Value& rails = out.set("rails", Value::array());
  for (const RailResult& rail : it.rails) rails.push(rail_value(run, rail));
  return out;
}

}  // namespace

std::span<const ResultMember> collective_members() {
  using enum ResultMember::What;
  using enum ResultMember::Read;
  static constexpr ResultMember kAll[] = {
      {kVersion, kAlways}, {kStartedAt, kIfThere}, {kCommand, kIfThere, kMaxCommand_bytes},
      {kLabel, kIfThere},  {kComplete, kAlways},   {kRight, kAlways},
      {kSoft, kAlways}};
  return kAll;
}

Value to_value(const CollectiveRun& run) {
  Value out = begin_result(kCollectiveName, collective_members(),
                           {.version = run.version,
                            .started_at = run.started_at,
                            .command = run.command,
                            .label = run.label,
                            .ended_by = run.ended_by,
                            .right = run.is_right(),
                            .soft = run.soft});
  out.set("operation", "all-reduce");
  out.set("transport", name_of(run.transport));
  out.set("ranks", names_value(run.ranks));
  out.set("rails", names_value(run.rails));
  out.set("iterations", static_cast<uint64_t>(run.iterations));
  out.set("warm_up", static_cast<uint64_t>(run.warm_up));
  Value& results = out.set("results", Value::array());
  for (const SizeResult& result : run.results) results.push(size_value(run, result));
  return out;
}

}  // namespace railbed::perf::collective

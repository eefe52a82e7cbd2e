// SPDX-License-Identifier: Apache-2.0
#include <span>
#include <utility>

#include "perf/mesh/mesh_report.h"

namespace railbed::perf::mesh {
namespace {

using doc::Value;

Value nic_value(const Fabric& fabric, Nic nic) {
  Value out = Value::object();
  out.set("host", fabric.endpoints[nic.host].host);
  out.set("rail", fabric.rails[nic.rail]);
  return out;
}

template <typename Items, typename One>
Value list_of(const Items& items, const One& one) {
  Value out = Value::array();
  for (const auto& item : items) out.push(one(item));
  return out;
}

template <typename Named>
Value names_value(const std::vector<Named>& all, std::string Named::* name) {
  return list_of(all, [&](const Named& one) { return Value(one.*name); });
}
Value names_value(const std::vector<std::string>& names) {
  return list_of(names, [](const std::string& name) { return Value(name); });
}

Value coverage_value(const MeshRun& run) {
  const Coverage coverage = run.results.coverage();
  Value out = Value::object();
  out.set("rounds", run.results.schedule().rounds());
  out.set("rounds_begun", static_cast<uint64_t>(run.results.rounds().size()));
  out.set("planned", coverage.planned);
  out.set("measured", coverage.measured);
  out.set("failed", coverage.failed);
  out.set("skipped", coverage.skipped);
  out.set("not_run", coverage.not_run);
  return out;
}

constexpr std::string_view figure_key(Metric metric) {
  switch (metric) {
    case Metric::kSend:
      return "send_gbps";
    case Metric::kReceive:
      return "receive_gbps";
    case Metric::kLatency:
      return "round_trip_p50_us";
    case Metric::kTail:
      return "round_trip_p99_us";
  }
  std::unreachable();
}

Value nics_value(const MeshRun& run) {
  const Fabric& fabric = run.results.fabric();
  Value out = Value::array();
  for (uint32_t host = 0; host < fabric.hosts(); ++host)
    for (uint32_t rail = 0; rail < fabric.rail_count(); ++rail) {
      const Nic nic{host, rail};
      if (!fabric.has(nic)) continue;
      const NicFigures& figures = run.analysis.of(nic);
      Value& one = out.push(nic_value(fabric, nic));
      if (const auto leaf = fabric.port(nic).leaf) one.set("leaf", fabric.leaves[*leaf]);
      for (const Metric metric : kMetrics)
        if (const auto level = figures.of(metric)) one.set(figure_key(metric), figure_of(*level));
      one.set("pairs", figures.tried);
      one.set("bad_pairs", figures.bad);
      one.set("failed_pairs", figures.failed);
      one.set("suspect", figures.suspect());
    }
  return out;
}

Value count_value(const RetestCount& count) {
  Value out = Value::object();
  out.set("pairs", count.pairs);
  out.set("bad", count.bad);
  return out;
}

std::string_view retest_name(RetestOutcome retest) {
  switch (retest) {
    case RetestOutcome::kNotRetested:
      return "not retested";
    case RetestOutcome::kConfirmed:
      return "confirmed";
    case RetestOutcome::kNotReproduced:
      return "not reproduced";
  }
  std::unreachable();
}

Value outlier_value(const Fabric& fabric, const Outlier& outlier) {
  Value out = Value::object();
  out.set("scope", name_of(outlier.scope));
  if (outlier.scope == Scope::kNic || outlier.scope == Scope::kHost)
    out.set("host", fabric.endpoints[outlier.nic.host].host);
  if (outlier.scope == Scope::kNic || outlier.scope == Scope::kRail) out.set("rail", fabric.rails[outlier.nic.rail]);
  if (outlier.scope == Scope::kLeaf) out.set("leaf", fabric.leaves[outlier.leaf]);
  out.set("standing", retest_name(outlier.retest));
  out.set("retests_within_leaf", count_value(outlier.within_leaf));
  out.set("retests_between_leaves", count_value(outlier.between_leaves));
  out.set("evidence", list_of(outlier.evidence, [](const SymptomFigures& evidence) {
            Value one = Value::object();
            one.set("symptom", name_of(evidence.symptom));
            one.set("measured", evidence.measured);
            one.set("usual", evidence.usual);
            one.set("nics", evidence.nics);
            one.set("of_nics", evidence.of_nics);
            return one;
          }));
  out.set("suspects", list_of(outlier.suspects, [&](Nic nic) { return nic_value(fabric, nic); }));
  return out;
}

Value comparison_value(const Fabric& fabric, const Comparison& comparison) {
  Value out = Value::object();
  out.set("worse", list_of(comparison.worse, [&](const Change& change) {
            Value one = nic_value(fabric, change.nic);
            one.set("figure", figure_key(change.metric));
            one.set("before", change.before);
            one.set("now", change.now);
            return one;
          }));
  out.set("new_hosts", names_value(comparison.new_hosts));
  out.set("gone_hosts", names_value(comparison.gone_hosts));
  return out;
}

Value lost_value(const MeshResults& results) {
  return list_of(results.lost(), [&](const LostHost& lost) {
    Value one = Value::object();
    one.set("host", results.fabric().endpoints[lost.host].host);
    one.set("round", lost.round);
    one.set("reason", lost.reason);
    return one;
  });
}

Value skipped_value(const MeshRun& run) {
  return list_of(run.skipped, [&](const SkippedNic& skipped) {
    Value one = nic_value(run.results.fabric(), skipped.nic);
    one.set("reason", skipped.reason);
    return one;
  });
}

Value failed_value(const MeshRun& run) {
  const Fabric& fabric = run.results.fabric();
  return list_of(run.failed, [&](const FailedPair& pair) {
    Value one = Value::object();
    one.set("round", pair.round);
    one.set("from", nic_value(fabric, pair.from));
    one.set("to", nic_value(fabric, pair.to));
    one.set("problem", pair.problem);
    return one;
  });
}

Value loop_back_value(const MeshRun& run) {
  return list_of(run.canaries, [&](const Canary& canary) {
    Value one = nic_value(run.results.fabric(), canary.nic);
    one.set("gbps", canary.gbps);
    one.set("round_trip_p50_us", canary.p50_us);
    one.set("problem", canary.problem);
    return one;
  });
}

Value out_of_bands_value(const Fabric& fabric, const std::vector<OutOfBand>& found) {
  return list_of(found, [&](const OutOfBand& each) {
    Value one = nic_value(fabric, each.nic);
    one.set("figure", figure_key(each.metric));
    one.set("measured", each.measured);
    one.set("bound", each.bound);
    return one;
  });
}

std::span<const ResultMember> mesh_members() {
  using enum ResultMember::What;
  static constexpr ResultMember kAll[] = {{kVersion}, {kComplete}, {kSoft}};
  return kAll;
}

}  // namespace

Value to_value(const MeshRun& run, const HeldAgainst& against) {
  const Fabric& fabric = run.results.fabric();
  const ScheduleSpec& spec = run.results.schedule().spec();
  Value out =
      begin_result(kMeshName, mesh_members(), {.version = RAILBED_VERSION, .ended_by = run.ended_by, .soft = run.soft});
  out.set("pattern", name_of(spec.pattern));
  out.set("rail_pairs", name_of(spec.rails));
  out.set("hosts", names_value(fabric.endpoints, &Endpoint::host));
  out.set("rails", names_value(fabric.rails));
  out.set("leaves", names_value(fabric.leaves));
  out.set("coverage", coverage_value(run));
  out.set("lost", lost_value(run.results));
  out.set("skipped", skipped_value(run));
  out.set("failed", failed_value(run));
  out.set("loop_back", loop_back_value(run));
  out.set("links_carry_gbps", list_of(run.carries_gbps, [](double gbps) { return Value(gbps); }));
  out.set("nics", nics_value(run));
  out.set("verdicts", list_of(run.outliers, [&](const Outlier& outlier) { return outlier_value(fabric, outlier); }));
  out.set("out_of_bands", out_of_bands_value(fabric, against.out_of_bands));
  if (against.comparison) out.set("comparison", comparison_value(fabric, *against.comparison));
  return out;
}

}  // namespace railbed::perf::mesh

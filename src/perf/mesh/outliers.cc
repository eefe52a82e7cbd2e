// SPDX-License-Identifier: Apache-2.0
#include "perf/mesh/outliers.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <set>
#include <utility>

#include "base/median.h"

namespace railbed::perf::mesh {
namespace {

// What may be accused: the measured NICs of a leaf, a host or a rail.
struct Group {
  Scope scope;
  uint32_t number;
  std::vector<Nic> nics;
};

std::vector<Nic> all_suspects(const Fabric& fabric, const Analysis& analysis) {
  std::vector<Nic> result;
  for (uint32_t host = 0; host < fabric.hosts(); ++host)
    for (uint32_t rail = 0; rail < fabric.rail_count(); ++rail)
      if (analysis.of({host, rail}).suspect()) result.push_back({host, rail});
  return result;
}

// In the order in which they are preferred when they explain the same NICs: the leaf before the rail that it is all of.
std::vector<Group> groups_of(const Fabric& fabric, const Analysis& analysis) {
  std::vector<Group> leaves(fabric.leaves.size());
  std::vector<Group> hosts(fabric.hosts());
  std::vector<Group> rails(fabric.rail_count());
  for (uint32_t host = 0; host < fabric.hosts(); ++host)
    for (uint32_t rail = 0; rail < fabric.rail_count(); ++rail) {
      const Nic nic{host, rail};
      if (analysis.of(nic).tried == 0) continue;
      hosts[host].nics.push_back(nic);
      rails[rail].nics.push_back(nic);
      if (const auto leaf = fabric.port(nic).leaf) leaves[*leaf].nics.push_back(nic);
    }
  std::vector<Group> result;
  const auto take = [&](std::vector<Group>& groups, Scope scope) {
    for (uint32_t i = 0; i < groups.size(); ++i)
      if (groups[i].nics.size() > 1) result.push_back({scope, i, std::move(groups[i].nics)});
  };
  take(leaves, Scope::kLeaf);
  take(hosts, Scope::kHost);
  take(rails, Scope::kRail);
  // A leaf of one host is the host.
  std::erase_if(result, [](const Group& group) {
    return group.scope == Scope::kLeaf &&
           std::ranges::all_of(group.nics, [&](Nic nic) { return nic.host == group.nics.front().host; });
  });
  return result;
}

bool shows(const NicFigures& nic, Symptom symptom) {
  switch (symptom) {
    case Symptom::kSlowSend:
      return nic.is_slow(Metric::kSend);
    case Symptom::kSlowReceive:
      return nic.is_slow(Metric::kReceive);
    case Symptom::kSlowLatency:
      return nic.is_slow(Metric::kLatency);
    case Symptom::kSlowTail:
      return nic.is_slow(Metric::kTail);
    case Symptom::kOutages:
      return nic.unsteady && nic.failed < nic.tried;
    case Symptom::kUnreachable:
      return nic.unsteady && nic.failed == nic.tried;
  }
  std::unreachable();
}

// None for outages.
std::optional<Metric> metric_of(Symptom symptom) {
  if (symptom >= Symptom::kOutages) return std::nullopt;
  return static_cast<Metric>(symptom);
}

SymptomFigures evidence_of(const Analysis& analysis, const Outlier& outlier, Symptom symptom, uint32_t of_nics) {
  SymptomFigures evidence{.symptom = symptom, .of_nics = of_nics};
  std::vector<double> measured;
  std::vector<double> usual;
  for (const Nic nic : outlier.suspects) {
    const NicFigures& figures = analysis.of(nic);
    if (!shows(figures, symptom)) continue;
    if (const auto metric = metric_of(symptom)) {
      measured.push_back(figure_of(*figures.of(*metric)));
      usual.push_back(figure_of(analysis.usual_of(nic.rail, *metric)->center));
    } else {
      measured.push_back(double{1} * figures.bad / figures.tried);
    }
  }
  evidence.nics = static_cast<uint32_t>(measured.size());
  if (!measured.empty()) evidence.measured = median_high(std::move(measured));
  if (!usual.empty()) evidence.usual = median_high(std::move(usual));
  return evidence;
}

Outlier make_outlier(const Analysis& analysis, Outlier outlier, uint32_t of_nics) {
  for (int i = 0; i <= static_cast<int>(Symptom::kUnreachable); ++i) {
    SymptomFigures evidence = evidence_of(analysis, outlier, static_cast<Symptom>(i), of_nics);
    if (evidence.nics > 0) outlier.evidence.push_back(evidence);
  }
  // What a minority shows is no matter of the whole, unless there is nothing else.
  const auto of_most = [&](const SymptomFigures& evidence) { return evidence.nics * 2 > outlier.suspects.size(); };
  if (std::ranges::any_of(outlier.evidence, of_most)) std::erase_if(outlier.evidence, std::not_fn(of_most));
  return outlier;
}

// Outages of a whole rail do not explain that one of its NICs is slow.
bool explained_by(const Outlier& outlier, const NicFigures& nic) {
  if (std::ranges::none_of(nic.slow, [](bool is) { return is; })) return true;
  return std::ranges::any_of(outlier.evidence,
                             [](const SymptomFigures& one) { return metric_of(one.symptom).has_value(); });
}

Outlier of_group(const Group& group, std::vector<Nic> suspects) {
  Outlier outlier{.scope = group.scope, .suspects = std::move(suspects)};
  if (group.scope == Scope::kHost) outlier.nic.host = group.number;
  if (group.scope == Scope::kRail) outlier.nic.rail = group.number;
  if (group.scope == Scope::kLeaf) outlier.leaf = group.number;
  return outlier;
}

// A NIC is known to be good when it is far from being suspected.
bool known_good(const Fabric& fabric, const Analysis& analysis, Nic nic) {
  const NicFigures& figures = analysis.of(nic);
  if (!fabric.has(nic) || figures.suspect() || figures.tried == 0 || figures.unexplained > 0) return false;
  return std::ranges::all_of(kMetrics, [&](Metric metric) {
    const auto level = figures.of(metric);
    const auto& usual = analysis.usual_of(nic.rail, metric);
    return !level || !usual || worse_by(metric, *level, usual->center) * 2 <= usual->threshold;
  });
}

std::vector<RetestPair> partners_of(const Fabric& fabric, const Analysis& analysis, Nic suspect, uint32_t count) {
  std::vector<RetestPair> result;
  uint32_t within = 0;
  uint32_t between = 0;
  for (uint32_t i = 1; i < fabric.hosts() && (within < count || between < count); ++i) {
    const Nic partner{(suspect.host + i) % fabric.hosts(), suspect.rail};
    const bool other_leaf = fabric.same_leaf(suspect, partner) == false;
    uint32_t& taken = other_leaf ? between : within;
    if (taken == count || !known_good(fabric, analysis, partner)) continue;
    ++taken;
    result.push_back({suspect, partner});
  }
  return result;
}

bool is_bad(const Analysis& analysis, const Retest& retest, Symptom symptom) {
  const auto metric = metric_of(symptom);
  if (!metric || retest.result.went_wrong()) return retest.result.went_wrong();
  LogValue value;
  switch (*metric) {
    case Metric::kSend:
      value = retest.result.forward_mbps;
      break;
    case Metric::kReceive:
      value = retest.result.reverse_mbps;
      break;
    case Metric::kLatency:
      value = retest.result.p50_ns;
      break;
    case Metric::kTail:
      value = retest.result.p99_ns;
      break;
  }
  const auto& usual = analysis.usual_of(retest.pair.suspect.rail, *metric);
  return value.measured() && usual && worse_by(*metric, value.code(), usual->center) > usual->threshold;
}

RetestOutcome retest_outcome(const Outlier& outlier) {
  const RetestCount& within = outlier.within_leaf;
  const RetestCount& between = outlier.between_leaves;
  if (within.pairs + between.pairs == 0) return RetestOutcome::kNotRetested;
  const auto mostly_bad = [](const RetestCount& count) { return count.pairs > 0 && count.bad * 2 >= count.pairs; };
  if (mostly_bad(within) || mostly_bad(between)) return RetestOutcome::kConfirmed;
  const bool comes_and_goes = std::ranges::any_of(
      outlier.evidence, [](const SymptomFigures& evidence) { return !metric_of(evidence.symptom).has_value(); });
  if (comes_and_goes) return within.bad + between.bad > 0 ? RetestOutcome::kConfirmed : RetestOutcome::kNotRetested;
  return RetestOutcome::kNotReproduced;
}

}  // namespace

std::string_view name_of(Scope scope) {
  switch (scope) {
    case Scope::kNic:
      return "NIC";
    case Scope::kHost:
      return "host";
    case Scope::kLeaf:
      return "leaf";
    case Scope::kRail:
      return "rail";
  }
  std::unreachable();
}

std::string_view name_of(Symptom symptom) {
  switch (symptom) {
    case Symptom::kSlowSend:
      return "sends slowly";
    case Symptom::kSlowReceive:
      return "receives slowly";
    case Symptom::kSlowLatency:
      return "slow to answer (p50)";
    case Symptom::kSlowTail:
      return "slow to answer (p99)";
    case Symptom::kOutages:
      return "outages";
    case Symptom::kUnreachable:
      return "unreachable";
  }
  std::unreachable();
}

std::vector<Outlier> find_outliers(const Fabric& fabric, const Analysis& analysis, const Limits& limits) {
  const std::vector<Nic> suspects = all_suspects(fabric, analysis);
  std::set<Nic> open(suspects.begin(), suspects.end());
  std::vector<Group> groups = groups_of(fabric, analysis);
  const auto is_suspect = [&](Nic nic) { return analysis.of(nic).suspect(); };
  std::erase_if(groups, [&](const Group& group) {
    const auto count = static_cast<double>(std::ranges::count_if(group.nics, is_suspect));
    return count < 2 || count < limits.group_share * static_cast<double>(group.nics.size());
  });
  std::vector<Outlier> outliers;
  for (;;) {
    const Group* best = nullptr;
    int64_t most = 1;  // one NIC is an outlier of its own
    for (const Group& group : groups) {
      const auto explains = std::ranges::count_if(group.nics, [&](Nic nic) { return open.contains(nic); });
      if (explains > most) {
        most = explains;
        best = &group;
      }
    }
    if (best == nullptr) break;
    std::vector<Nic> members;
    std::ranges::copy_if(best->nics, std::back_inserter(members), is_suspect);
    Outlier outlier =
        make_outlier(analysis, of_group(*best, std::move(members)), static_cast<uint32_t>(best->nics.size()));
    for (const Nic nic : best->nics)
      if (explained_by(outlier, analysis.of(nic))) open.erase(nic);
    outliers.push_back(std::move(outlier));
    groups.erase(groups.begin() + (best - groups.data()));
  }
  for (const Nic nic : open)
    outliers.push_back(make_outlier(analysis, {.scope = Scope::kNic, .nic = nic, .suspects = {nic}}, 1));
  return outliers;
}

SecondPass plan_second_pass(const Fabric& fabric, const Analysis& analysis, const std::vector<Outlier>& outliers,
                            SecondPassSize size) {
  SecondPass plan;
  std::set<Nic> planned;
  std::vector<std::set<Nic>> busy;  // per round
  for (const Outlier& outlier : outliers) {
    uint32_t taken = 0;
    for (const Nic suspect : outlier.suspects) {
      if (taken++ == size.suspects) break;
      if (!planned.insert(suspect).second) continue;
      const auto pairs = partners_of(fabric, analysis, suspect, size.partners);
      if (pairs.empty()) plan.without_partner.push_back(suspect);
      for (const RetestPair& pair : pairs) {
        size_t round = 0;
        while (round < busy.size() && (busy[round].contains(pair.suspect) || busy[round].contains(pair.partner)))
          ++round;
        if (round == busy.size()) {
          busy.emplace_back();
          plan.rounds.emplace_back();
        }
        busy[round].insert({pair.suspect, pair.partner});
        plan.rounds[round].push_back(pair);
      }
    }
  }
  return plan;
}

void conclude(const Fabric& fabric, const Analysis& analysis, const std::vector<Retest>& retests,
              std::vector<Outlier>& outliers) {
  for (Outlier& outlier : outliers) {
    for (const Retest& retest : retests) {
      const PairState state = retest.result.state();
      if (state != PairState::kMeasured && state != PairState::kFailed) continue;
      if (!std::ranges::binary_search(outlier.suspects, retest.pair.suspect)) continue;
      const bool between = fabric.same_leaf(retest.pair.suspect, retest.pair.partner) == false;
      RetestCount& count = between ? outlier.between_leaves : outlier.within_leaf;
      ++count.pairs;
      count.bad += std::ranges::any_of(
          outlier.evidence, [&](const SymptomFigures& evidence) { return is_bad(analysis, retest, evidence.symptom); });
    }
    outlier.retest = retest_outcome(outlier);
  }
}

}  // namespace railbed::perf::mesh

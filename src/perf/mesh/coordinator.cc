// SPDX-License-Identifier: Apache-2.0
#include "perf/mesh/coordinator.h"

#include <algorithm>
#include <map>
#include <thread>
#include <utility>

#include "doc/text.h"
#include "perf/mesh/mesh_file.h"
#include "perf/mesh/outlier_lines.h"

namespace railbed::perf::mesh {
namespace {

constexpr int64_t kLongestCanary_ms = 250;
constexpr size_t kMostReasons = 8;  // of endpoints that do not answer, in an error

struct NicPair {
  Nic first;
  Nic second;
};
enum class Directions : uint8_t { kForward, kBoth };

// What is known of a pair while its round runs.
struct Measuring {
  NicPair nics;
  PairMeasurement figures;
  uint32_t failures = 0;
  bool measured = false;
};

class Coordinator {
 public:
  Coordinator(MeshSetup setup, MeshOptions options)
      : setup_(std::move(setup)), options_(std::move(options)), fleet_(setup_.hosts, options_.fleet) {
    out_.resize(setup_.hosts.size());
  }

  Result<MeshRun> run() {
    TRY(fleet_.gather());
    look_at_rails();
    if (options_.loop_back == LoopBack::kTried) TRY(try_loop_back());
    TRY(need_two());
    ScheduleSpec spec = options_.schedule;
    spec.hosts = setup_.fabric.hosts();
    spec.rail_count = setup_.fabric.rail_count();
    Schedule schedule = TRY(Schedule::make(std::move(spec)));
    MeshResults results = TRY(MeshResults::make(setup_.fabric, std::move(schedule)));
    std::string ended_by;
    if (const auto done = all_rounds(results); !done) ended_by = done.error().story();
    progress("analysis");
    MeshRun run = analysed(std::move(results), options_.analysis);
    if (ended_by.empty())
      if (const auto again = second_pass(run); !again) ended_by = "in the second pass: " + again.error().story();
    run.canaries = std::move(canaries_);
    run.skipped = std::move(skipped_);
    run.failed = std::move(failed_);
    run.carries_gbps = std::move(carries_gbps_);
    run.soft = soft_;
    run.ended_by = std::move(ended_by);
    return run;
  }

 private:
  void progress(const std::string& text) const {
    if (options_.fleet.on_progress) options_.fleet.on_progress(text);
  }
  bool out(uint32_t host) const { return !out_[host].empty(); }
  std::string host_name(uint32_t host) const { return doc::printable(setup_.fabric.endpoints[host].host); }
  bool usable(Nic nic) const { return !out(nic.host) && setup_.fabric.has(nic); }
  const std::string& device_of(Nic nic) const {
    return std::ranges::find(fleet_.found(nic.host), nic.rail, &RailFound::rail)->device;
  }

  // A NIC that cannot be used takes no part; a host without any is out.
  void skip(Nic nic, const std::string& reason) {
    skipped_.push_back({nic, reason});
    auto& ports = setup_.fabric.endpoints[nic.host].ports;
    ports[nic.rail].there = false;
    if (std::ranges::any_of(ports, &RailPort::there)) return;
    out_[nic.host] = "no rail can be used: " + reason;
    ports[nic.rail].there = true;  // a host of a fabric has a NIC
  }

  void note_losses() {
    for (uint32_t host = 0; host < out_.size(); ++host)
      if (!out(host) && fleet_.lost(host)) out_[host] = fleet_.lost_because(host);
  }

  void look_at_rails() {
    note_losses();
    carries_gbps_.resize(setup_.fabric.rail_count());
    std::vector<bool> unknown(setup_.fabric.rail_count());
    for (uint32_t host = 0; host < out_.size(); ++host)
      for (const RailFound& found : fleet_.found(host)) {
        if (out(host)) break;
        soft_ = soft_ || found.soft;
        if (!found.problem.empty()) {
          skip({host, found.rail}, found.problem);
          continue;
        }
        double& least = carries_gbps_[found.rail];
        if (found.carries_gbps <= 0) unknown[found.rail] = true;
        least = least == 0 ? found.carries_gbps : std::min(least, found.carries_gbps);
      }
    for (size_t rail = 0; rail < unknown.size(); ++rail)
      if (unknown[rail]) carries_gbps_[rail] = 0;
  }

  Result<void> need_two() const {
    if (std::ranges::count(out_, std::string()) >= 2) return {};
    std::string reasons;
    size_t reported = 0;
    bool missing = false;
    for (uint32_t host = 0; host < out_.size(); ++host) missing = missing || fleet_.lost(host);
    for (uint32_t host = 0; host < out_.size() && reported < kMostReasons; ++host)
      if (out(host)) {
        reasons += fmt::format("; {}: {}", host_name(host), doc::printable(out_[host]));
        ++reported;
      }
    return fail(Error{.code = Code::kNotFound,
                      .message = fmt::format("a mesh needs two endpoints, {} of {} can be used{}",
                                             std::ranges::count(out_, std::string()), out_.size(), reasons),
                      .hint = missing ? "`railbed perf serve --token-file FILE` has to run on each of them" : ""});
  }

  // ---- steps

  struct Asked {
    Nic from;
    Nic to;
  };
  // Measures from each first NIC to its second one, all at once; `answer` gets the place in `asked` and what came out,
  // or nothing where the endpoint was lost.
  template <typename Answer>
  Result<void> step(const TestSpec& spec, const std::vector<Asked>& asked, const Answer& answer) {
    Fleet::Tasks tasks(out_.size());
    std::map<Nic, size_t> place_of;
    for (size_t i = 0; i < asked.size(); ++i) {
      const Nic to = asked[i].to;
      place_of[asked[i].from] = i;
      tasks[asked[i].from.host].push_back({.rail = asked[i].from.rail,
                                           .address = setup_.hosts[to.host].rails[to.rail]->address,
                                           .port = setup_.hosts[to.host].port,
                                           .device = device_of(to)});
    }
    const Fleet::Figures figures = TRY(fleet_.step(spec, tasks));
    note_losses();
    for (uint32_t host = 0; host < out_.size(); ++host)
      for (const PairFigures& one : figures[host]) {
        const auto place = place_of.extract(Nic{host, one.rail});
        answer(place.mapped(), &one);
      }
    for (const auto& [nic, place] : place_of) answer(place, nullptr);
    return {};
  }

  Result<void> try_loop_back() {
    std::vector<Asked> asked;
    for (uint32_t host = 0; host < out_.size(); ++host)
      for (uint32_t rail = 0; rail < setup_.fabric.rail_count(); ++rail)
        if (usable({host, rail})) asked.push_back({{host, rail}, {host, rail}});
    for (const Asked& one : asked) canaries_.push_back({.nic = one.from, .problem = {}});
    for (TestSpec spec : {options_.latency, options_.bandwidth}) {
      progress(fmt::format("each NIC over itself: {}", name_of(spec.kind)));
      spec.duration_ms = std::min(spec.duration_ms, kLongestCanary_ms);
      std::erase_if(asked, [&](const Asked& one) { return !usable(one.from); });
      TRY(step(spec, asked, [&](size_t place, const PairFigures* figures) {
        const Nic nic = asked[place].from;
        Canary& canary = *std::ranges::find(canaries_, nic, &Canary::nic);
        if (figures == nullptr) return;
        canary.problem = figures->problem;
        canary.gbps = std::max(canary.gbps, figures->gbps);
        canary.p50_us = std::max(canary.p50_us, figures->p50_us);
        if (!canary.problem.empty()) skip(nic, "over itself: " + canary.problem);
      }));
    }
    return {};
  }

  Result<void> measure_direction(std::vector<Measuring>& pairs, const TestSpec& spec, uint32_t round,
                                 Directions direction) {
    const bool back = direction == Directions::kBoth;
    std::vector<Asked> asked;
    std::vector<size_t> of_asked;
    for (size_t i = 0; i < pairs.size(); ++i) {
      const NicPair& nics = pairs[i].nics;
      if (pairs[i].failures > 0 || !usable(nics.first) || !usable(nics.second)) continue;
      asked.push_back(back ? Asked{nics.second, nics.first} : Asked{nics.first, nics.second});
      of_asked.push_back(i);
    }
    return step(spec, asked, [&](size_t place, const PairFigures* figures) {
      Measuring& pair = pairs[of_asked[place]];
      if (figures == nullptr || !figures->problem.empty()) {
        ++pair.failures;
        if (figures != nullptr && failed_.size() < kMostFailedPairs)
          failed_.push_back({round, asked[place].from, asked[place].to, figures->problem});
        return;
      }
      pair.measured = true;
      if (spec.kind == TestKind::kBandwidth) {
        (back ? pair.figures.reverse_gbps : pair.figures.forward_gbps) = figures->gbps;
        return;
      }
      pair.figures.p50_us = figures->p50_us;
      pair.figures.p99_us = figures->p99_us;
      pair.figures.samples = figures->samples;
      pair.figures.outages = figures->outages;
    });
  }

  PairResult result_of(Measuring pair) const {
    if (!pair.measured && (!usable(pair.nics.first) || !usable(pair.nics.second))) return skipped_pair();
    if (!pair.measured) return failed_pair(pair.failures);
    // A test that broke off because an end was lost is no outage of the path: the loss is reported.
    if (usable(pair.nics.first) && usable(pair.nics.second)) pair.figures.outages += pair.failures;
    return compact(pair.figures);
  }

  // All pairs at once: no NIC is in two of them, but as the first and the second one.
  Result<std::vector<PairResult>> measure(const std::vector<NicPair>& nics, Directions directions, uint32_t round,
                                          const std::string& what) {
    std::vector<Measuring> pairs;
    for (const NicPair& one : nics) pairs.push_back({.nics = one, .figures = {}});
    progress(what + ": latency");
    TRY(measure_direction(pairs, options_.latency, round, Directions::kForward));
    progress(what + ": bandwidth");
    TRY(measure_direction(pairs, options_.bandwidth, round, Directions::kForward));
    if (directions == Directions::kBoth) {
      progress(what + ": bandwidth back");
      TRY(measure_direction(pairs, options_.bandwidth, round, Directions::kBoth));
    }
    std::vector<PairResult> results;
    for (const Measuring& pair : pairs) results.push_back(result_of(pair));
    return results;
  }

  // ---- rounds

  Result<void> keep(const std::string& bytes) const {
    if (options_.keep) TRY(options_.keep(bytes));
    return {};
  }

  Result<void> add_losses(MeshResults& results, uint32_t round) {
    for (uint32_t host = 0; host < out_.size(); ++host) {
      const size_t before = results.lost().size();
      if (out(host)) results.lose({.host = host, .round = round, .reason = out_[host]});
      if (results.lost().size() > before) TRY(keep(mesh_file_lost(results.lost().back())));
    }
    return {};
  }

  Result<void> one_round(MeshResults& results, uint32_t number, const std::string& what) {
    const Schedule& schedule = results.schedule();
    const Round round = schedule.round(number);
    std::vector<NicPair> nics;
    std::vector<Slot> slots;
    for (uint32_t rail = 0; rail < results.fabric().rail_count(); ++rail)
      for (uint32_t pair = 0; pair < round.pairs.size(); ++pair) {
        const HostPair& hosts = round.pairs[pair];
        if (!results.planned(hosts, rail, round.rail_offset)) continue;
        nics.push_back({{hosts.first, rail}, {hosts.second, schedule.partner_rail(rail, round.rail_offset)}});
        slots.push_back({number, pair, rail});
      }
    const auto directions = schedule.spec().pattern == Pattern::kShift ? Directions::kForward : Directions::kBoth;
    const std::vector<PairResult> measured = TRY(measure(nics, directions, number, what));
    for (size_t i = 0; i < slots.size(); ++i) results.put(slots[i], measured[i]);
    TRY(add_losses(results, number));
    return keep(mesh_file_round(results, number));
  }

  Result<void> all_rounds(MeshResults& results) {
    TRY(keep(mesh_file_head(results)));
    TRY(add_losses(results, 0));
    const uint32_t rounds = results.schedule().rounds();
    for (uint32_t number = 0; number < rounds; ++number) {
      TRY(one_round(results, number, fmt::format("round {} of {}", number + 1, rounds)));
      if (std::ranges::count(out_, std::string()) < 2 && number + 1 < rounds)
        return fail(Code::kNotFound, "fewer than two endpoints are left after round {} of {}", number + 1, rounds);
    }
    return keep(mesh_file_end(results));
  }

  // Both ends are measured against NICs that are known to be good.
  Result<void> second_pass(MeshRun& run) {
    SecondPass plan = plan_second_pass(run.results.fabric(), run.analysis, run.outliers);
    run.without_partner = std::move(plan.without_partner);
    std::vector<Retest> retests;
    Result<void> done;
    for (size_t i = 0; i < plan.rounds.size() && done; ++i) {
      std::vector<NicPair> nics;
      for (const RetestPair& pair : plan.rounds[i]) nics.push_back({pair.suspect, pair.partner});
      const auto measured = measure(nics, Directions::kBoth, run.results.schedule().rounds() + static_cast<uint32_t>(i),
                                    fmt::format("suspects again, {} of {}", i + 1, plan.rounds.size()));
      if (!measured) done = fail(measured.error());
      for (size_t pair = 0; measured && pair < nics.size(); ++pair)
        retests.push_back({plan.rounds[i][pair], (*measured)[pair]});
    }
    conclude(run.results.fabric(), run.analysis, retests, run.outliers);
    return done;
  }

  MeshSetup setup_;
  MeshOptions options_;
  Fleet fleet_;
  std::vector<std::string> out_;  // why a host takes no part (any more); "": it does
  std::vector<Canary> canaries_;
  std::vector<SkippedNic> skipped_;
  std::vector<FailedPair> failed_;
  std::vector<double> carries_gbps_;
  bool soft_ = false;
};

}  // namespace

MeshRun analysed(MeshResults results, const Limits& limits) {
  Analysis analysis = analyse(results, limits, std::max(1U, std::thread::hardware_concurrency()));
  std::vector<Outlier> outliers = find_outliers(results.fabric(), analysis, limits);
  return {.results = std::move(results), .analysis = std::move(analysis), .outliers = std::move(outliers)};
}

Result<MeshRun> run_mesh(MeshSetup setup, MeshOptions options) {
  return Coordinator(std::move(setup), std::move(options)).run();
}

}  // namespace railbed::perf::mesh

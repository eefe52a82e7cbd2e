// SPDX-License-Identifier: Apache-2.0
#include "perf/collective/collective_report.h"

#include <algorithm>
#include <cmath>

#include "doc/text.h"

namespace railbed::perf::collective {
namespace {

// "12.3 us", "4.56 ms": three digits that count.
std::string time_text(double us) {
  if (us >= 1e6) return fmt::format("{:.2f} s", us / 1e6);
  if (us >= 1e3) return fmt::format("{:.2f} ms", us / 1e3);
  return fmt::format("{:.1f} us", us);
}

std::string number_text(double number) {
  return std::isnan(number) ? "nothing" : fmt::format("{}", number);
}

class Report {
 public:
  Report(const CollectiveRun& run, Steps steps) : run_(run), steps_(steps) {}

  std::vector<std::string> lines() {
    head();
    table();
    wrong();
    // Small sizes are all waiting, so that whom they name is chance.
    for (const SizeResult* largest : largest_of_each()) slow(*largest);
    if (run_.soft) lines_.emplace_back("soft RDMA: the figures prove function, not the speed of a fabric");
    return std::move(lines_);
  }

 private:
  template <typename... Args>
  void say(fmt::format_string<Args...> format, Args&&... args) {
    lines_.push_back(fmt::format(format, std::forward<Args>(args)...));
  }
  const std::string& rank(uint32_t number) const { return run_.ranks[number]; }
  std::string rail(uint32_t number) const { return doc::printable(run_.rails[number]); }

  void head() {
    say("all-reduce over {}, {} ranks, {} rail{}, float32 sum; {} iterations after {}",
        run_.transport == Transport::kTcp ? "TCP" : "RDMA (RC write with immediate)", run_.ranks.size(),
        run_.rails.size(), run_.rails.size() == 1 ? "" : "s", run_.iterations, run_.warm_up);
    if (run_.rails.size() > 1) say("each rail reduces the whole size; bandwidths are those of all rails together");
  }

  void table() {
    std::string heads = fmt::format("{:>12} {:>12} {:>5} {:>12} {:>10} {:>10} {:>8}", "size B", "count", "algo",
                                    "time us", "algbw GB/s", "busbw GB/s", "wrong");
    if (run_.rails.size() > 1) heads += "  busbw of each rail";
    lines_.push_back(heads);
    for (const SizeResult& result : run_.results) {
      uint64_t wrong = 0;
      for (const WrongAt& at : result.wrong) wrong += at.wrong.count;
      std::string line = fmt::format("{:>12} {:>12} {:>5} {:>12.2f} {:>10.3f} {:>10.3f} {:>8}", result.size_bytes,
                                     result.size_bytes / kElement_bytes, name_of(result.algorithm), result.time_us(),
                                     result.algbw_gbytes_per_s(), result.busbw_gbytes_per_s(), wrong);
      if (run_.rails.size() > 1)
        for (const RailResult& one : result.rails) line += fmt::format(" {:>8.3f}", one.busbw_gbytes_per_s);
      lines_.push_back(line);
    }
  }

  void wrong() {
    for (const SizeResult& result : run_.results)
      for (const WrongAt& at : result.wrong)
        say("WRONG DATA: {} of {} bytes at {} on {}: {} elements, the first at {}: expected {}, got {}",
            name_of(result.algorithm), result.size_bytes, rank(at.rank), rail(at.rail), at.wrong.count, at.wrong.offset,
            number_text(at.wrong.wanted), number_text(at.wrong.got));
  }

  std::vector<const SizeResult*> largest_of_each() const {
    std::vector<const SizeResult*> all;
    for (const Algorithm algorithm : {Algorithm::kRing, Algorithm::kTree}) {
      const SizeResult* largest = nullptr;
      for (const SizeResult& result : run_.results)
        if (result.algorithm == algorithm && (largest == nullptr || result.size_bytes > largest->size_bytes))
          largest = &result;
      if (largest != nullptr) all.push_back(largest);
    }
    return all;
  }

  void slow(const SizeResult& result) {
    for (const RailResult& one : result.rails) {
      say("");
      say("{} of {} on {}; microseconds of an all-reduce, medians over iterations", name_of(result.algorithm),
          size_text(static_cast<int64_t>(result.size_bytes)), rail(one.rail));
      ranks(one);
      if (steps_ == Steps::kShown) steps(one);
      say("{}", straggler_text(run_, one));
    }
  }

  void ranks(const RailResult& one) {
    say("  {:20} {:>10} {:>10} {:>10} | {:>10} {:>10} {:>10} {:>10} {:>10}", "rank", "p50", "p99", "max", "waited",
        "waited p99", "transfer", "adding", "own work");
    const auto tail = [](double us) { return us > 0 ? fmt::format("{:.1f}", us) : std::string("-"); };
    for (const RankFigures& it : one.ranks)
      say("  {:20} {:>10.1f} {:>10} {:>10.1f} | {:>10.1f} {:>10} {:>10.1f} {:>10.1f} {:>10.1f}", rank(it.rank),
          it.p50_us, tail(it.p99_us), it.max_us, it.waited_p50_us, tail(it.waited_p99_us), it.transfer_us, it.reduce_us,
          it.own_p50_us);
  }

  void steps(const RailResult& one) {
    say("  {:>5} {:14} {:>10} {:>10} {:>10} | longest wait beyond the transfer: the rank, and for which one", "step",
        "", "waited", "transfer", "adding");
    for (const StepFigures& it : one.steps)
      say("  {:>5} {:14} {:>10.1f} {:>10.1f} {:>10.1f} | {} for {}: {:.1f}", it.step, it.phase, it.waited_us,
          it.transfer_us, it.reduce_us, rank(it.late_rank), rank(it.late_from), it.late_us);
  }

  const CollectiveRun& run_;
  Steps steps_;
  std::vector<std::string> lines_;
};

}  // namespace

std::string straggler_text(const CollectiveRun& run, const RailResult& rail) {
  if (!rail.straggler) return "no straggler found";
  const Straggler& it = *rail.straggler;
  if (it.rank)
    return fmt::format("{} is the straggler: of {} it works itself for {}, the others for {} (median) and wait for it",
                       run.ranks[*it.rank], time_text(it.all_reduce_us), time_text(it.took_us), time_text(it.usual_us));
  return fmt::format("the path from {} to {} is the slowest: of {} data is on it for {}, on others for {} (median)",
                     run.ranks[it.from], run.ranks[it.to], time_text(it.all_reduce_us), time_text(it.took_us),
                     time_text(it.usual_us));
}

std::vector<std::string> report_lines(const CollectiveRun& run, Steps steps) {
  return Report(run, steps).lines();
}

}  // namespace railbed::perf::collective

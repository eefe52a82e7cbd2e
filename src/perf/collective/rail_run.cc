// SPDX-License-Identifier: Apache-2.0
#include "perf/collective/rail_run.h"

#include <algorithm>
#include <numeric>

namespace railbed::perf::collective {
namespace {

constexpr uint32_t kEnoughForP99 = 100;

// For each step, what each iteration took, in ticks.
using PerStep = std::vector<std::vector<uint64_t>>;

class Runner {
 public:
  Runner(RailLinks& links, const Part& part, const Reduce& wanted)
      : links_(links),
        part_(part),
        wanted_(wanted),
        count_(wanted.size_bytes / kElement_bytes),
        ops_(schedule_of(wanted.algorithm, part.rank, part.ranks, count_)),
        steps_(steps_of(wanted.algorithm, part.rank, part.ranks)),
        now_(steps_.receives),
        waited_(steps_.receives),
        transfer_(steps_.receives),
        reduce_(steps_.receives),
        sent_(steps_.sends) {}

  Result<RankTimes> run() {
    const auto seed = static_cast<uint32_t>(2 * wanted_.number);
    prepare(seed);
    for (uint32_t i = 0; i < wanted_.warm_up; ++i) TRY(all_reduce());
    const uint64_t began = links_.clock().now();
    for (uint32_t i = 0; i < wanted_.iterations; ++i) {
      TRY(all_reduce());
      keep();
    }
    const uint64_t ticks = links_.clock().now() - began;
    RankTimes times = figures(ticks);
    times.wrong = check(seed);
    // Others may still be at their last one: they have all that they need of this rank's input.
    prepare(seed + 1);
    TRY(all_reduce());
    if (!times.wrong) times.wrong = check(seed + 1);
    return times;
  }

 private:
  struct StepTicks {
    uint64_t waited = 0;
    uint64_t transfer = 0;
    uint64_t reduce = 0;
  };

  void prepare(uint32_t seed) const {
    fill_input({links_.elements(Area::kInput), count_}, part_.rank, seed);
    spoil({links_.elements(Area::kResult), count_});
  }
  std::optional<Wrong> check(uint32_t seed) const {
    return find_wrong({links_.elements(Area::kResult), count_}, part_.ranks, seed);
  }

  template <typename Visit>
  static Result<void> each_segment(Span span, const Visit& visit) {
    constexpr uint64_t kMost = kSegment_bytes / kElement_bytes;
    for (uint64_t done = 0; done < span.count; done += kMost)
      TRY(visit(Span{span.first + done, std::min(kMost, span.count - done)}));
    return {};
  }

  Result<void> take(const Op& op) {
    StepTicks& step = now_[op.step];
    return each_segment(op.span, [&](Span segment) -> Result<void> {
      const uint64_t began = links_.clock().now();
      step.transfer += TRY(links_.receive(op, segment));
      const uint64_t came = links_.clock().now();
      step.waited += came - began;
      if (op.act != Act::kReduce) return {};
      add(links_.elements(Area::kResult) + segment.first, links_.elements(op.own) + segment.first,
          links_.elements(op.at) + segment.first, segment.count);
      step.reduce += links_.clock().now() - came;
      return {};
    });
  }

  Result<void> all_reduce() {
    std::ranges::fill(now_, StepTicks{});
    const uint64_t began = links_.clock().now();
    for (const Op& op : ops_) {
      if (op.act == Act::kSend)
        TRY(each_segment(op.span, [&](Span segment) { return links_.send(op, segment); }));
      else
        TRY(take(op));
    }
    const uint64_t received = links_.clock().now();
    TRY(links_.finish_sends());
    const uint64_t ended = links_.clock().now();
    sending_ = links_.take_sending(steps_.sends);
    total_ = ended - began;
    sends_waited_ = sending_.waited + (ended - received);
    return {};
  }

  void keep() {
    uint64_t waited = 0;
    for (size_t i = 0; i < now_.size(); ++i) {
      waited_[i].push_back(now_[i].waited);
      transfer_[i].push_back(now_[i].transfer);
      reduce_[i].push_back(now_[i].reduce);
      waited += now_[i].waited;
    }
    for (size_t i = 0; i < sent_.size(); ++i) sent_[i].push_back(sending_.steps[i]);
    totals_.push_back(total_);
    waits_.push_back(waited);
    owns_.push_back(total_ - std::min(total_, waited + sends_waited_));
  }

  double us(uint64_t ticks) const { return static_cast<double>(links_.clock().to_ns(ticks)) / 1e3; }
  std::vector<double> medians_us(PerStep& steps) const {
    std::vector<double> out;
    for (std::vector<uint64_t>& one : steps) out.push_back(us(percentile(one, 50)));
    return out;
  }
  std::vector<double> means_us(const PerStep& steps) const {
    std::vector<double> out;
    for (const std::vector<uint64_t>& one : steps)
      out.push_back(us(std::accumulate(one.begin(), one.end(), uint64_t{0})) / wanted_.iterations);
    return out;
  }
  RankTimes figures(uint64_t ticks) {
    const bool enough = wanted_.iterations >= kEnoughForP99;
    return {.mean_us = us(ticks) / wanted_.iterations,
            .p50_us = us(percentile(totals_, 50)),
            .p99_us = enough ? us(percentile(totals_, 99)) : 0,
            .max_us = us(percentile(totals_, 100)),
            .waited_p50_us = us(percentile(waits_, 50)),
            .waited_p99_us = enough ? us(percentile(waits_, 99)) : 0,
            .own_p50_us = us(percentile(owns_, 50)),
            .own_max_us = us(percentile(owns_, 100)),
            .step_waited_us = means_us(waited_),
            .step_transfer_us = medians_us(transfer_),
            .step_reduce_us = medians_us(reduce_),
            .sent_us = medians_us(sent_),
            .wrong = {}};
  }

  RailLinks& links_;
  Part part_;
  Reduce wanted_;
  uint64_t count_;
  std::vector<Op> ops_;
  StepCount steps_;
  // Of the all-reduce that runs.
  std::vector<StepTicks> now_;
  RailLinks::Sending sending_;
  uint64_t total_ = 0;
  uint64_t sends_waited_ = 0;
  // Of all that count.
  PerStep waited_;
  PerStep transfer_;
  PerStep reduce_;
  PerStep sent_;
  std::vector<uint64_t> totals_;
  std::vector<uint64_t> waits_;
  std::vector<uint64_t> owns_;
};

}  // namespace

uint64_t percentile(std::vector<uint64_t>& values, uint64_t percent) {
  if (values.empty()) return 0;
  const size_t rank = std::max<size_t>(1, (values.size() * percent + 99) / 100);
  const auto at = values.begin() + static_cast<ptrdiff_t>(rank - 1);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

Result<RankTimes> run_rail(RailLinks& links, const Part& part, const Reduce& wanted) {
  return Runner(links, part, wanted).run();
}

}  // namespace railbed::perf::collective

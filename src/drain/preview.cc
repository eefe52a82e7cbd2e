// SPDX-License-Identifier: Apache-2.0
#include "drain/preview.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "base/format.h"
#include "drain/groups.h"

namespace railbed::drain {
namespace {

class Previewer {
 public:
  Previewer(std::vector<PoolView> pools, Time now, std::chrono::seconds per_node)
      : pools_(std::move(pools)), now_(now), per_node_(per_node) {}

  Preview run() {
    for (PoolView& pool : pools_)
      for (NodeView& node : pool.nodes) {
        if (node.change.empty()) continue;
        ++out_.nodes;
        out_.without_eviction += std::ranges::any_of(node.pods, is_in_the_way) ? 0 : 1;
      }
    bool has_waited = false;
    for (;;) {
      const Waves turns = waves(pools_, now_);
      if (!wave(turns)) {
        if (has_waited || !withdraw(turns)) break;
        has_waited = true;
        continue;
      }
      has_waited = false;
    }
    for (auto& [unit, job] : jobs_) {
      job.nodes = nodes_of_[unit].size();
      out_.jobs.push_back(job);
    }
    std::ranges::sort(out_.jobs, {}, [](const JobPreview& job) { return std::tie(job.wave, job.unit); });
    return std::move(out_);
  }

 private:
  // Whether any node changed.
  bool wave(const Waves& turns) {
    std::vector<NodeView*> going;
    for (PoolView& pool : pools_)
      for (NodeView& node : pool.nodes) {
        const Turn& turn = turns.nodes.at(node.name);
        if (is_active(node.state) || turn.kind == Turn::Kind::kGo || turn.kind == Turn::Kind::kChange)
          going.push_back(&node);
      }
    if (going.empty()) return false;
    std::set<std::string_view> gone;
    const bool evicts = std::ranges::any_of(going, [](const NodeView* node) {
      return !node->state.units.empty() || std::ranges::any_of(node->pods, is_in_the_way);
    });
    if (evicts || out_.waves == 0) ++out_.waves;
    for (const auto& [name, turn] : turns.nodes) gone.insert(turn.units.begin(), turn.units.end());
    for (PoolView& pool : pools_)
      for (NodeView& node : pool.nodes) interrupt(node, gone, turns.nodes.at(node.name));
    now_ += per_node_;
    for (PoolView& pool : pools_)
      for (NodeView& node : pool.nodes)
        if (const Turn& turn = turns.nodes.at(node.name); turn.kind == Turn::Kind::kWithdraw && !turn.units.empty())
          node.state = {.phase = Phase::kWithdrawn, .units = turn.units, .since = now_};
    for (NodeView* node : going) {
      for (const std::string& unit : units_on_[node->name]) jobs_[unit].waits = now_ - interrupted_[unit];
      node->change.clear();
      node->state = {};
    }
    return true;
  }

  void interrupt(NodeView& node, const std::set<std::string_view>& gone, const Turn& turn) {
    const bool goes = is_active(node.state) || turn.kind == Turn::Kind::kGo;
    std::erase_if(node.pods, [&](const AffectedPod& pod) {
      if (!is_in_the_way(pod) || (!goes && !gone.contains(pod.unit))) return false;
      JobPreview& job = jobs_[pod.unit];
      if (job.pods++ == 0) {
        job.unit = pod.unit;
        job.wave = out_.waves;
        interrupted_[pod.unit] = now_;
      }
      nodes_of_[pod.unit].insert(node.name);
      units_on_[node.name].insert(pod.unit);
      return true;
    });
  }

  // Nothing goes: whether time alone will change that. Notes what is blocked otherwise.
  bool withdraw(const Waves& turns) {
    out_.blocked.clear();
    std::chrono::seconds longest{0};
    for (PoolView& pool : pools_)
      for (NodeView& node : pool.nodes) {
        const Turn& turn = turns.nodes.at(node.name);
        if (node.change.empty()) continue;
        out_.blocked[node.name] = turn.reason;
        if (turn.kind != Turn::Kind::kWithdraw || pool.wait_for_completion.count() == 0) continue;
        if (node.state.phase != Phase::kWithdrawn) node.state = {.phase = Phase::kWithdrawn, .since = now_};
        longest = std::max(longest, pool.wait_for_completion);
      }
    now_ += longest;
    return longest.count() > 0;
  }

  std::vector<PoolView> pools_;
  Time now_;
  const std::chrono::seconds per_node_;
  std::map<std::string, JobPreview> jobs_;
  std::map<std::string, Time> interrupted_;
  std::map<std::string, std::set<std::string>> nodes_of_, units_on_;
  Preview out_;
};

std::string length_text(std::chrono::seconds length) {
  const auto minutes = (length.count() + 59) / 60;
  return minutes < 120 ? fmt::format("{} min", minutes) : fmt::format("{} h", (minutes + 30) / 60);
}

std::string counted_text(size_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

}  // namespace

Preview preview(std::vector<PoolView> pools, Time now, std::chrono::seconds per_node) {
  return Previewer(std::move(pools), now, per_node).run();
}

std::string to_text(const Preview& preview, size_t shown) {
  const auto jobs = static_cast<size_t>(std::ranges::count_if(preview.jobs, is_group, &JobPreview::unit));
  std::string text =
      preview.jobs.empty()
          ? fmt::format("no pod is interrupted on {}", counted_text(preview.nodes, "node"))
          : fmt::format("{} and {} are interrupted, {} of {} without eviction, in {}", counted_text(jobs, "job"),
                        counted_text(preview.jobs.size() - jobs, "pod"), preview.without_eviction,
                        counted_text(preview.nodes, "node"), counted_text(static_cast<size_t>(preview.waves), "wave"));
  for (size_t i = 0; i < std::min(shown, preview.jobs.size()); ++i) {
    const JobPreview& job = preview.jobs[i];
    text +=
        fmt::format("{}{} ({}, {}, wave {}, waits about {})", i == 0 ? ": " : ", ", job.unit,
                    counted_text(job.pods, "pod"), counted_text(job.nodes, "node"), job.wave, length_text(job.waits));
  }
  if (preview.jobs.size() > shown) text += fmt::format(" and {} more", preview.jobs.size() - shown);
  if (!preview.blocked.empty())
    text += fmt::format("; {} cannot start: {}: {}", counted_text(preview.blocked.size(), "node"),
                        preview.blocked.begin()->first, preview.blocked.begin()->second);
  return text;
}

}  // namespace railbed::drain

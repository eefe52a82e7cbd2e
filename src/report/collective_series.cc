// SPDX-License-Identifier: Apache-2.0
#include "report/collective_series.h"

#include <algorithm>
#include <map>
#include <utility>

#include "doc/text.h"

namespace railbed::report {

using perf::collective::Algorithm;
using perf::collective::CollectiveRun;
using perf::collective::RailResult;
using perf::collective::SizeResult;
using perf::collective::WrongAt;

std::vector<std::string> names_of(const std::vector<CollectiveRun>& runs) {
  std::vector<std::string> names;
  std::map<std::string, int> taken;
  for (const CollectiveRun& run : runs) {
    std::string name = run.label.empty() ? fmt::format("{} ranks, {} rail{}", run.ranks.size(), run.rails.size(),
                                                       run.rails.size() == 1 ? "" : "s")
                                         : run.label;
    if (const int count = ++taken[name]; count > 1) name += fmt::format(" ({})", count);
    names.push_back(std::move(name));
  }
  return names;
}

std::vector<CollectiveSeries> series_of(const std::vector<CollectiveRun>& runs) {
  const std::vector<std::string> names = names_of(runs);
  std::vector<CollectiveSeries> all;
  for (size_t i = 0; i < runs.size(); ++i)
    for (const Algorithm algorithm : {Algorithm::kRing, Algorithm::kTree}) {
      CollectiveSeries series{.run = &runs[i], .name = names[i], .algorithm = algorithm, .sizes = {}};
      for (const SizeResult& size : runs[i].results)
        if (size.algorithm == algorithm) series.sizes.push_back(&size);
      std::ranges::sort(series.sizes, {}, [](const SizeResult* size) { return std::pair(size->size_bytes, size); });
      if (!series.sizes.empty()) all.push_back(std::move(series));
    }
  return all;
}

std::string transport_text(const CollectiveRun& run) {
  if (run.transport == perf::Transport::kTcp) return "TCP";
  return run.soft ? "RDMA (soft)" : "RDMA";
}

uint64_t wrong_elements(const SizeResult& size) {
  uint64_t wrong = 0;
  for (const WrongAt& at : size.wrong) wrong += at.wrong.count;
  return wrong;
}

std::string slow_text(const CollectiveRun& run, const SizeResult& size) {
  std::string out;
  for (const RailResult& rail : size.rails) {
    if (!rail.straggler) continue;
    if (!out.empty()) out += ", ";
    const perf::collective::Straggler& it = *rail.straggler;
    out += it.rank ? run.ranks[*it.rank] : fmt::format("{} → {}", run.ranks[it.from], run.ranks[it.to]);
    if (run.rails.size() > 1) out += fmt::format(" on {}", doc::printable(run.rails[rail.rail]));
  }
  return out;
}

}  // namespace railbed::report

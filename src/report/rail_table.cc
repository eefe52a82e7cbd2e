// SPDX-License-Identifier: Apache-2.0
#include "report/rail_table.h"

#include "report/collective_series.h"
#include "report/html_jitter.h"
#include "report/html_text.h"

namespace railbed::report {
namespace {

void add_row(Table& table, const RailFigures& rail, const PathFigures& path, const char* transport) {
  if (path.best == nullptr && path.small == nullptr) return;
  Cell absent;
  table.row({Cell(rail.name), Cell(rail.path), Cell(transport),
             path.best != nullptr ? Cell(gbps_text(path.best->average_gbps)) : absent,
             path.best != nullptr && rail.yardstick_gbps > 0 && &path == &rail.rdma
                 ? Cell(fmt::format("{:.0f} %", 100 * path.best->average_gbps / rail.yardstick_gbps))
                 : absent,
             path.small != nullptr && path.half_p50_us() ? Cell(us_text(*path.half_p50_us())) : absent,
             path.small != nullptr && path.p999_us() ? Cell(us_text(*path.p999_us())) : absent,
             path.small != nullptr ? Cell(us_text(path.stddev_us())) : absent});
}

void add_row(Table& table, const perf::JitterReport& report, const perf::JitterCondition& condition, const char* load) {
  std::vector<Cell> cells = {Cell(report.name()), Cell(load)};
  for (const std::optional<double>& percentile : condition.whole.percentiles_us)
    cells.push_back(percentile ? Cell(us_text(*percentile)) : Cell());
  cells.push_back(Cell(us_text(condition.whole.max_us)));
  if (&condition != &report.idle) cells.push_back(Cell(load_does(report)));
  table.row(std::move(cells));
}

}  // namespace

Table rail_table(const std::vector<RailFigures>& rails) {
  Table table({{"RAIL", "rail"},
               {"BETWEEN", "between"},
               {"TRANSPORT", "transport"},
               {"BANDWIDTH", "bandwidth", Align::kRight},
               {"OF LINK", "of_link", Align::kRight},
               {"HALF P50", "half_p50", Align::kRight},
               {"ROUND TRIP P99.9", "round_trip_p999", Align::kRight},
               {"JITTER", "jitter", Align::kRight}});
  for (const RailFigures& rail : rails) {
    add_row(table, rail, rail.rdma, rail.soft ? "RDMA (soft)" : "RDMA");
    add_row(table, rail, rail.tcp, "TCP");
  }
  return table;
}

Table jitter_table(const std::vector<perf::JitterReport>& reports) {
  std::vector<Column> columns = {{"RAIL", "rail"}, {"LOAD", "load"}};
  for (const perf::ReportedPercentile& one : perf::kReportedPercentiles)
    columns.push_back({fmt::format("P{}", one.percent), std::string(one.key), Align::kRight});
  columns.push_back({"MAX", "max_us", Align::kRight});
  columns.push_back({"THE LOAD MAKES IT", "load_makes_it"});
  Table table(std::move(columns));
  for (const perf::JitterReport& report : reports) {
    add_row(table, report, report.idle, report.soft ? "idle (soft)" : "idle");
    if (report.loaded) add_row(table, report, *report.loaded, report.soft ? "loaded (soft)" : "loaded");
  }
  return table;
}

Table collective_table(const std::vector<perf::collective::CollectiveRun>& runs) {
  Table table({{"COLLECTIVE", "collective"},
               {"OVER", "over"},
               {"BY", "by"},
               {"SIZE", "size", Align::kRight},
               {"TIME", "time", Align::kRight},
               {"ALGBW", "algbw", Align::kRight},
               {"BUSBW", "busbw", Align::kRight},
               {"SUMS", "sums"},
               {"SLOW", "slow"}});
  for (const CollectiveSeries& series : series_of(runs))
    for (const perf::collective::SizeResult* size : series.sizes) {
      const uint64_t wrong = wrong_elements(*size);
      table.row({Cell(series.name), Cell(transport_text(*series.run)), Cell(name_of(series.algorithm)),
                 Cell(perf::size_text(static_cast<int64_t>(size->size_bytes))), Cell(us_text(size->time_us())),
                 Cell(gbytes_text(size->algbw_gbytes_per_s())), Cell(gbytes_text(size->busbw_gbytes_per_s())),
                 Cell(wrong == 0 ? "right" : fmt::format("{} WRONG", wrong)),
                 size == series.sizes.back() ? Cell(slow_text(*series.run, *size)) : Cell()});
    }
  return table;
}

}  // namespace railbed::report

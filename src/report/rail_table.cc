// SPDX-License-Identifier: Apache-2.0
#include "report/rail_table.h"

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

}  // namespace railbed::report

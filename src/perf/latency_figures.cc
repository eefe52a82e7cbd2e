// SPDX-License-Identifier: Apache-2.0
#include "perf/latency_figures.h"

#include "base/format.h"

namespace railbed::perf {
namespace {

double to_us(double ns) {
  return ns / 1e3;
}

std::string us_column(double ns) {
  return fmt::format(" {:>10.2f}", to_us(ns));
}

}  // namespace

std::string figures_heading(std::string_view what) {
  std::string out = fmt::format("{:>14} {:>9} {:>10}", what, "samples", "min");
  for (const ToldPercentile& one : kToldPercentiles) out += fmt::format(" {:>10}", one.name);
  return out + fmt::format(" {:>10} {:>10} {:>10}\n", "max", "mean", "stddev");
}

std::string figures_row(std::string_view name, const Histogram& durations) {
  std::string out =
      fmt::format("{:>14} {:>9}{}", name, durations.count(), us_column(static_cast<double>(durations.min_ns())));
  for (const ToldPercentile& one : kToldPercentiles) {
    const auto ns = durations.settled_percentile_ns(one.percent);
    out += ns ? us_column(static_cast<double>(*ns)) : fmt::format(" {:>10}", "-");
  }
  return out + us_column(static_cast<double>(durations.max_ns())) + us_column(durations.mean_ns()) +
         us_column(durations.stddev_ns()) + "\n";
}

void write_figures(JsonWriter& writer, std::string_view field, const Histogram& durations) {
  writer.begin_object(field).integer("samples", static_cast<int64_t>(durations.count()));
  writer.number("min_us", to_us(static_cast<double>(durations.min_ns())));
  for (const ToldPercentile& one : kToldPercentiles)
    if (const auto ns = durations.settled_percentile_ns(one.percent))
      writer.number(one.key, to_us(static_cast<double>(*ns)));
  writer.number("max_us", to_us(static_cast<double>(durations.max_ns()))).number("mean_us", to_us(durations.mean_ns()));
  writer.number("stddev_us", to_us(durations.stddev_ns())).end_object();
}

}  // namespace railbed::perf

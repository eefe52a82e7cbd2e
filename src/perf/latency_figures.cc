// SPDX-License-Identifier: Apache-2.0
#include "perf/latency_figures.h"

#include "base/format.h"
#include "doc/fields.h"

namespace railbed::perf {
namespace {

std::string us_column(double value) {
  return fmt::format(" {:>10.2f}", value);
}

}  // namespace

Figures figures_of(const Histogram& durations) {
  Figures out{.samples = durations.count(), .min_us = us(durations.min_ns())};
  for (size_t i = 0; i < out.percentiles_us.size(); ++i)
    if (const auto ns = durations.settled_percentile_ns(kReportedPercentiles[i].percent))
      out.percentiles_us[i] = us(*ns);
  out.max_us = us(durations.max_ns());
  out.mean_us = durations.mean_ns() / 1e3;
  out.stddev_us = durations.stddev_ns() / 1e3;
  return out;
}

std::string figures_heading(std::string_view what) {
  std::string out = fmt::format("{:>14} {:>9} {:>10}", what, "samples", "min");
  for (const ReportedPercentile& one : kReportedPercentiles) out += fmt::format(" {:>10}", one.name);
  return out + fmt::format(" {:>10} {:>10} {:>10}\n", "max", "mean", "stddev");
}

std::string figures_row(std::string_view name, const Figures& figures) {
  std::string out = fmt::format("{:>14} {:>9}{}", name, figures.samples, us_column(figures.min_us));
  for (const std::optional<double>& percentile : figures.percentiles_us)
    out += percentile ? us_column(*percentile) : fmt::format(" {:>10}", "-");
  return out + us_column(figures.max_us) + us_column(figures.mean_us) + us_column(figures.stddev_us) + "\n";
}

void write_figures(JsonWriter& writer, std::string_view field, const Figures& figures) {
  writer.begin_object(field).integer("samples", static_cast<int64_t>(figures.samples));
  writer.number("min_us", figures.min_us);
  for (size_t i = 0; i < figures.percentiles_us.size(); ++i)
    if (figures.percentiles_us[i]) writer.number(kReportedPercentiles[i].key, *figures.percentiles_us[i]);
  writer.number("max_us", figures.max_us).number("mean_us", figures.mean_us);
  writer.number("stddev_us", figures.stddev_us).end_object();
}

void read_figures(doc::Fields& fields, Figures& figures) {
  constexpr doc::Limits kAtLeastZero{.min = 0};
  fields.need("samples", figures.samples, kAtLeastZero);
  fields.read("min_us", figures.min_us, kAtLeastZero);
  for (size_t i = 0; i < figures.percentiles_us.size(); ++i)
    fields.read(kReportedPercentiles[i].key, figures.percentiles_us[i], kAtLeastZero);
  fields.need("max_us", figures.max_us, kAtLeastZero);
  fields.read("mean_us", figures.mean_us, kAtLeastZero);
  fields.read("stddev_us", figures.stddev_us, kAtLeastZero);
}

}  // namespace railbed::perf

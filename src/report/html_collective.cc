// SPDX-License-Identifier: Apache-2.0
#include "report/html_collective.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>

#include "doc/text.h"
#include "perf/collective/collective_report.h"
#include "perf/json_writer.h"
#include "report/collective_series.h"
#include "report/html_text.h"
#include "report/joined.h"
#include "report/rail_table.h"

namespace railbed::report {
namespace {

using perf::collective::CollectiveRun;
using perf::collective::RailResult;
using perf::collective::RankFigures;
using perf::collective::SizeResult;
using perf::collective::StepFigures;
using perf::collective::WrongAt;

constexpr size_t kMostRuns = 64;
constexpr size_t kMostSeries = 16;  // of a chart: eight colours, with and without dashes
constexpr size_t kMostRows = 64;    // of ranks, of steps, of wrong data

Html more_text(size_t count) {
  return html("<p class=\"quiet\">and {} more, see the result files</p>\n", count);
}

// The `kMostRows` with the greatest `figure`, in their own order.
template <typename T>
std::vector<const T*> most(const std::vector<T>& all, double T::* figure) {
  std::vector<const T*> chosen;
  for (const T& one : all) chosen.push_back(&one);
  if (chosen.size() <= kMostRows) return chosen;
  std::ranges::nth_element(chosen, chosen.begin() + kMostRows, std::greater{},
                           [figure](const T* one) { return one->*figure; });
  chosen.resize(kMostRows);
  std::ranges::sort(chosen);  // of one vector
  return chosen;
}

Html state(std::string_view tone, std::string_view text) {
  return html("<span class=\"state {}\">{}</span>", tone, text);
}

Html sums_html(std::span<const SizeResult* const> sizes) {
  uint64_t wrong = 0;
  for (const SizeResult* size : sizes) wrong += wrong_elements(*size);
  return wrong == 0 ? state("good", "right") : state("bad", fmt::format("{} WRONG", wrong));
}

// --- all of them

Html series_row(const CollectiveSeries& series) {
  const SizeResult& small = *series.sizes.front();
  const SizeResult& large = *series.sizes.back();
  const std::string slow = slow_text(*series.run, large);
  return html(
      "<tr><th scope=\"row\">{}{}</th><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}<small>{}</small></td>"
      "<td>{}<small>{}</small></td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
      series.name, series.run->ended_by.empty() ? Html() : markup(" ") + state("caution", "incomplete"),
      transport_text(*series.run), name_of(series.algorithm), series.run->ranks.size(), series.run->rails.size(),
      us_text(small.time_us()), perf::size_text(static_cast<int64_t>(small.size_bytes)), us_text(large.time_us()),
      perf::size_text(static_cast<int64_t>(large.size_bytes)), gbytes_text(large.algbw_gbytes_per_s()),
      gbytes_text(large.busbw_gbytes_per_s()), sums_html(series.sizes), slow.empty() ? "none" : slow);
}

Html series_side_by_side(const std::vector<CollectiveSeries>& all) {
  Html out = objects_head(
      "Side by side; bandwidths are those of the largest size",
      {"", "Over", "By", "Ranks", "Rails", "Smallest", "Largest", "algbw", "busbw", "Sums", "Slow with the largest"});
  for (const CollectiveSeries& series : all) out += series_row(series);
  return out + objects_end();
}

// --- charts

std::string said_of_all(const std::vector<CollectiveSeries>& all,
                        const std::function<std::string(const SizeResult&)>& figure) {
  std::string out;
  for (const CollectiveSeries& series : all) {
    const auto one = [&](const SizeResult& size) {
      return fmt::format("{} with {}", figure(size), perf::size_text(static_cast<int64_t>(size.size_bytes)));
    };
    out += fmt::format("{}, {}, {}: {}, {}. ", series.name, transport_text(*series.run), name_of(series.algorithm),
                       one(*series.sizes.front()), one(*series.sizes.back()));
  }
  return out;
}

Html bandwidth_figure_html(std::string_view title, std::string_view kind, std::string_view said) {
  return html(
      "<figure><figcaption>{}</figcaption><div class=\"chart\" data-kind=\"{}\" role=\"img\" "
      "aria-label=\"{}\"></div></figure>\n",
      title, kind, said);
}

std::vector<CollectiveSeries> charted(const std::vector<CollectiveRun>& runs) {
  std::vector<CollectiveSeries> all = series_of(runs);
  all.resize(std::min(all.size(), kMostSeries));
  return all;
}

Html charts(const std::vector<CollectiveRun>& runs) {
  const std::vector<CollectiveSeries> all = charted(runs);
  if (std::ranges::all_of(all, [](const CollectiveSeries& one) { return one.sizes.size() == 1; })) return {};
  Html out = markup("<div class=\"grid\">");
  out += bandwidth_figure_html(
      "Bus bandwidth by size", "collective-busbw",
      said_of_all(all, [](const SizeResult& size) { return gbytes_text(size.busbw_gbytes_per_s()); }));
  out += bandwidth_figure_html(
      "Algorithm bandwidth by size", "collective-algbw",
      said_of_all(all, [](const SizeResult& size) { return gbytes_text(size.algbw_gbytes_per_s()); }));
  out += bandwidth_figure_html("Time by size", "collective-time",
                               said_of_all(all, [](const SizeResult& size) { return us_text(size.time_us()); }));
  out += markup("</div>\n");
  if (all.size() < series_of(runs).size())
    out += html("<p class=\"quiet\">Charts have the first {} lines.</p>\n", all.size());
  return out;
}

// --- one of them

Html sizes_html(const CollectiveRun& run) {
  const bool many = run.rails.size() > 1;
  Html out = html(
      "<table class=\"figures\"><thead><tr><th>Size</th><th>Elements</th><th>By</th><th>Time</th><th>algbw</th>"
      "<th>busbw</th><th>Wrong</th>{}</tr></thead><tbody>\n",
      many ? markup("<th>busbw of each rail</th>") : Html());
  for (const SizeResult& size : run.results) {
    out += html("<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td>",
                perf::size_text(static_cast<int64_t>(size.size_bytes)),
                size.size_bytes / perf::collective::kElement_bytes, name_of(size.algorithm), us_text(size.time_us()),
                gbytes_text(size.algbw_gbytes_per_s()), gbytes_text(size.busbw_gbytes_per_s()), wrong_elements(size));
    std::string each;
    for (const RailResult& rail : size.rails)
      each += (each.empty() ? "" : " · ") + gbytes_text(rail.busbw_gbytes_per_s);
    out += many ? html("<td>{}</td></tr>\n", each) : markup("</tr>\n");
  }
  return out + markup("</tbody></table>\n");
}

Html wrong_html(const CollectiveRun& run) {
  Html out;
  size_t reported = 0;
  for (const SizeResult& size : run.results)
    for (const WrongAt& at : size.wrong) {
      if (reported++ >= kMostRows) continue;
      out += html("<p><b>Wrong data</b>: {} of {} at {} on {}: {} elements, the first at {}: expected {}, got {}</p>\n",
                  name_of(size.algorithm), perf::size_text(static_cast<int64_t>(size.size_bytes)), run.ranks[at.rank],
                  run.rails[at.rail], at.wrong.count, at.wrong.offset, at.wrong.wanted,
                  std::isnan(at.wrong.got) ? "nothing" : fmt::format("{}", at.wrong.got));
    }
  return reported > kMostRows ? out + more_text(reported - kMostRows) : out;
}

Html ranks_html(const CollectiveRun& run, const RailResult& rail) {
  if (rail.ranks.empty()) return {};
  const auto tail = [](double us) { return us > 0 ? us_text(us) : std::string("–"); };
  Html out = markup(
      "<table class=\"figures\"><thead><tr><th>Rank</th><th>p50</th><th>p99</th><th>Max</th><th>Waited</th>"
      "<th>Waited p99</th><th>Transfer</th><th>Adding</th><th>Own work</th></tr></thead><tbody>\n");
  const std::vector<const RankFigures*> shown = most(rail.ranks, &RankFigures::own_p50_us);
  for (const RankFigures* it : shown) {
    const bool slow = rail.straggler && rail.straggler->rank == it->rank;
    out += html(
        "<tr><td>{}{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
        run.ranks[it->rank], slow ? markup(" ") + state("caution", "slow") : Html(), us_text(it->p50_us),
        tail(it->p99_us), us_text(it->max_us), us_text(it->waited_p50_us), tail(it->waited_p99_us),
        us_text(it->transfer_us), us_text(it->reduce_us), us_text(it->own_p50_us));
  }
  out += markup("</tbody></table>\n");
  return shown.size() < rail.ranks.size() ? out + more_text(rail.ranks.size() - shown.size()) : out;
}

Html steps_html(const CollectiveRun& run, const RailResult& rail) {
  if (rail.steps.empty()) return {};
  Html out = markup(
      "<table class=\"figures\"><thead><tr><th>Step</th><th></th><th>Waited</th><th>Transfer</th><th>Adding</th>"
      "<th>Longest wait beyond the transfer: the rank, and for which one</th></tr></thead><tbody>\n");
  const std::vector<const StepFigures*> shown = most(rail.steps, &StepFigures::late_us);
  for (const StepFigures* it : shown)
    out += html("<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{} for {}: {}</td></tr>\n", it->step,
                it->phase, us_text(it->waited_us), us_text(it->transfer_us), us_text(it->reduce_us),
                run.ranks[it->late_rank], run.ranks[it->late_from], us_text(it->late_us));
  out += markup("</tbody></table>\n");
  return shown.size() < rail.steps.size() ? out + more_text(rail.steps.size() - shown.size()) : out;
}

// Small sizes are all waiting, so that whom they name is chance.
Html largest_html(const CollectiveSeries& series) {
  Html out;
  const SizeResult& large = *series.sizes.back();
  for (const RailResult& rail : large.rails)
    out += html("<h3>{} of {} on {}</h3>\n<p>{}.</p>\n", name_of(series.algorithm),
                perf::size_text(static_cast<int64_t>(large.size_bytes)), series.run->rails[rail.rail],
                perf::collective::straggler_text(*series.run, rail)) +
           ranks_html(*series.run, rail) + steps_html(*series.run, rail);
  return out;
}

Html run_html(const CollectiveRun& run, std::string_view name, const std::vector<CollectiveSeries>& all) {
  Html out = html("<details><summary><b>{}</b> · all-reduce · {} · {} rank{}, {} rail{}</summary>\n", name,
                  transport_text(run), run.ranks.size(), run.ranks.size() == 1 ? "" : "s", run.rails.size(),
                  run.rails.size() == 1 ? "" : "s");
  out += wrong_html(run) + sizes_html(run);
  for (const CollectiveSeries& series : all)
    if (series.run == &run) out += largest_html(series);
  out += markup("<dl>") + entry_html("Incomplete", run.ended_by) + entry_html("Command", run.command) +
         entry_html("Started", run.started_at);
  out += entry_html("Ranks", joined(run.ranks)) + entry_html("Rails", joined(run.rails));
  out += entry_html("Iterations",
                    fmt::format("{} after {}, float32 sum, railbed {}", run.iterations, run.warm_up, run.version));
  return out + markup("</dl></details>\n");
}

// What the charts are drawn of: a list, as JSON.
std::string charted_data(const std::vector<CollectiveRun>& runs) {
  perf::JsonWriter writer;
  writer.begin_array();
  for (const CollectiveSeries& series : charted(runs)) {
    writer.begin_object()
        .text("name", fmt::format("{}, {}, {}", series.name, transport_text(*series.run), name_of(series.algorithm)))
        .integer("run", series.run - runs.data())
        .flag("tree", series.algorithm == perf::collective::Algorithm::kTree);
    const auto column = [&](std::string_view field, const std::function<double(const SizeResult&)>& value) {
      writer.begin_array(field);
      for (const SizeResult* size : series.sizes) writer.number({}, value(*size));
      writer.end_array();
    };
    column("size_bytes", [](const SizeResult& size) { return static_cast<double>(size.size_bytes); });
    column("algbw", [](const SizeResult& size) { return size.algbw_gbytes_per_s(); });
    column("busbw", [](const SizeResult& size) { return size.busbw_gbytes_per_s(); });
    column("time_us", [](const SizeResult& size) { return size.time_us(); });
    writer.end_object();
  }
  writer.end_array();
  return writer.take();
}

// The table, and which of them are incomplete.
std::string terminal_text(const std::vector<CollectiveRun>& runs) {
  std::string out = collective_table(runs).to_text();
  const std::vector<std::string> names = names_of(runs);
  for (size_t i = 0; i < runs.size(); ++i)
    if (!runs[i].ended_by.empty())
      out += fmt::format("{} is incomplete: {}\n", doc::printable(names[i]), doc::printable(runs[i].ended_by));
  return out + "\n";
}

}  // namespace

Html collectives_html(const std::vector<CollectiveRun>& runs) {
  if (runs.empty()) return {};
  const std::vector<std::string> names = names_of(runs);
  std::vector<CollectiveSeries> all = series_of(runs);
  const size_t shown = std::min(runs.size(), kMostRuns);
  std::erase_if(all, [&](const CollectiveSeries& one) { return one.run >= runs.data() + shown; });
  Html out = markup(
      "<section class=\"collective\"><h2>All-reduces</h2>\n"
      "<p class=\"quiet\">Over all ranks and rails at once, each rail with the whole size; figures are for all rails "
      "together, as defined by nccl-tests: algbw is the size over the time, busbw is algbw · 2(n−1)/n, which is "
      "comparable to the links’ rate (1 GB/s are 8 Gb/s). Each sum was checked at every rank.</p>\n");
  out += series_side_by_side(all) + charts(runs);
  for (size_t i = 0; i < shown; ++i) out += run_html(runs[i], names[i], all);
  if (shown < runs.size()) out += more_text(runs.size() - shown);
  return out + markup("</section>\n");
}

Section collectives_section(const std::vector<CollectiveRun>& runs) {
  Section out{.count = runs.size(),
              .body = collectives_html(runs),
              .charts = {.list = "collectives", .data = charted_data(runs)},
              .terminal = terminal_text(runs)};
  for (const CollectiveRun& run : runs) keep_earlier(out.started_at, run.started_at);
  return out;
}

}  // namespace railbed::report

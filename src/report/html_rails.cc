// SPDX-License-Identifier: Apache-2.0
#include "report/html_rails.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "report/html_text.h"

namespace railbed::report {
namespace {

using perf::BandwidthPoint;

constexpr size_t kMostCards = 4;
constexpr size_t kMostRails = 128;

// "RDMA 4.1×"; empty where one side was not measured.
std::string gain(double better, double worse) {
  if (better <= 0 || worse <= 0) return "";
  const double ratio = better / worse;
  if (ratio > 0.95 && ratio < 1.05) return "equal";
  return ratio >= 1 ? "RDMA " + ratio_text(ratio) : "TCP " + ratio_text(1 / ratio);
}

Html figure_row(std::string_view name, std::string_view note, std::string_view rdma, std::string_view tcp,
                std::string_view compared) {
  return html(
      "<tr><th>{}<small>{}</small></th><td class=\"rdma\">{}</td><td class=\"tcp\">{}</td><td "
      "class=\"gain\">{}</td></tr>\n",
      name, note, text_or_dash(rdma), text_or_dash(tcp), compared);
}

std::optional<double> half_p50(const PathFigures& path) {
  return path.half_p50_us();
}
std::optional<double> p999(const PathFigures& path) {
  return path.p999_us();
}
std::optional<double> deviation(const PathFigures& path) {
  return path.stddev_us();
}

// "best size, average, 98 % of what the link can carry"
std::string bandwidth_note(const RailFigures& rail) {
  if (rail.soft || rail.rdma.best == nullptr || rail.yardstick_gbps <= 0) return "best size, average";
  return fmt::format("best size, average; RDMA: {:.0f} % of the {} that the link can carry",
                     100 * rail.rdma.best->average_gbps / rail.yardstick_gbps, gbps_text(rail.yardstick_gbps));
}

Html latency_rows(const RailFigures& rail) {
  Html out;
  const PathFigures& r = rail.rdma;
  const PathFigures& t = rail.tcp;
  if (r.small != nullptr || t.small != nullptr) {
    const bool both = r.small != nullptr && t.small != nullptr;
    const auto row = [&](std::string_view name, std::string_view note,
                         std::optional<double> (*get)(const PathFigures&)) {
      const double rdma = r.small == nullptr ? 0 : get(r).value_or(0);
      const double tcp = t.small == nullptr ? 0 : get(t).value_or(0);
      const auto text = [&](const PathFigures& path, double us) {
        return path.small == nullptr || !get(path) ? std::string() : us_text(us);
      };
      out += figure_row(name, note, text(r, rdma), text(t, tcp), both ? gain(tcp, rdma) : "");
    };
    row("Jitter", "standard deviation of round trips", deviation);
    row("Slowest", "1 round trip in 1000 takes longer, p99.9", p999);
    row("Latency", "one way: half of the middle round trip", half_p50);
  }
  return out;
}

Html rail_card(const RailFigures& rail) {
  Html out = html("<article class=\"card\"><h3>{}{}</h3><p class=\"quiet\">{}</p>\n", rail.name,
                  rail.soft ? markup(" <span class=\"badge\">soft RDMA</span>") : Html(), rail.path);
  out += markup(
      "<table class=\"big\"><thead><tr><th></th><th class=\"rdma\">RDMA</th><th "
      "class=\"tcp\">TCP</th><th></th></tr></thead><tbody>\n");
  out += latency_rows(rail);
  const BandwidthPoint* rb = rail.rdma.best;
  const BandwidthPoint* tb = rail.tcp.best;
  if (rb != nullptr || tb != nullptr)
    out += figure_row("Bandwidth", bandwidth_note(rail), rb == nullptr ? "" : gbps_text(rb->average_gbps),
                      tb == nullptr ? "" : gbps_text(tb->average_gbps),
                      rb == nullptr || tb == nullptr ? "" : gain(rb->average_gbps, tb->average_gbps));
  return out + markup("</tbody></table></article>\n");
}

// The times of one path on a scale that all rails share: a line from the fastest to the slowest round trip, a bar from
// the middle one to p99, as far as these are settled.
struct Scale {
  double low_us = 0;
  double high_us = 0;
  double place(double us, double width) const {
    if (high_us <= low_us) return width / 2;
    return width * std::log(std::clamp(us, low_us, high_us) / low_us) / std::log(high_us / low_us);
  }
};

double fastest_us(const PathFigures& path) {
  return static_cast<double>(path.small->histogram.min_ns()) / 1e3;
}
double slowest_us(const PathFigures& path) {
  return static_cast<double>(path.small->histogram.max_ns()) / 1e3;
}

Scale scale_of(const std::vector<const RailFigures*>& rails) {
  Scale scale;
  for (const RailFigures* rail : rails)
    for (const PathFigures* path : {&rail->rdma, &rail->tcp}) {
      if (path->small == nullptr) continue;
      const double low = std::max(0.001, fastest_us(*path));
      scale.low_us = scale.low_us == 0 ? low : std::min(scale.low_us, low);
      scale.high_us = std::max(scale.high_us, slowest_us(*path));
    }
  return scale;
}

Html strip(const PathFigures& path, const Scale& scale) {
  constexpr double kStrip = 200;
  const auto at = [&](double us) { return 3 + scale.place(us, kStrip - 6); };
  const auto middle = path.small->histogram.settled_percentile_ns(50);
  const auto tail = path.small->histogram.settled_percentile_ns(99);
  std::string said = fmt::format("fastest {}", us_text(fastest_us(path)));
  Html marks = html("<path d=\"M{:.1f} 8H{:.1f}\"/>", at(fastest_us(path)), at(slowest_us(path)));
  if (middle && tail) {
    const double from = at(static_cast<double>(*middle) / 1e3);
    const double to = at(static_cast<double>(*tail) / 1e3);
    marks +=
        html("<rect x=\"{:.1f}\" y=\"3\" width=\"{:.1f}\" height=\"10\" rx=\"2\"/>", from, std::max(2.0, to - from));
  }
  for (const auto& [ns, name] : {std::pair(middle, "middle"), {tail, "p99"}})
    if (ns) said += fmt::format(", {} {}", name, us_text(static_cast<double>(*ns) / 1e3));
  said += fmt::format(", slowest {}", us_text(slowest_us(path)));
  marks += html("<circle cx=\"{:.1f}\" cy=\"8\" r=\"2.5\"/>", at(slowest_us(path)));
  return html("<svg class=\"strip\" viewBox=\"0 0 200 16\" role=\"img\" aria-label=\"{0}\"><title>{0}</title>{1}</svg>",
              said, marks);
}

struct Side {
  const Scale& scale;
  double largest_gbps;
};

Html path_cells(const PathFigures& path, std::string_view name, std::string_view cls, const Side& side) {
  const auto us = [&](std::optional<double> (*get)(const PathFigures&)) {
    const std::optional<double> value = path.small == nullptr ? std::nullopt : get(path);
    return value ? us_text(*value) : std::string("–");
  };
  Html out = html("<td class=\"{}\">{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td>", cls, name, us(deviation),
                  path.small == nullptr ? markup("–") : strip(path, side.scale), us(p999), us(half_p50));
  const double gbps = path.best == nullptr ? 0 : path.best->average_gbps;
  return out + html("<td>{}<i class=\"bar\" style=\"width:{:.0f}%\"></i></td>",
                    path.best == nullptr ? "–" : gbps_text(gbps),
                    side.largest_gbps > 0 ? 100 * gbps / side.largest_gbps : 0);
}

bool is_measured(const PathFigures& path) {
  return path.best != nullptr || path.small != nullptr;
}

Html rails_side_by_side(const std::vector<const RailFigures*>& rails) {
  const Scale scale = scale_of(rails);
  Side side{.scale = scale, .largest_gbps = 0};
  for (const RailFigures* rail : rails)
    for (const PathFigures* path : {&rail->rdma, &rail->tcp})
      if (path->best != nullptr) side.largest_gbps = std::max(side.largest_gbps, path->best->average_gbps);
  Html out = markup("<div class=\"wide\"><table class=\"rails\"><thead><tr><th scope=\"col\">Rail</th><th></th>");
  out += html("<th scope=\"col\">Jitter</th><th scope=\"col\">Round trips<small>{}</small></th>",
              scale.high_us > 0 ? fmt::format("{} to {}, logarithmic", us_text(scale.low_us), us_text(scale.high_us))
                                : std::string());
  out += markup(
      "<th scope=\"col\">p99.9</th><th scope=\"col\">One way, p50</th><th scope=\"col\">Bandwidth</th></tr></thead>\n");
  for (const RailFigures* rail : rails) {
    const bool both = is_measured(rail->rdma) && is_measured(rail->tcp);
    out += html("<tbody><tr><th scope=\"row\" rowspan=\"{}\">{}{}<small>{}</small></th>", both ? 2 : 1, rail->name,
                rail->soft ? markup(" <span class=\"badge\">soft</span>") : Html(), rail->path);
    if (is_measured(rail->rdma)) out += path_cells(rail->rdma, "RDMA", "rdma", side);
    if (both) out += markup("</tr>\n<tr>");
    if (is_measured(rail->tcp)) out += path_cells(rail->tcp, "TCP", "tcp", side);
    out += markup("</tr></tbody>\n");
  }
  return out + markup("</table></div>\n");
}

}  // namespace

std::vector<const RailFigures*> worst_rails(const std::vector<RailFigures>& rails, size_t most) {
  std::vector<const RailFigures*> all;
  for (const RailFigures& rail : rails) all.push_back(&rail);
  if (all.size() <= most) return all;
  std::set<const RailFigures*> chosen;
  const auto choose = [&](size_t count, auto badness) {
    std::vector<const RailFigures*> by_badness = all;
    std::ranges::stable_sort(by_badness, std::ranges::greater(), badness);
    for (const RailFigures* rail : by_badness)
      if (chosen.size() < count) chosen.insert(rail);
  };
  choose(most / 2, [](const RailFigures* rail) { return rail->rdma.small == nullptr ? -1.0 : rail->rdma.stddev_us(); });
  choose(most,
         [](const RailFigures* rail) { return rail->rdma.best == nullptr ? -1e9 : -rail->rdma.best->average_gbps; });
  std::erase_if(all, [&](const RailFigures* rail) { return !chosen.contains(rail); });
  return all;
}

Html rails_html(const std::vector<RailFigures>& rails) {
  Html out;
  if (rails.size() > 1) {
    const auto shown = worst_rails(rails, kMostRails);
    out += markup("<section><h2>Rails side by side</h2>\n");
    if (shown.size() < rails.size())
      out += html(
          "<p class=\"quiet\">The {} of {} with the most notable results: for their jitter, and for their "
          "bandwidth.</p>\n",
          shown.size(), rails.size());
    out += rails_side_by_side(shown) + markup("</section>\n");
  }
  if (rails.size() > kMostCards || rails.empty()) return out;
  out += markup("<section><h2>Rail by rail</h2>\n<div class=\"grid\">\n");
  for (const RailFigures& rail : rails) out += rail_card(rail);
  return out + markup("</div></section>\n");
}

}  // namespace railbed::report

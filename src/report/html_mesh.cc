// SPDX-License-Identifier: Apache-2.0
#include "report/html_mesh.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "base/base64.h"
#include "perf/json_writer.h"
#include "report/heat_png.h"
#include "report/html_text.h"
#include "report/joined.h"

namespace railbed::report {
namespace {

// Not measured (transparent), failed, then from far below the usual to the usual: dark to light, so that the order is
// seen without colours, too.
constexpr Palette kPalette = {0xffffff, 0x6a1b9a, 0x67000d, 0x850811, 0xa50f15, 0xbd151a, 0xd42a24, 0xe84a33,
                              0xf26d49, 0xf98d5e, 0xfca974, 0xfdc38f, 0xfedcb0, 0xfdeed2, 0xd9eeea, 0x9fd3ca};

Html lines_html(const std::vector<std::string>& texts) {
  Html out;
  for (const std::string& text : texts) out += html("{}\n", text);
  return out;
}

std::string gbps(std::optional<double> value) {
  return value ? gbps_text(*value) : "–";
}
// "196 Gb/s" and "50 % of usual" below.
Html compared(std::string_view text, std::optional<double> share) {
  return share ? html("{}<small>{:.0f} % of the median</small>", text, 100 * *share) : html("{}", text);
}

Html topology_html(const MeshPage& page) {
  Html out = objects_head("Topology, and the median of each rail",
                          {"Rail", "NICs", "Leaves", "Sends", "Receives", "p50", "p99", "Outliers"});
  for (const MeshRailRow& row : page.rails)
    out += html(
        "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
        row.rail, row.nics, row.leaves == 0 ? "not known" : std::to_string(row.leaves), gbps(row.send_gbps),
        gbps(row.receive_gbps), us_or_dash(row.p50_us), us_or_dash(row.p99_us), row.suspects);
  return out + objects_end();
}

Html stragglers_html(const MeshPage& page) {
  if (page.stragglers.empty()) return {};
  Html out = objects_head("Outlier NICs, worst first: medians over their partners",
                          {"Host", "Rail", "Leaf", "Sends", "Receives", "p50", "p99", "Bad pairs"});
  for (const MeshNicRow& row : page.stragglers)
    out += html(
        "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{} of {}</td></tr>\n",
        row.host, row.rail, text_or_dash(row.leaf), compared(gbps(row.send_gbps), row.send_share),
        compared(gbps(row.receive_gbps), row.receive_share), compared(us_or_dash(row.p50_us), row.p50_share),
        compared(us_or_dash(row.p99_us), row.p99_share), row.bad, row.tried);
  out += objects_end();
  if (page.all_stragglers > page.stragglers.size())
    out += html("<p class=\"quiet\">and {} more NICs</p>\n", page.all_stragglers - page.stragglers.size());
  return out;
}

Html worst_html(const MeshPage& page) {
  if (page.worst.empty()) return {};
  Html out = objects_head(fmt::format("The worst {} pairs", page.worst.size()),
                          {"Pair", "", "Forward", "Back", "p50", "p99", "Of usual"});
  for (const MeshPairRow& row : page.worst) {
    const Html state = row.failed        ? markup("<span class=\"state bad\">failed</span>")
                       : row.outages > 0 ? html("<span class=\"state caution\">{} outage{}</span>", row.outages,
                                                row.outages == 1 ? "" : "s")
                                         : Html();
    out += html(
        "<tr><th scope=\"row\">{} ↔ {}</th><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
        row.first, row.second, state, gbps(row.forward_gbps), gbps(row.reverse_gbps), us_or_dash(row.p50_us),
        us_or_dash(row.p99_us), row.failed ? "–" : fmt::format("{:.0f} %", 100 * row.share));
  }
  return out + objects_end();
}

Html legend_html() {
  const auto entry = [](size_t level, std::string_view text) {
    return html("<span class=\"band\" style=\"--c:{}\">{}</span>",
                level == kCellUnknown ? "transparent" : fmt::format("#{:06x}", kPalette[level]), text);
  };
  Html out = markup("<div class=\"legend\">") + entry(kCellFailed, "failed, or with outages");
  out += entry(kCellWorst, fmt::format("below {:.0f} %", 100 * kCellSteps[0]));
  for (size_t i = 0; i < std::size(kCellSteps); ++i)
    out += entry(kCellWorst + 1 + i, fmt::format("{:.0f} %", 100 * kCellSteps[i]) +
                                         (kCellWorst + 1 + i == kCellUsual ? " of the median and more" : ""));
  return out + markup("<span>no colour: not measured</span></div>\n");
}

// What a picture shows, in a sentence.
std::string said_of_map(const HeatMap& map) {
  std::array<size_t, 16> counts{};
  for (const uint8_t cell : map.cells) ++counts[cell];
  const size_t measured = map.cells.size() - counts[kCellUnknown];
  size_t low = 0;
  for (size_t level = kCellWorst; level < kCellUsual - 3; ++level) low += counts[level];  // below 90 %
  return fmt::format("{}: of {} cells measured, {} failed or had outages, {} are below 90 % of the median", map.rail,
                     measured, counts[kCellFailed], low);
}

Html maps_html(const MeshPage& page) {
  if (page.side == 0) return {};
  Html out = html(
      "<h3>Bandwidth between all hosts, relative to the median of the rail</h3><p class=\"quiet\">A row sends, a "
      "column receives; hosts on one leaf are adjacent. A dark row is a NIC that sends slowly, a dark column one that "
      "receives slowly, a band of both a leaf.{}</p>\n",
      page.hosts_per_cell == 1 ? "" : fmt::format(" Each cell is the worst of {0} × {0} hosts.", page.hosts_per_cell));
  out += legend_html() + markup("<div class=\"grid heats\">\n");
  for (const HeatMap& map : page.maps)
    out += html(
        "<figure class=\"heat\"><figcaption>{0}</figcaption><img alt=\"{1}\" src=\"data:image/png;base64,{2}\"></figure>\n",
        map.rail, said_of_map(map), base64(heat_png(map.cells, page.side, kPalette)));
  return out + markup("</div>\n");
}

// What the script shows under the pointer of each of them: a list of {"side", "hosts_per_cell", "hosts", …}.
std::string mesh_data(const std::vector<MeshPage>& pages) {
  perf::JsonWriter writer;
  writer.begin_object().begin_array("palette");
  for (const uint32_t colour : kPalette) writer.integer({}, colour);
  writer.end_array().begin_array("steps");
  for (const double step : kCellSteps) writer.number({}, step);
  writer.end_array().begin_array("meshes");
  for (const MeshPage& page : pages) {
    writer.begin_object().integer("side", page.side).integer("hosts_per_cell", page.hosts_per_cell);
    writer.begin_array("hosts");
    for (const std::string& host : page.hosts) writer.text({}, host);
    writer.end_array().end_object();
  }
  writer.end_array().end_object();
  return writer.take();
}

}  // namespace

Html mesh_html(const MeshPage& page) {
  Html out = html("<section class=\"mesh\"><h2>All pairs</h2>\n<p>{}",
                  page.clean ? markup("<span class=\"state good\">no outliers</span>")
                             : markup("<span class=\"state caution\">outliers, or missing results</span>"));
  for (const std::string& line : page.coverage) out += html("<br><small>{}</small>", line);
  out += markup("</p>\n");
  out += html("<div class=\"wide\"><pre>{}</pre></div>\n", lines_html(page.findings));
  out += maps_html(page) + stragglers_html(page) + worst_html(page) + topology_html(page);
  return out + markup("</section>\n");
}

Section meshes_section(const std::vector<MeshPage>& pages) {
  Section out{.scripts = json_script("meshes", mesh_data(pages))};
  for (const MeshPage& page : pages) {
    out.body += mesh_html(page);
    out.terminal += joined(page.findings, "\n") + "\n\n";
  }
  return out;
}

}  // namespace railbed::report

// SPDX-License-Identifier: Apache-2.0
// Layout: nodes side by side; in each node pods on top, PFs below, one column per PF, so that the line from a pod's
// interface to its VF is nearly vertical; below all nodes one bar per rail.
#include "report/html_drawing.h"

#include <algorithm>
#include <string_view>

#include "report/html_text.h"

namespace railbed::report {
namespace {

constexpr double kWidth = 1040;
constexpr double kGap = 28;
constexpr double kPad = 14;
constexpr double kTitle = 30;
constexpr double kChip = 46;
constexpr double kPodTitle = 26;
constexpr double kPf = 62;
constexpr double kRail = 40;
constexpr double kMinColumn = 60;
constexpr double kNarrow = 100;  // columns narrower than this show names only, the rest as a tooltip
constexpr size_t kVfsShown = 16;
constexpr size_t kColours = 8;  // --rail-0 and so on of html.css

// Between two columns.
double gap_of(double column) {
  return column < kNarrow ? 6 : 16;
}

class Svg {
 public:
  void box(double x, double y, double w, double h, std::string_view cls, const Html& extra) {
    out_ += html("<rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" {}/>\n", cls, x, y, w,
                 h, extra);
  }
  void line(double x1, double y1, double x2, double y2, std::string_view colour, double width = 2.5) {
    const double middle = (y1 + y2) / 2;
    out_ += html(
        "<path d=\"M{:.1f} {:.1f}C{:.1f} {:.1f} {:.1f} {:.1f} {:.1f} {:.1f}\" fill=\"none\" "
        "style=\"stroke:{}\" stroke-width=\"{}\"/>\n",
        x1, y1, x1, middle, x2, middle, x2, y2, colour, width);
  }
  void dot(double x, double y, std::string_view colour) {
    out_ += html(
        "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"5\" style=\"fill:{};stroke:var(--card)\" stroke-width=\"1.5\"/>\n", x,
        y, colour);
  }
  // Cuts the text to fit `width`; the whole text becomes the tooltip.
  void text(double x, double y, std::string_view value, std::string_view cls, double width, double per_character = 7) {
    const auto room = static_cast<size_t>(std::max(3.0, width / per_character));
    const std::string shown = shortened(value, room);
    out_ += html("<text class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\">{}{}</text>\n", cls, x, y, shown,
                 shown == value ? Html() : html("<title>{}</title>", value));
  }
  Html finish(double width, double height) {
    return html(
        "<svg class=\"scene\" role=\"img\" aria-label=\"Nodes, pods, virtual functions and rails\" viewBox=\"0 0 "
        "{0:.0f} {1:.0f}\" width=\"{0:.0f}\" height=\"{1:.0f}\">\n{2}</svg>\n",
        width, height, out_);
  }

 private:
  Html out_;
};

std::string colour_of(const Scene& scene, const std::string& rail) {
  const auto it = std::find(scene.rails.begin(), scene.rails.end(), rail);
  if (it == scene.rails.end()) return "var(--none)";
  return fmt::format("var(--rail-{})", static_cast<size_t>(it - scene.rails.begin()) % kColours);
}

size_t rows_of(const DrawnPod& pod) {
  size_t rows = 1;
  for (const auto& column : pod.columns) rows = std::max(rows, column.size());
  return rows;
}

double pods_height(const DrawnNode& node) {
  double height = 0;
  for (const DrawnPod& pod : node.pods) height += kPodTitle + static_cast<double>(rows_of(pod)) * (kChip + 8) + 18;
  return height;
}

struct Frame {
  double x, y, width, height, column;
};

std::string pf_summary(const DrawnColumn& column, bool narrow) {
  if (column.vfs.empty()) return narrow ? "" : column.detail;
  if (narrow) return fmt::format("{} VFs", column.vfs.size());
  const auto used =
      std::count_if(column.vfs.begin(), column.vfs.end(), [](const auto& vf) { return !vf.owner.empty(); });
  return fmt::format("{} VFs, {} in use", column.vfs.size(), used);
}

// Where a line to VF number `index` ends: at the middle of the PF if the VF is not drawn.
double vf_x(const DrawnColumn& column, int index, double x, double width) {
  for (size_t i = 0; i < std::min(column.vfs.size(), kVfsShown); ++i)
    if (column.vfs[i].index == index) {
      const double step = std::min(22.0, (width - 20) / static_cast<double>(std::min(column.vfs.size(), kVfsShown)));
      return x + 10 + (static_cast<double>(i) + 0.5) * step;
    }
  return x + width / 2;
}

void draw_pf(Svg& svg, const Scene& scene, const DrawnColumn& column, double x, double y, double width) {
  const std::string colour = colour_of(scene, column.rail);
  svg.box(x, y, width, kPf, "pf", markup("rx=\"6\""));
  svg.box(x, y + kPf - 5, width, 5, "", html("rx=\"2\" style=\"fill:{}\"", colour));
  const size_t shown = std::min(column.vfs.size(), kVfsShown);
  const double step = shown == 0 ? 0 : std::min(22.0, (width - 20) / static_cast<double>(shown));
  for (size_t i = 0; i < shown; ++i) {
    const NodeStatus::Vf& vf = column.vfs[i];
    const Html style = vf.owner.empty() ? Html() : html("style=\"fill:{0};stroke:{0}\"", colour);
    svg.box(x + 10 + static_cast<double>(i) * step + 1, y + 6, std::max(3.0, step - 4), 12, "vf",
            html("rx=\"2\" {}", style));
  }
  svg.text(x + (width < kNarrow ? 5 : 10), y + 34, column.name, "strong", width - 8, 7);
  svg.text(x + (width < kNarrow ? 5 : 10), y + 50, pf_summary(column, width < kNarrow), "quiet", width - 14, 6.3);
}

void draw_pods(Svg& svg, const Scene& scene, const DrawnNode& node, const Frame& frame, double pf_y) {
  double y = frame.y + kTitle + 6;

  for (const DrawnPod& pod : node.pods) {
    const auto rows = static_cast<double>(rows_of(pod));
    const double height = kPodTitle + rows * (kChip + 8) + 6;
    svg.box(frame.x + kPad, y, frame.width - 2 * kPad, height, "pod", markup("rx=\"8\""));
    svg.text(frame.x + kPad + 10, y + 18, "pod " + pod.name, "strong", frame.width - 2 * kPad - 20, 7.5);
    for (size_t c = 0; c < pod.columns.size(); ++c) {
      const double x = frame.x + kPad + gap_of(frame.column) / 2 + static_cast<double>(c) * frame.column;
      const double width = frame.column - gap_of(frame.column);
      double chip_y = y + kPodTitle;
      for (const DrawnInterface& one : pod.columns[c]) {
        const std::string colour = colour_of(scene, node.columns[c].rail);
        svg.line(x + width / 2, chip_y + kChip, vf_x(node.columns[c], one.vf_index, x, width), pf_y + 6, colour);
        svg.box(x, chip_y, width, kChip, "chip", html("rx=\"6\" style=\"stroke:{}\"", colour));
        const bool narrow = width < kNarrow;
        const bool with_address = !narrow && !one.address.empty();
        svg.text(x + 8, chip_y + 19, one.name + (with_address ? "  " + one.address : ""), "strong", width - 16, 7);
        std::string below = one.device.empty() ? "no RDMA" : one.device + (one.soft ? " (soft)" : "");
        const std::string vf = one.vf_index >= 0 ? fmt::format("VF {}", one.vf_index) : "";
        if (narrow)
          below = vf;
        else if (!vf.empty())
          below = vf + ", " + below;
        svg.text(x + 8, chip_y + 36, below, "quiet", width - 16, 6.3);
        chip_y += kChip + 8;
      }
    }
    y += height + 12;
  }
}

}  // namespace

Html drawing(const Scene& scene, const std::map<std::string, std::string>& rail_texts) {
  if (scene.nodes.empty()) return {};
  size_t columns = 0;
  double pods = 0;
  for (const DrawnNode& node : scene.nodes) {
    columns += std::max<size_t>(1, node.columns.size());
    pods = std::max(pods, pods_height(node));
  }
  const auto nodes = static_cast<double>(scene.nodes.size());
  const double fixed = kGap * (nodes - 1) + 2 * kPad * nodes + 2;
  const double column = std::max(kMinColumn, (kWidth - fixed) / static_cast<double>(columns));
  const double width = std::max(kWidth, fixed + column * static_cast<double>(columns));
  const double pf_y = 1 + kTitle + 6 + pods + (pods > 0 ? 26 : 0);
  const double node_bottom = pf_y + kPf + kPad;
  const double rails_y = node_bottom + 34;
  Svg svg;
  double x = 1;
  struct Joint {
    double x;
    size_t rail;
    std::string colour;
  };
  std::vector<Joint> joints;
  for (const DrawnNode& node : scene.nodes) {
    const auto count = static_cast<double>(std::max<size_t>(1, node.columns.size()));
    const Frame frame{.x = x, .y = 1, .width = count * column + 2 * kPad, .height = node_bottom - 1, .column = column};
    svg.box(frame.x, frame.y, frame.width, frame.height, "node", markup("rx=\"10\""));
    svg.text(frame.x + kPad, frame.y + 21, node.name, "node-name", frame.width - 2 * kPad, 9);
    draw_pods(svg, scene, node, frame, pf_y);
    for (size_t c = 0; c < node.columns.size(); ++c) {
      const double left = frame.x + kPad + gap_of(column) / 2 + static_cast<double>(c) * column;
      draw_pf(svg, scene, node.columns[c], left, pf_y, column - gap_of(column));
      const auto rail = std::find(scene.rails.begin(), scene.rails.end(), node.columns[c].rail);
      if (rail == scene.rails.end()) continue;
      joints.push_back({left + (column - gap_of(column)) / 2, static_cast<size_t>(rail - scene.rails.begin()),
                        colour_of(scene, *rail)});
    }
    x += frame.width + kGap;
  }
  const auto bar_y = [&](size_t rail) { return rails_y + static_cast<double>(rail) * (kRail + 12); };
  for (const Joint& joint : joints) svg.line(joint.x, pf_y + kPf, joint.x, bar_y(joint.rail), joint.colour, 3);
  for (size_t r = 0; r < scene.rails.size(); ++r) {
    const std::string colour = colour_of(scene, scene.rails[r]);
    svg.box(1, bar_y(r), width - 2, kRail, "rail", html("rx=\"8\" style=\"stroke:{}\"", colour));
    svg.text(16, bar_y(r) + 25, scene.rails[r], "rail-name", 200, 8);
    const auto text = rail_texts.find(scene.rails[r]);
    svg.text(230, bar_y(r) + 25, text == rail_texts.end() ? "not measured" : text->second, "strong", width - 250, 7);
  }
  for (const Joint& joint : joints) svg.dot(joint.x, bar_y(joint.rail), joint.colour);
  return svg.finish(width, bar_y(scene.rails.size()) + 4);
}

}  // namespace railbed::report

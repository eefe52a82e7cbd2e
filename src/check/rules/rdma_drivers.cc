// SPDX-License-Identifier: Apache-2.0
// The part of the family RDMA about NVIDIA's drivers and their modules.
#include <algorithm>

#include "check/rules/lookups.h"
#include "check/rules/rdma_rules.h"

namespace railbed::check {

using doc::Value;

namespace {

const Document* map_of_module_parameters(const Input& in) {
  for (const Document& map : in.bundle.documents)
    if (map.kind == "ConfigMap" && map.value.find("data") && map.value.find("data")->find("nvidia.conf")) return &map;
  return nullptr;
}

}  // namespace

void peermem_without_mofed(const Input& in, Findings& out) {
  const bool mofed = std::ranges::any_of(in.bundle.documents, [](const Document& document) {
    return (document.kind == "NicClusterPolicy" || document.kind == "NicNodePolicy") &&
           at(document.value, "spec.ofedDriver") != nullptr;
  });
  const bool loaded = std::ranges::any_of(in.nodes, [](const facts::NodeFacts& node) {
    return std::ranges::find(node.modules, "nvidia_peermem") != node.modules.end();
  });
  if (mofed || loaded) return;
  for (const Document& document : in.bundle.documents) {
    if (document.kind != "ClusterPolicy" || !document.api_version.starts_with("nvidia.com/")) continue;
    if (!flag_at(document.value, "spec.driver.rdma.enabled").value_or(false)) continue;
    if (flag_at(document.value, "spec.driver.rdma.useHostMofed").value_or(false)) continue;
    out.warning(at(document.value, "spec.driver.rdma.enabled")->span,
                "nvidia_peermem needs the MOFED or DOCA driver, which nothing here installs: the driver pod waits for "
                "it, or the module is refused with \"Invalid argument\"")
        .with_fix(
            "a NicClusterPolicy with ofedDriver; or rdma.enabled: false with kernelModuleType: open, and "
            "GPUDirect goes through DMA-BUF");
  }
}

void parameters_on_one_line(const Input& in, Findings& out) {
  constexpr std::string_view kParameter = "NVreg_";
  for (const Document& document : in.bundle.documents) {
    const Value* data = document.kind == "ConfigMap" ? document.value.find("data") : nullptr;
    if (data == nullptr || !data->is_object()) continue;
    for (const Value::Member& member : *data->as_object()) {
      const std::string* text = member.value.as_string();
      if (text == nullptr) continue;
      // There is no way to know where the lines ended of a page that lost all its line breaks; RB-DOC-001 reports that.
      if (document.rebuilt && text->find('\n') == std::string::npos) continue;
      for (size_t begin = 0; begin < text->size();) {
        const size_t end = std::min(text->find('\n', begin), text->size());
        const std::string_view line = std::string_view(*text).substr(begin, end - begin);
        begin = end + 1;
        const size_t first = line.find(kParameter);
        const size_t second = first == std::string_view::npos ? first : line.find(kParameter, first + 1);
        if (second == std::string_view::npos || line.starts_with("options ")) continue;
        const std::string_view word = line.substr(second, line.find_first_of("= ", second) - second);
        out.error(inside(member.value, word),
                  fmt::format("{} is on the same line as another parameter: the driver container reads one per line, "
                              "so the module does not load or ignores it",
                              word))
            .with_fix("a line for each parameter");
      }
    }
  }
}

void module_config_not_used(const Input& in, Findings& out) {
  const Document* parameters = map_of_module_parameters(in);
  for (const Document& document : in.bundle.documents) {
    if (document.kind != "ClusterPolicy") continue;
    const Value* name = at(document.value, "spec.driver.kernelModuleConfig.name");
    const std::string_view wanted = text_at(document.value, "spec.driver.kernelModuleConfig.name");
    if (wanted.empty() && name != nullptr && parameters != nullptr)
      out.warning(name->span, fmt::format("no ConfigMap is referenced, so the module parameters of {} have no effect",
                                          parameters->name))
          .note(name_span(*parameters), "this one has nvidia.conf")
          .with_fix("name: " + parameters->name);
    if (wanted.empty()) continue;
    if (flag_at(document.value, "spec.driver.useNvidiaDriverCRD").value_or(false))
      out.warning(name->span,
                  "with useNvidiaDriverCRD the driver's settings are those of the NVIDIADriver objects; "
                  "kernelModuleConfig of the ClusterPolicy is not used")
          .note(at(document.value, "spec.driver.useNvidiaDriverCRD")->span, "set here")
          .with_fix("spec.kernelModuleConfig of the NVIDIADriver");
    const bool there = std::ranges::any_of(
        in.bundle.documents, [&](const Document& map) { return map.kind == "ConfigMap" && map.name == wanted; });
    if (!there && parameters != nullptr)
      out.error(name->span,
                fmt::format("ConfigMap {} not found; the one with nvidia.conf is named {}", wanted, parameters->name))
          .note(name_span(*parameters), "this one")
          .with_fix("name: " + parameters->name)
          .at_most(doc::Confidence::kMedium, "another file may make the ConfigMap");
  }
}

}  // namespace railbed::check

// SPDX-License-Identifier: Apache-2.0
#include "api/node.h"

#include "api/metadata.h"
#include "doc/fields.h"

namespace railbed::api {

std::optional<Node> parse_node(const doc::Value& object, doc::Diagnostics& diagnostics) {
  doc::Diagnostics found;
  doc::Fields top(object, "", "RB-API", found);
  Node node;
  node.meta = read_metadata(top, found);
  top.ignore({"apiVersion", "kind", "spec", "status"});
  top.finish(top_level());
  const auto setting = node.meta.annotations.find(std::string(kSoftRdmaAnnotation));
  if (setting != node.meta.annotations.end() && setting->second->is_string()) {
    const std::string& text = *setting->second->as_string();
    if (text != "true" && text != "false")
      top.error(5, setting->second.span,
                fmt::format("annotation {} must be \"true\" or \"false\", found \"{}\"", kSoftRdmaAnnotation, text));
    node.soft_rdma = {.value = text == "true", .present = true, .span = setting->second.span};
  }
  const bool right = !found.has_errors();
  diagnostics.append(std::move(found));
  if (!right) return std::nullopt;
  return node;
}

}  // namespace railbed::api

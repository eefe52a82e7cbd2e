// SPDX-License-Identifier: Apache-2.0
#include "api/node.h"

#include "api/compare.h"
#include "api/metadata.h"

namespace railbed::api {

Node read_node(const doc::Value& object, doc::Diagnostics& out) {
  Node node{.meta = read_metadata(object, out), .soft_rdma = {}};
  const auto setting = node.meta.annotations.find(std::string(kSoftRdmaAnnotation));
  if (setting == node.meta.annotations.end() || !setting->second->is_string()) return node;
  const std::string& text = *setting->second->as_string();
  if (text != "true" && text != "false")
    wrong_value(setting->second.span,
                fmt::format("annotation {} must be \"true\" or \"false\", found \"{}\"", kSoftRdmaAnnotation, text),
                out);
  node.soft_rdma = {.value = text == "true", .present = true, .span = setting->second.span};
  return node;
}

}  // namespace railbed::api

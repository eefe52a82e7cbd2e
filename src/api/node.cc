// SPDX-License-Identifier: Apache-2.0
#include "api/node.h"

#include "api/compare.h"
#include "api/metadata.h"
#include "api/placement.h"
#include "doc/members.h"

namespace railbed::api {

Node read_node(const doc::Value& object, doc::Diagnostics& out) {
  Node node{.meta = read_metadata(object, out), .soft_rdma = {}};
  if (const doc::Value* spec = doc::object_in(object, "spec")) {
    node.taints = read_taints(*spec);
    node.provider_id = doc::text_in(*spec, "providerID");
  }
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

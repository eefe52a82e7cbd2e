// SPDX-License-Identifier: Apache-2.0
#include "doc/fields.h"
#include "report/node_status.h"

namespace railbed::report {
namespace {

using doc::Fields;

constexpr size_t kMaxFile_bytes = size_t{64} << 20;
constexpr size_t kMaxObjects = 8192;
constexpr doc::Limits kStatusText{.bytes = 1024};

// Absent fields are fine, because the status may come from another version.
void read_interface(Fields& fields, NodeStatus::Interface& interface) {
  fields.read("name", interface.name, kStatusText);
  fields.read("network", interface.network, kStatusText);
  fields.read("vf", interface.vf, kStatusText);
  fields.read("pf", interface.pf, kStatusText);
  fields.read("rdma", interface.rdma, kStatusText);
  fields.read("rail", interface.rail, kStatusText);
  fields.read("soft", interface.soft);
  fields.read("addresses", interface.addresses, {.bytes = kStatusText.bytes, .entries = 64});
}

void read_pod(Fields& fields, NodeStatus::Pod& pod) {
  fields.read("name", pod.name, kStatusText);
  fields.read("namespace", pod.space, kStatusText);
  fields.each("interfaces", pod.interfaces, read_interface, kMaxObjects);
}

void read_vf(Fields& fields, NodeStatus::Vf& vf) {
  fields.need("index", vf.index, {.min = 0, .max = 65535});
  fields.read("pci", vf.pci, kStatusText);
  fields.read("owner", vf.owner, kStatusText);
}

void read_pf(Fields& fields, NodeStatus::Pf& pf) {
  fields.read("pci", pf.pci, kStatusText);
  fields.read("name", pf.name, kStatusText);
  fields.each("vfs", pf.vfs, read_vf, kMaxObjects);
}

}  // namespace

Result<NodeStatus> node_from_status_json(std::string_view text) {
  if (text.size() > kMaxFile_bytes)
    return fail(Code::kInvalid, "{} bytes of JSON, at most {} are allowed", text.size(), kMaxFile_bytes);
  const doc::Value document = TRY(doc::read_object("", text).context("not a status report"));
  doc::Diagnostics found;
  Fields fields(document, "", doc::kNoFamily, found);
  NodeStatus node;
  fields.need("node", node.name, kStatusText);
  TRY(doc::first_error(found).hint("expected the output of `railbed status -o json`"));
  fields.each("pods", node.pods, read_pod, kMaxObjects);
  fields.each("pfs", node.pfs, read_pf, kMaxObjects);
  TRY(doc::first_error(found));
  return node;
}

}  // namespace railbed::report

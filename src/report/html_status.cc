// SPDX-License-Identifier: Apache-2.0
#include "perf/json.h"
#include "report/html.h"

namespace railbed::report {
namespace {

using perf::JsonObject;

constexpr size_t kMaxFile_bytes = size_t{64} << 20;
constexpr size_t kMaxEntries = 8192;
constexpr size_t kMaxText_bytes = 1024;

// Only what is there and fits counts: the status comes from another version, perhaps.
Result<std::string> optional_text(const JsonObject& object, std::string_view field) {
  if (!object.has(field)) return std::string();
  return object.text(field, kMaxText_bytes);
}

Result<std::vector<JsonObject>> optional_objects(const JsonObject& object, std::string_view field) {
  if (!object.has(field)) return std::vector<JsonObject>();
  return object.objects(field, kMaxEntries);
}

Result<NodeStatus::Interface> read_interface(const JsonObject& object) {
  NodeStatus::Interface interface;
  interface.name = TRY(optional_text(object, "name"));
  interface.network = TRY(optional_text(object, "network"));
  interface.vf = TRY(optional_text(object, "vf"));
  interface.pf = TRY(optional_text(object, "pf"));
  interface.rdma = TRY(optional_text(object, "rdma"));
  interface.rail = TRY(optional_text(object, "rail"));
  if (object.has("soft")) interface.soft = TRY(object.flag("soft"));
  if (object.has("addresses")) interface.addresses = TRY(object.texts("addresses", 64, kMaxText_bytes));
  return interface;
}

Result<NodeStatus::Pf> read_pf(const JsonObject& object) {
  NodeStatus::Pf pf;
  pf.pci = TRY(optional_text(object, "pci"));
  pf.name = TRY(optional_text(object, "name"));
  const auto vfs = TRY(optional_objects(object, "vfs"));
  for (const JsonObject& one : vfs) {
    NodeStatus::Vf vf;
    vf.index = static_cast<int>(TRY(one.integer("index", 0, 65535)));
    vf.pci = TRY(optional_text(one, "pci"));
    vf.owner = TRY(optional_text(one, "owner"));
    pf.vfs.push_back(std::move(vf));
  }
  return pf;
}

}  // namespace

Result<NodeStatus> node_from_status_json(std::string_view text) {
  const JsonObject document = TRY(JsonObject::parse(text, kMaxFile_bytes));
  NodeStatus node;
  node.name = TRY(document.text("node", kMaxText_bytes).hint("this should be the output of `railbed status -o json`"));
  const auto pods = TRY(optional_objects(document, "pods"));
  for (const JsonObject& object : pods) {
    NodeStatus::Pod pod;
    pod.name = TRY(optional_text(object, "name"));
    pod.space = TRY(optional_text(object, "namespace"));
    const auto interfaces = TRY(optional_objects(object, "interfaces"));
    for (const JsonObject& interface : interfaces) pod.interfaces.push_back(TRY(read_interface(interface)));
    node.pods.push_back(std::move(pod));
  }
  const auto pfs = TRY(optional_objects(document, "pfs"));
  for (const JsonObject& pf : pfs) node.pfs.push_back(TRY(read_pf(pf)));
  return node;
}

}  // namespace railbed::report

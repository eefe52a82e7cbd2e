// SPDX-License-Identifier: Apache-2.0
#include "agent/records/records.h"

#include "agent/records/meta_records.h"
#include "attach/json_fields.h"
#include "node/netns_name.h"

namespace railbed::agent {

state::Sandbox sandbox_of(const cni::Request& request) {
  std::string pod = request.pod();
  if (!pod.empty() && request.container_id == node::netns_name(pod)) return {pod, ""};
  return {pod, request.container_id};
}

Result<std::vector<std::string>> keys_of_container(state::Store& store, const cni::Request& request) {
  state::Sandbox likely = sandbox_of(request);
  if (!TRY(store.attachments_of(likely.key())).empty()) return std::vector{likely.key()};
  std::vector<std::string> keys = TRY(store.sandboxes_of(request.container_id));
  if (keys.empty()) keys.push_back(likely.key());
  return keys;
}

cni::AddResult result_of(const attach::InterfaceResult& made, const std::string& netns, cni::AddResult addresses) {
  cni::Interface interface{.name = made.interface, .mac = made.mac, .sandbox = netns, .mtu = made.mtu};
  if (made.device.has_value()) interface.pci_id = made.device->to_string();
  addresses.interfaces = {std::move(interface)};
  for (cni::Address& one : addresses.addresses) one.interface = 0;
  return addresses;
}

cni::AddResult merged(cni::AddResult previous, const attach::InterfaceResult& changed, const std::string& ifname) {
  for (cni::Interface& one : previous.interfaces) {
    if (one.name != ifname || one.sandbox.empty()) continue;
    if (!changed.mac.empty()) one.mac = changed.mac;
    if (changed.mtu > 0) one.mtu = changed.mtu;
  }
  return previous;
}

Result<void> add_addresses(Engine::Turn& turn, const ipam::Owner& owner, const std::string& netns,
                           const cni::AddResult& learned, attach::InterfaceResult& made) {
  std::unique_ptr<os::Netns> space = TRY(turn.kernel().netns().open(netns));
  std::unique_ptr<os::LinkPort> links = TRY(turn.kernel().netns().links(*space));
  const IfIndex link = TRY(links->find(IfName{owner.interface}, os::WithVfs::kNo)).index;
  auto unless_there = [](Result<void> done) {
    return !done.has_value() && done.error().code == Code::kConflict ? Result<void>{} : std::move(done);
  };
  for (const cni::Address& one : learned.addresses) {
    TRY(unless_there(links->add_address({link, one.address})));
    made.addresses.push_back(one.address);
    if (!made.gateway.has_value()) made.gateway = one.gateway;
  }
  for (const Route& one : learned.routes) {
    Route route = one;
    route.link = link;
    TRY(unless_there(links->add_route(route)));
    made.routes.push_back(route);
  }
  for (state::Attachment record : TRY(turn.store().attachments_of(owner.pod))) {
    if (record.interface != owner.interface) continue;
    record.result = attach::to_json(made);
    TRY(turn.store().put_attachment(record));
  }
  return {};
}

std::optional<HostLocalPlace> host_local_place(const cni::PluginConfig& config) {
  const doc::Value* ipam = config.object.find("ipam");
  if (ipam == nullptr || !ipam->is_object() || doc::text_in(*ipam, "type") != "host-local") return std::nullopt;
  return HostLocalPlace{doc::text_in(*ipam, "dataDir")};
}

Result<void> remember_pod(state::Store& store, const state::Sandbox& sandbox, const std::string& netns) {
  if (sandbox.pod.empty() || sandbox.container.empty()) return {};
  return store.put_pod({.pod = sandbox.key(), .netns = netns, .netns_name = "", .netns_ours = false});
}

Result<void> forget_pod_if_empty(state::Store& store, const std::string& key) {
  if (state::Sandbox::of_key(key).container.empty() || !TRY(store.attachments_of(key)).empty()) return {};
  return store.forget_pod(key);
}

Result<int> forget_empty_pods(state::Store& store) {
  int forgotten = 0;
  for (const state::PodRecord& pod : TRY(store.pods())) {
    if (state::Sandbox::of_key(pod.pod).container.empty() || !TRY(store.attachments_of(pod.pod)).empty() ||
        TRY(sandbox_note(store, pod.pod)).has_value())
      continue;
    TRY(store.forget_pod(pod.pod));
    ++forgotten;
  }
  return forgotten;
}

}  // namespace railbed::agent

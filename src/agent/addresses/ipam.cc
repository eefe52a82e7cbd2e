// SPDX-License-Identifier: Apache-2.0
#include "agent/addresses/ipam.h"

#include <algorithm>

#include "agent/addresses/address_notes.h"
#include "agent/addresses/addresses.h"
#include "agent/addresses/adopt.h"
#include "agent/addresses/dhcp.h"
#include "agent/addresses/host_local.h"
#include "agent/addresses/shared_ranges.h"
#include "agent/context/metrics.h"
#include "agent/records/records.h"
#include "attach/json_fields.h"

namespace railbed::agent {
namespace {

constexpr std::chrono::seconds kRequestTurnWait{30};
// A DHCP server may be behind a switch port that does not forward for the first half minute.
constexpr std::chrono::seconds kDhcpWait{60};

class IpamRequest {
 public:
  IpamRequest(Backends& backends, const cni::Request& request, const cni::PluginConfig& config)
      : backends_(backends), request_(request), config_(config) {
    const doc::Value* ipam = config.object.is_object() ? config.object.find("ipam") : nullptr;
    if (ipam != nullptr) ipam_ = *ipam;
    note_ = {config.network, request.container_id, request.ifname};
  }

  Result<std::string> run() {
    if (request_.command == cni::Command::kStatus) return status();
    TRY(check_type());
    if (request_.command == cni::Command::kGc) return gc();
    auto one_at_a_time = backends_.engine.container(request_.container_id);
    switch (request_.command) {
      case cni::Command::kAdd:
        return add();
      case cni::Command::kDel:
        return del();
      case cni::Command::kCheck:
        return check();
      default:
        return "";
    }
  }

 private:
  Result<void> check_type() const {
    const std::string reported = doc::text_in(ipam_, "type");
    if (reported == request_.type) return {};
    return cni::fail_with(cni::kInvalidConfig, fmt::format("network {} has ipam type \"{}\", but \"{}\" was called",
                                                           config_.network, reported, request_.type));
  }

  Result<std::string> status() {
    TRY(ranges_ready(backends_.engine, &ipam_, config_.network));
    return "";
  }

  Result<Engine::Turn> turn() { return backends_.engine.turn(kRequestTurnWait); }
  Result<Engine::Turn> waited_turn() {
    PhaseTimer timer(backends_, request_.type, Phase::kWait);
    return turn();
  }
  std::string data_dir() const { return doc::text_in(ipam_, "dataDir"); }

  Result<std::string> add() {
    ipam::Owner owner{sandbox_of(request_).key(), request_.ifname};
    if (request_.type == "dhcp") return add_dhcp(owner);
    std::optional<Engine::Turn> turn(TRY(waited_turn()));
    const std::string key = key_of(note_);
    const bool is_new = !TRY(turn->store().note(key)).has_value();
    TRY(turn->store().put_note(key, owner.pod));
    Result<Addresses> addresses = given(*turn, owner);
    const auto end = std::chrono::steady_clock::now() + kSupplyWait;
    for (int tried = 0; lacks_addresses(addresses) && tried < kSupplyTries; ++tried) {
      TRY(release_addresses(*turn, backends_.host_local, {owner}));
      turn.reset();
      const AddressSupply::Supplied more = supplied(owner, end);
      turn.emplace(TRY(waited_turn()));
      addresses = given(*turn, owner);
      if (!lacks_addresses(addresses) || !more.why_not.has_value()) continue;
      addresses = fail(*more.why_not);
      break;
    }
    if (addresses.has_value()) return cni::to_json(addresses->result, config_.version);
    if (is_new) {
      TRY(release_addresses(*turn, backends_.host_local, {owner}));
      TRY(turn->store().forget_note(key));
    }
    return fail(addresses.error());
  }

  bool lacks_addresses(const Result<Addresses>& addresses) const {
    return backends_.supply != nullptr && request_.type == "whereabouts" && !addresses.has_value() &&
           more_may_help(addresses.error());
  }

  AddressSupply::Supplied supplied(const ipam::Owner& owner, std::chrono::steady_clock::time_point end) {
    PhaseTimer timer(backends_, request_.type, Phase::kLease);
    std::vector<AddressNeed> needs;
    if (std::optional<AddressNeed> need = need_of(address_request(request_, config_, owner)))
      needs.push_back(*std::move(need));
    return backends_.supply->more(std::move(needs), end);
  }

  Result<Addresses> given(Engine::Turn& turn, const ipam::Owner& owner) {
    PhaseTimer timer(backends_, request_.type, Phase::kAddresses);
    Addresses addresses = TRY(addresses_for(turn, backends_.host_local, address_request(request_, config_, owner)));
    auto transaction = TRY(state::Transaction::begin(turn.store()));
    for (const ipam::Assigned& one : addresses.assigned)
      if (!one.pool.empty()) TRY(turn.store().put_lease({one.pool, one.address.address, owner.pod, owner.interface}));
    TRY(transaction.commit());
    return addresses;
  }

  Result<std::string> add_dhcp(const ipam::Owner& owner) {
    {
      Engine::Turn turn = TRY(waited_turn());
      TRY(turn.store().put_note(key_of(note_), owner.pod));
    }
    PhaseTimer timer(backends_, request_.type, Phase::kLease);
    Result<cni::AddResult> result = backends_.dhcp.acquire({.owner = owner,
                                                            .container_id = request_.container_id,
                                                            .network = config_.network,
                                                            .netns_path = request_.netns,
                                                            .ipam = ipam_,
                                                            .cni_args = request_.args},
                                                           backends_.engine.kernel().clock().now() + kDhcpWait);
    if (result.has_value()) return cni::to_json(*result, config_.version);
    return fail(result.error());
  }

  // The owner recorded under this container and interface; without a record, the one that this request implies.
  Result<ipam::Owner> owner(state::Store& store, const RequestNote& note) {
    std::optional<std::string> pod = TRY(store.note(key_of(note)));
    if (pod.has_value()) return ipam::Owner{*pod, note.ifname};
    if (note == note_) return ipam::Owner{sandbox_of(request_).key(), note.ifname};
    return ipam::Owner{state::Sandbox{"", note.container_id}.key(), note.ifname};
  }

  Result<void> release(const RequestNote& note) {
    ipam::Owner owner;
    {
      Engine::Turn turn = TRY(this->turn());
      owner = TRY(this->owner(turn.store(), note));
      TRY(release_addresses(turn, backends_.host_local, {owner}));
      TRY(release_adopted(turn, {note.container_id, state::Sandbox::of_key(owner.pod).pod, note.ifname}));
      if (request_.type == "host-local")
        TRY(backends_.host_local.release_foreign(turn, data_dir(), note.network, note.container_id, note.ifname));
    }
    if (request_.type == "dhcp") TRY(backends_.dhcp.release(owner));
    Engine::Turn turn = TRY(this->turn());
    return turn.store().forget_note(key_of(note));
  }

  Result<std::string> del() {
    TRY(release(note_));
    return "";
  }

  Result<std::string> check() {
    Engine::Turn turn = TRY(this->turn());
    ipam::Owner owner = TRY(this->owner(turn.store(), note_));
    if (request_.type == "dhcp") {
      {
        Engine::Turn over = std::move(turn);
      }
      TRY(backends_.dhcp.check(owner));
      return "";
    }
    if (request_.type == "static") return check_static(turn, owner);
    for (const state::AddressLease& lease : TRY(turn.store().leases_of(owner.pod)))
      if (lease.interface == owner.interface) return "";
    if (request_.type == "host-local")
      for (const HostLocal::Holder& one : TRY(backends_.host_local.holders(turn, data_dir(), config_.network)))
        if (one.container_id == request_.container_id && (one.ifname == request_.ifname || one.ifname.empty()))
          return "";
    return cni::fail_with(cni::kGone, fmt::format("network {}: no address is recorded for container {}, interface {}",
                                                  config_.network, request_.container_id, request_.ifname));
  }

  Result<std::string> check_static(Engine::Turn& turn, const ipam::Owner& owner) {
    if (!config_.previous.has_value()) return cni::fail_with(cni::kInvalidConfig, "CHECK requires prevResult");
    Addresses wanted = TRY(addresses_for(turn, backends_.host_local, address_request(request_, config_, owner)));
    for (const cni::Address& one : wanted.result.addresses)
      if (std::ranges::none_of(config_.previous->addresses,
                               [&](const cni::Address& is) { return is.address == one.address; }))
        return cni::fail_with(cni::kGone, fmt::format("network {}: address {} is no longer on interface {}",
                                                      config_.network, one.address, request_.ifname));
    return "";
  }

  Result<std::string> gc() {
    TRY(cni::require_valid_attachments(config_));
    std::vector<RequestNote> stale;
    {
      Engine::Turn turn = TRY(this->turn());
      for (const auto& [key, pod] : TRY(turn.store().notes(request_notes_of(config_.network))))
        if (auto note = request_note(key); note.has_value() && !is_valid(note->container_id, note->ifname))
          stale.push_back(*note);
      if (request_.type == "host-local")
        for (const HostLocal::Holder& one : TRY(backends_.host_local.holders(turn, data_dir(), config_.network)))
          if (!is_valid(one.container_id, one.ifname)) stale.push_back({config_.network, one.container_id, one.ifname});
    }
    for (const RequestNote& note : stale) TRY(release(note));
    return "";
  }

  bool is_valid(const std::string& container_id, const std::string& ifname) const {
    return std::ranges::any_of(config_.valid, [&](const cni::AttachmentId& one) {
      return one.container_id == container_id && (one.ifname == ifname || ifname.empty());
    });
  }

  Backends& backends_;
  const cni::Request& request_;
  const cni::PluginConfig& config_;
  doc::Value ipam_;
  RequestNote note_;
};

}  // namespace

Result<std::string> ipam_request(Backends& backends, const cni::Request& request, const cni::PluginConfig& config) {
  return IpamRequest(backends, request, config).run();
}

}  // namespace railbed::agent

// SPDX-License-Identifier: Apache-2.0
#include "agent/addresses/adopt.h"

#include <algorithm>
#include <set>

#include "agent/addresses/address_notes.h"
#include "agent/records/runtime_containers.h"
#include "attach/json_fields.h"
#include "base/number.h"
#include "doc/yaml.h"
#include "state/sandbox.h"

namespace railbed::agent {
namespace {

constexpr const char* kAdoptedAlready = "adopted-once ";

std::string placed_first_error(const doc::Diagnostics& diagnostics) {
  for (const doc::Diagnostic& one : diagnostics.all())
    if (one.severity == doc::Severity::kError)
      return fmt::format("{}{}", one.span.known() ? one.span.to_string() + ": " : "", one.message);
  return "";
}

// "10.0.0.0/24" as in the names of pools: "10.0.0.0-24"; in IPv6 ranges ':' becomes '-' as well.
std::string range_name(const std::string& range) {
  std::string name = range;
  for (char& c : name)
    if (c == '/' || c == ':') c = '-';
  return name;
}

// "[<network_name>-]<range>". A node's slice has the node's name in between, which cannot be recognized.
std::string pool_of(const std::string& name, const std::string& range) {
  api::IpamConfig config;
  config.type = api::IpamType::kWhereabouts;
  std::string end = range_name(range);
  if (name.size() > end.size() + 1 && name.ends_with("-" + end))
    config.network_name = name.substr(0, name.size() - end.size() - 1);
  return ipam::pool_of(config, "");
}

Result<void> read_pool(const doc::Value& object, std::vector<ForeignAllocation>& all) {
  const doc::Value* metadata = object.find("metadata");
  const doc::Value* spec = object.find("spec");
  if (metadata == nullptr || spec == nullptr || !spec->is_object())
    return fail(Code::kInvalid, "{}: an IPPool has metadata and spec", object.span.to_string());
  std::string name = doc::text_in(*metadata, "name");
  std::string range = doc::text_in(*spec, "range");
  IpPrefix prefix = TRY(IpPrefix::parse(range).context("{}: spec.range", spec->span.to_string()));
  const std::string pool = pool_of(name, range);
  const doc::Value* allocations = spec->find("allocations");
  if (allocations == nullptr || !allocations->is_object()) return {};
  for (const doc::Value::Member& one : *allocations->as_object()) {
    const std::optional<uint64_t> offset = whole_number<uint64_t>(one.key);
    std::optional<IpAddress> address = offset ? prefix.network().plus(*offset) : std::nullopt;
    if (!address.has_value() || !prefix.contains(*address))
      return fail(Code::kInvalid, "{}: \"{}\" is not an offset within {}", one.key_span.to_string(), one.key, range);
    if (!one.value.is_object()) return fail(Code::kInvalid, "{}: an allocation is an object", one.key_span.to_string());
    all.push_back({.pool = pool,
                   .address = *address,
                   .pod = doc::text_in(one.value, "podref"),
                   .container = doc::text_in(one.value, "id"),
                   .ifname = doc::text_in(one.value, "ifname")});
  }
  return {};
}

Result<void> read_object(const doc::Value& object, std::vector<ForeignAllocation>& all) {
  std::string kind = doc::text_in(object, "kind");
  if (kind == "IPPool" && doc::text_in(object, "apiVersion").starts_with("whereabouts.cni.cncf.io/"))
    return read_pool(object, all);
  const doc::Value* items = object.find("items");
  if (items != nullptr && items->is_array())
    for (const doc::Value& item : *items->as_array()) TRY(read_object(item, all));
  return {};
}

class PoolFiles : public ForeignAllocations {
 public:
  PoolFiles(const os::FileTree& files, std::string directory) : files_(files), directory_(std::move(directory)) {}

  Result<std::vector<ForeignAllocation>> all() override {
    std::vector<ForeignAllocation> all;
    for (const std::string& name : TRY(files_.list(directory_))) {
      if (!name.ends_with(".yaml") && !name.ends_with(".yml") && !name.ends_with(".json")) continue;
      const std::string path = directory_ + "/" + name;
      std::string text = TRY(files_.read(path));
      for (ForeignAllocation& one : TRY(read_pools(path, text))) all.push_back(std::move(one));
    }
    return all;
  }

 private:
  const os::FileTree& files_;
  std::string directory_;
};

ipam::Owner owner_of(const ForeignAllocation& one) {
  return {state::Sandbox{one.pod, one.container}.key(), one.ifname};
}

// A note that this allocation was taken over once: when it has been freed here, the same list does not bring it back.
std::string once_key(const ForeignAllocation& one) {
  return fmt::format("{}{} {} {} {}", kAdoptedAlready, one.pool, one.address, owner_of(one).pod, one.ifname);
}

Result<void> forget_owner(state::Store& store, const ipam::Owner& owner) {
  TRY(store.forget_leases(owner.pod, owner.interface));
  return store.forget_note(adopted_key(owner));
}

// Frees the allocations that were taken over and for which `ends` is true.
Result<int> free_those(Engine::Turn& turn,
                       const std::function<bool(const ipam::Owner&, const std::string& where)>& ends) {
  std::vector<ipam::Owner> gone;
  for (const auto& [key, where] : TRY(turn.store().notes(kAdoptedNotes)))
    if (auto owner = adopted_owner(key); owner.has_value() && ends(*owner, where)) gone.push_back(*std::move(owner));
  auto transaction = TRY(state::Transaction::begin(turn.store()));
  for (const ipam::Owner& owner : gone) TRY(forget_owner(turn.store(), owner));
  TRY(transaction.commit());
  for (const ipam::Owner& owner : gone) turn.addresses().release(owner);
  return static_cast<int>(gone.size());
}

}  // namespace

Result<std::vector<ForeignAllocation>> read_pools(const std::string& name, const std::string& text) {
  doc::Diagnostics diagnostics;
  auto source = std::make_shared<const doc::Source>(doc::Source{name, text});
  std::vector<doc::Value> documents = doc::parse_yaml(source, diagnostics);
  if (diagnostics.has_errors()) return fail(Code::kInvalid, "{}", placed_first_error(diagnostics));
  std::vector<ForeignAllocation> all;
  for (const doc::Value& one : documents)
    if (one.is_object()) TRY(read_object(one, all));
  return all;
}

std::unique_ptr<ForeignAllocations> pools_in_directory(const os::FileTree& files, std::string directory) {
  return std::make_unique<PoolFiles>(files, std::move(directory));
}

Result<Adopted> adopt(Engine::Turn& turn, ForeignAllocations& allocations, os::Disk& disk) {
  const std::vector<ForeignAllocation> all = TRY(allocations.all());
  const RuntimeContainers here = RuntimeContainers::look(disk);
  std::set<ipam::Owner> listed;
  std::set<std::string> listed_once;
  for (const ForeignAllocation& one : all) {
    listed.insert(owner_of(one));
    listed_once.insert(once_key(one));
  }
  Adopted adopted;
  adopted.freed = TRY(free_those(turn, [&](const ipam::Owner& owner, const std::string& where) {
    return where == kHere ? !here.knows(state::Sandbox::of_key(owner.pod).container) : !listed.contains(owner);
  }));
  state::Store& store = turn.store();
  auto transaction = TRY(state::Transaction::begin(store));
  for (const auto& [key, text] : TRY(store.notes(kAdoptedAlready)))
    if (!listed_once.contains(key)) TRY(store.forget_note(key));
  const std::vector<state::AddressLease> before = TRY(store.all_leases());
  std::vector<const ForeignAllocation*> taken;
  for (const ForeignAllocation& one : all) {
    if (TRY(store.note(once_key(one))).has_value()) continue;
    const ipam::Owner owner = owner_of(one);
    const state::AddressLease lease{one.pool, one.address, owner.pod, owner.interface};
    if (std::ranges::find(before, lease) != before.end()) continue;
    Result<void> put = store.put_lease(lease);
    if (!put.has_value() && put.error().code == Code::kConflict) {
      adopted.conflicts.push_back(put.error().message);
      continue;
    }
    TRY(std::move(put));
    const bool is_here = !one.container.empty() && here.knows(one.container);
    TRY(store.put_note(adopted_key(owner), is_here ? kHere : kElsewhere));
    TRY(store.put_note(once_key(one), ""));
    taken.push_back(&one);
  }
  TRY(transaction.commit());
  for (const ForeignAllocation* one : taken) turn.addresses().take(one->pool, one->address, owner_of(*one));
  adopted.taken = static_cast<int>(taken.size());
  return adopted;
}

Result<void> release_adopted(Engine::Turn& turn, const AdoptedOwner& gone) {
  TRY(free_those(turn, [&](const ipam::Owner& owner, const std::string&) {
    if (!owner.interface.empty() && owner.interface != gone.ifname) return false;
    const state::Sandbox sandbox = state::Sandbox::of_key(owner.pod);
    if (!sandbox.container.empty()) return sandbox.container == gone.container;
    return !gone.pod.empty() && sandbox.pod == gone.pod;
  }));
  return {};
}

Result<int> collect_adopted(Engine::Turn& turn, const std::function<bool(const std::string&)>& lives) {
  return free_those(turn, [&](const ipam::Owner& owner, const std::string& where) {
    return where == kHere && !lives(state::Sandbox::of_key(owner.pod).container);
  });
}

}  // namespace railbed::agent

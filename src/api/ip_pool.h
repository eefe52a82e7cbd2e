// SPDX-License-Identifier: Apache-2.0
// IPPool of whereabouts.cni.cncf.io/v1alpha1: which addresses of a range whereabouts has allocated to pods.
//
// Why: on nodes where whereabouts runs, it reads only these objects, so here railbed sees what whereabouts has
// allocated and reserves what it must not allocate. The key of an allocation is its distance from the address in
// `spec.range`. Like whereabouts, this reader ignores what cannot be read: a key that is not a number is not an
// allocation. Objects are changed in place, so that fields of newer versions are retained.
// Threading: plain values.
// Failure: read_ip_pool, Invalid with the object's name; whereabouts allocates nothing from such an object.
// Source: whereabouts' doc/crds and pkg/storage/kubernetes/ipam.go (0.9).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/ip.h"
#include "doc/value.h"

namespace railbed::api {

struct IpPoolAllocation {
  std::string id;       // of a container
  std::string pod_ref;  // "namespace/name"
  friend bool operator==(const IpPoolAllocation&, const IpPoolAllocation&) = default;
};

struct IpPool {
  std::string ns;
  std::string name;
  IpPrefix range;
  std::map<uint64_t, IpPoolAllocation> allocations;  // by distance from range.address

  IpRange addresses() const { return {range.network(), range.last()}; }
};
Result<IpPool> read_ip_pool(const doc::Value& object);

// The name of the pool of a range, as whereabouts makes it.
std::string ip_pool_name(std::string_view network_name, const IpPrefix& range);

// The other way; nullopt: the pool is of no name that whereabouts makes.
std::optional<std::string> network_name_of(const IpPool& pool);

struct IpPoolChange {
  std::map<uint64_t, IpPoolAllocation> put;
  std::set<uint64_t> drop;
  bool empty() const { return put.empty() && drop.empty(); }
  friend bool operator==(const IpPoolChange&, const IpPoolChange&) = default;
};
void apply_change(doc::Value& object, const IpPoolChange& change);
// A new object without allocations.
doc::Value new_ip_pool(const std::string& ns, const std::string& network_name, const IpPrefix& range);

}  // namespace railbed::api

// SPDX-License-Identifier: Apache-2.0
#include "ipam/assign.h"

#include "ipam/choose.h"
#include "ipam/range_search.h"

namespace railbed::ipam {
namespace {

// For one machine that plans for all: every range as a whole.
class Whole : public BlockSource {
 public:
  Result<std::vector<IpRange>> blocks(const std::string&, const api::IpamRange& range) override {
    return std::vector<IpRange>{range.addresses};
  }
};

}  // namespace

std::unique_ptr<BlockSource> whole_ranges() {
  return std::make_unique<Whole>();
}

Taken taken_by(const std::vector<state::AddressLease>& leases) {
  Taken taken;
  for (const state::AddressLease& lease : leases)
    taken[lease.pool].emplace(lease.address, Owner{lease.pod, lease.interface});
  return taken;
}

std::string pool_of(const api::IpamConfig& config, const std::string& network) {
  switch (config.type) {
    case api::IpamType::kHostLocal:
      return "host-local:" + network;
    case api::IpamType::kWhereabouts:
      return config.network_name.empty() ? "whereabouts" : "whereabouts:" + config.network_name;
    default:
      return "";
  }
}

Result<std::vector<Assigned>> assign(const api::IpamConfig& config, const std::string& network, const Taken& taken,
                                     const std::vector<std::string>& requested, const Owner& owner) {
  static const std::map<IpAddress, Owner> kNone;
  auto found = taken.find(pool_of(config, network));
  Whole whole;
  return choose(config, network, TakenMap(found == taken.end() ? kNone : found->second), whole, requested, owner);
}

}  // namespace railbed::ipam

// SPDX-License-Identifier: Apache-2.0
#include "plan/vf_identity.h"

#include <algorithm>

namespace railbed::plan {
namespace {

// FNV-1a, then the finaliser of splitmix64, which spreads neighbouring inputs (ports of one card differ by 1).
class Hash {
 public:
  void add(uint8_t byte) {
    state_ ^= byte;
    state_ *= 0x100000001b3U;
  }
  void add(std::string_view text) {
    for (char c : text) add(static_cast<uint8_t>(c));
    add(uint8_t{0});
  }
  uint64_t value() const {
    uint64_t x = state_;
    x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31U);
  }

 private:
  uint64_t state_ = 0xcbf29ce484222325U;
};

constexpr int kIndexBits = 10;
static_assert(kMaxVfs == 1 << kIndexBits);

uint64_t index_bits(VfIndex vf) {
  return static_cast<uint64_t>(vf.value) & (kMaxVfs - 1);
}

bool add_hardware_address(Hash& hash, const facts::Nic& nic) {
  for (const facts::RdmaDevice& rdma : nic.rdma)
    for (const facts::RdmaPort& port : rdma.ports)
      if (!rdma.soft && nic.link_type == facts::LinkType::kInfiniband && port.port_guid && !port.port_guid->is_zero()) {
        hash.add(port.port_guid->to_string());
        return true;
      }
  for (const facts::NetInterface& netdev : nic.netdevs) {
    if (netdev.ipoib && !netdev.ipoib->port_guid.is_zero()) {
      hash.add(netdev.ipoib->port_guid.to_string());
      return true;
    }
    if (netdev.mac && !netdev.mac->is_zero()) {
      hash.add(netdev.mac->to_string());
      return true;
    }
  }
  return false;
}

}  // namespace

PfIdentity::PfIdentity(std::string_view node, const facts::Nic& nic) {
  Hash hash;
  if (!add_hardware_address(hash, nic)) hash.add(node);
  hash.add(nic.pci.address.to_string());
  seed_ = hash.value();
}

MacAddress PfIdentity::vf_mac(VfIndex vf) const {
  // 36 bits of the PF and 10 of the index; the two low bits of the first byte mark a local, unicast address.
  const uint64_t bits = (seed_ >> 28U) << kIndexBits | index_bits(vf);
  MacAddress mac;
  mac.bytes[0] = static_cast<uint8_t>((bits >> 40U) << 2U | 0x02U);
  for (size_t i = 1; i < 6; ++i) mac.bytes[i] = static_cast<uint8_t>(bits >> (8 * (5 - i)));
  return mac;
}

Guid PfIdentity::vf_guid(VfIndex vf) const {
  const uint64_t bits = (seed_ >> 18U) << kIndexBits | index_bits(vf);
  return Guid{uint64_t{0x02} << 56U | bits};
}

std::optional<PciAddress> vf_address(const facts::Nic& nic, VfIndex vf) {
  const auto at = static_cast<size_t>(vf.value);
  if (at < nic.vfs.size() && nic.vfs[at].index == vf) return nic.vfs[at].pci.address;
  auto found = std::ranges::find(nic.vfs, vf, &facts::Vf::index);
  if (found != nic.vfs.end()) return found->pci.address;
  if (!nic.vf_offset || !nic.vf_stride) return std::nullopt;
  return nic.pci.address.plus(*nic.vf_offset + static_cast<uint32_t>(vf.value) * *nic.vf_stride);
}

}  // namespace railbed::plan

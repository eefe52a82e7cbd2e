// SPDX-License-Identifier: Apache-2.0
// The blocks that the state records for this node.
//
// Why: in a cluster nodes share a range, and each allocates only what was leased to it; the component that leases
// blocks fills the table and need not know how addresses are chosen. host-local's ranges belong to each node alone, as
// with the original, so they are used whole.
// Threading: the store's.
// Failure: the store's.
#pragma once

#include "ipam/allocator.h"
#include "state/store.h"

namespace railbed::ipam {

// What may be handed out from a range in which this node has no block.
enum class WithoutBlocks : uint8_t {
  kNothing,     // in a cluster: other nodes hand out its addresses
  kWholeRange,  // a machine that is alone
};

class StoredBlocks : public BlockSource {
 public:
  StoredBlocks(state::Store& store, WithoutBlocks without) : store_(store), without_(without) {}
  Result<std::vector<IpRange>> blocks(const std::string& pool, const api::IpamRange& range) override;

 private:
  state::Store& store_;
  WithoutBlocks without_;
};

}  // namespace railbed::ipam

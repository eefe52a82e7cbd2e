// SPDX-License-Identifier: Apache-2.0
#include "state/store.h"

#include <set>

#include "state/sandbox.h"

namespace railbed::state {

Result<std::vector<std::string>> Store::sandboxes_of(const std::string& container) {
  std::set<std::string> keys;
  for (const Attachment& one : TRY(attachments()))
    if (Sandbox::of_key(one.pod).container == container) keys.insert(one.pod);
  return std::vector(keys.begin(), keys.end());
}

Error lease_taken(const AddressLease& holder) {
  return Error{.code = Code::kConflict,
               .message = fmt::format("address {} of pool {} belongs to pod {}, interface {}", holder.address,
                                      holder.pool, holder.pod, holder.interface)};
}

}  // namespace railbed::state

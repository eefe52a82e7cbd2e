// SPDX-License-Identifier: Apache-2.0
// Posts work requests of a queue pair: with ibv_wr_… if it was created for that, else with ibv_post_send.
//
// Why: with the work request API a driver writes a request directly into its queue, without a list to walk and an
// opcode to look up; drivers without it have ibv_post_send. The choice was made when the queue pair was created
// (device.h), and is in the result.
// Threading: that of the queue pair.
// Failure: an errno, as of ibv_post_send; then none of the chain may count as posted.
// Source: ibv_wr_post(3), ibv_post_send(3).
#pragma once

#include <infiniband/verbs.h>

namespace railbed::perf {

int post_by_work_requests(ibv_qp_ex* pair, const ibv_send_wr* first);

// `api`: null for a queue pair without it.
inline int post_chain(ibv_qp* pair, ibv_qp_ex* api, ibv_send_wr* first) {
  if (api != nullptr) return post_by_work_requests(api, first);
  ibv_send_wr* refused = nullptr;
  return ibv_post_send(pair, first, &refused);
}

// The operations that a queue pair must have for a verb of this opcode; 0: the API has none for it.
uint64_t send_operations_of(ibv_wr_opcode opcode);

}  // namespace railbed::perf

// SPDX-License-Identifier: Apache-2.0
#include "perf/stream/post.h"

#include <cerrno>

namespace railbed::perf {
namespace {

bool begin(ibv_qp_ex* pair, const ibv_send_wr& one) {
  switch (one.opcode) {
    case IBV_WR_RDMA_WRITE:
      ibv_wr_rdma_write(pair, one.wr.rdma.rkey, one.wr.rdma.remote_addr);
      return true;
    case IBV_WR_RDMA_WRITE_WITH_IMM:
      ibv_wr_rdma_write_imm(pair, one.wr.rdma.rkey, one.wr.rdma.remote_addr, one.imm_data);
      return true;
    case IBV_WR_RDMA_READ:
      ibv_wr_rdma_read(pair, one.wr.rdma.rkey, one.wr.rdma.remote_addr);
      return true;
    case IBV_WR_ATOMIC_FETCH_AND_ADD:
      ibv_wr_atomic_fetch_add(pair, one.wr.atomic.rkey, one.wr.atomic.remote_addr, one.wr.atomic.compare_add);
      return true;
    case IBV_WR_SEND:
      ibv_wr_send(pair);
      return true;
    case IBV_WR_SEND_WITH_IMM:
      ibv_wr_send_imm(pair, one.imm_data);
      return true;
    default:
      return false;
  }
}

}  // namespace

int post_by_work_requests(ibv_qp_ex* pair, const ibv_send_wr* first) {
  ibv_wr_start(pair);
  for (const ibv_send_wr* one = first; one != nullptr; one = one->next) {
    pair->wr_id = one->wr_id;
    // With IBV_SEND_INLINE, which the API does not ask for: rxe's provider does not set it by itself, and its kernel
    // part then takes the data for a list of pieces.
    pair->wr_flags = one->send_flags;
    if (!begin(pair, *one)) {
      ibv_wr_abort(pair);
      return EOPNOTSUPP;
    }
    if (pair->qp_base.qp_type == IBV_QPT_UD)
      ibv_wr_set_ud_addr(pair, one->wr.ud.ah, one->wr.ud.remote_qpn, one->wr.ud.remote_qkey);
    const ibv_sge& piece = *one->sg_list;
    if ((one->send_flags & IBV_SEND_INLINE) != 0)
      ibv_wr_set_inline_data(pair, reinterpret_cast<void*>(piece.addr), piece.length);
    else
      ibv_wr_set_sge(pair, piece.lkey, piece.addr, piece.length);
  }
  return ibv_wr_complete(pair);
}

uint64_t send_operations_of(ibv_wr_opcode opcode) {
  switch (opcode) {
    case IBV_WR_RDMA_WRITE:
      return IBV_QP_EX_WITH_RDMA_WRITE;
    case IBV_WR_RDMA_WRITE_WITH_IMM:
      return IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM;
    case IBV_WR_RDMA_READ:
      return IBV_QP_EX_WITH_RDMA_READ;
    case IBV_WR_ATOMIC_FETCH_AND_ADD:
      return IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD;
    case IBV_WR_SEND:
      return IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM;  // a ping of datagrams has its number beside it
    default:
      return 0;
  }
}

}  // namespace railbed::perf

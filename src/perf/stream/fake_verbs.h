// SPDX-License-Identifier: Apache-2.0
// For tests: RDMA devices in memory.
//
// Why: rdma_link.cc and the loops over it move bytes with verbs, and a machine without an RDMA device cannot run them.
// fake_verbs_test.cc defines the functions of libibverbs that this library calls, which replace the real ones: a
// message is carried out immediately between two queue pairs of this process. A message without a matching receive
// waits for it, a datagram is lost.
// Threading: all functions from any thread, under the mutex.
#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <infiniband/verbs.h>

#include "perf/clock.h"

namespace railbed::perf {

struct FakePort {
  ibv_port_state state = IBV_PORT_ACTIVE;
  bool is_infiniband = false;
  uint16_t lid = 0;
  ibv_mtu mtu = IBV_MTU_1024;
};
struct FakeDevice {
  std::string name;
  std::vector<FakePort> ports{FakePort{}};
  std::vector<ibv_gid_entry> gids;
  uint32_t most_inline = UINT32_MAX;
  uint32_t least_inline = 0;                // granted where less was asked for
  std::chrono::microseconds post_takes{0};  // of this clock
  Clock* clock = &real_clock();
  int64_t takes_every = 1;  // only each so many-th post takes that long
  int64_t posts = 0;
  int reads_sent = 16;  // as requester, per queue pair
  int reads_answered = 8;
  bool has_atomics = true;
  bool has_thread_domains = false;
  bool has_work_requests = false;  // ibv_wr_…
  int most_thread_domains = 1000;
  std::vector<uint16_t> pkeys{0xffff};
};

// A function fails from its `after`-th call on, counted from 0.
struct Fault {
  int sys_errno = 0;
  int after = 0;
};

struct FakeVerbs {
  std::recursive_mutex mutex;
  std::vector<FakeDevice> devices;
  std::map<std::string, Fault> faults;  // by function
  ibv_wc_status completes_with = IBV_WC_SUCCESS;
  bool completes = true;  // false: no write ever ends
  bool library_missing = false;
  bool has_device_clock = false;  // completions can be stamped
  bool records = true;            // false: `posted` stays empty, for tests that last
  // What was asked.
  struct Modified {
    uint32_t qp = 0;
    ibv_qp_attr attributes{};
    int mask = 0;
  };
  std::vector<Modified> modified;
  struct Posted {
    uint32_t qp = 0;
    uint64_t offset = 0;  // in the region of the peer
    uint32_t bytes = 0;
    unsigned flags = 0;
    bool first = false;  // of a chain
    ibv_wr_opcode opcode = IBV_WR_RDMA_WRITE;
    bool by_work_request = false;
    friend bool operator==(const Posted&, const Posted&) = default;
  };
  std::vector<Posted> posted;
  std::map<uint32_t, std::set<std::thread::id>> posted_by;  // the threads that used a queue pair
  std::vector<bool> in_thread_domains;                      // queue pairs, as they were made
  struct Registered {
    uint64_t bytes = 0;
    unsigned access = 0;
  };
  std::vector<Registered> registered;
  std::vector<ibv_ah_attr> ways;  // of address handles
  int lost_datagrams_every = 0;   // 0: none is lost
  int64_t datagrams = 0;
  int64_t flips_byte_of_reads = -1;  // damages what is read there
  std::vector<ibv_qp_init_attr> queue_pairs;
  std::vector<int> completion_queues;  // entries
  int open_objects = 0;
};

FakeVerbs& fake();

}  // namespace railbed::perf

// SPDX-License-Identifier: Apache-2.0
// Attachments and addresses as they are in the state file, in memory.
//
// Why: the process that holds the store's lock is the only one that writes, so what it has read once stays
// true. Attaching a pod looks at them several times; from the file each look costs more than a system call to
// move an interface. Knowing what a row says also lets a write change only what differs. Threading: none of
// its own; the store serialises. Failure: none.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "state/store.h"

namespace railbed::state {

struct KeptRows {
  struct Row {
    int64_t number = 0;  // its key in the file
    Attachment attachment;
  };
  std::vector<Row> attachments;  // in the order in which they were first put
  std::map<std::pair<std::string, IpAddress>, AddressLease> leases;

  // Null when there is none.
  Row* find(const std::string& pod, const std::string& interface) {
    for (Row& row : attachments)
      if (row.attachment.interface == interface && row.attachment.pod == pod) return &row;
    return nullptr;
  }
};

// Whether the two differ in how far they have come only: status and result.
inline bool only_progress(const Attachment& before, Attachment after) {
  after.status = before.status;
  after.result = before.result;
  return before == after;
}

}  // namespace railbed::state

// SPDX-License-Identifier: Apache-2.0
// Any bytes as a record on disk: no crash, and whatever is accepted as a program can be looked up and undone, or is
// refused then.
#include <cstdlib>

#include "agent/durable_records.h"
#include "agent/records/exec_records.h"

using namespace railbed;  // NOLINT

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto record = agent::read_durable_record({reinterpret_cast<const char*>(data), size});
  if (!record.has_value()) {
    if (record.error().message.empty()) std::abort();
    return 0;
  }
  if (!record->program.has_value()) {
    if (record->directory.empty()) std::abort();
    return 0;
  }
  if (record->program->record.pod.empty() || !agent::is_of_program(record->program->record)) std::abort();
  (void)agent::execution_of(record->program->record, cni::Command::kDel);
  return 0;
}

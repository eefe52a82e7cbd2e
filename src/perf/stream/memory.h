// SPDX-License-Identifier: Apache-2.0
// The memory for measurements: ordinary pages, huge pages, or a GPU's.
//
// Why: a fabric for training moves data in GPUs, and address translation of small pages can be what limits a NIC. All
// kinds are requested and reported in the same way. Pages are populated immediately, on the NUMA node of the requesting
// thread.
// Threading: one owner.
// Failure: what is missing here, and what to do.
// Source: mmap(2), madvise(2); CUDA Driver API, 6.14 (cuMemGetHandleForAddressRange).
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "base/error.h"
#include "perf/test_spec.h"

namespace railbed::perf {

inline constexpr size_t kHugePage_bytes = size_t{2} << 20;

class Memory {
 public:
  virtual ~Memory() = default;
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  std::byte* data() const { return data_; }
  size_t bytes() const { return bytes_; }
  const std::string& text() const { return text_; }  // "host", "GPU 0 (NVIDIA H200) by DMA-BUF"
  // The file by which a device registers it; -1: by its address.
  int dma_buf() const { return dma_buf_; }

 protected:
  Memory() = default;
  std::byte* data_ = nullptr;
  size_t bytes_ = 0;
  std::string text_;
  int dma_buf_ = -1;
};

// What `bytes` of this memory take of the machine's.
int64_t host_bytes(const MemoryChoice& choice, int64_t bytes);

Result<std::unique_ptr<Memory>> get_memory(const MemoryChoice& choice, size_t bytes);

}  // namespace railbed::perf

// SPDX-License-Identifier: Apache-2.0
#include "perf/stream/memory.h"

#include <cerrno>

#include <sys/mman.h>

#include "base/command.h"
#include "perf/stream/gpu_memory.h"

namespace railbed::perf {
namespace {

#ifndef MADV_POPULATE_WRITE
constexpr int MADV_POPULATE_WRITE = 23;
#endif
constexpr int kPagesOf2MiB = 21 << 26;  // MAP_HUGE_2MB, which only a kernel header has

class Pages final : public Memory {
 public:
  static Result<std::unique_ptr<Memory>> get(size_t bytes) {
    void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (at == MAP_FAILED) return fail(system_error(errno, fmt::format("getting {} bytes of memory", bytes)));
    return std::unique_ptr<Memory>(new Pages(at, bytes, kHostMemory));
  }

  // Filled by a call of its own: where a container may have no more huge pages, touching one ends the process.
  static Result<std::unique_ptr<Memory>> get_huge(size_t bytes) {
    const size_t whole = (bytes + kHugePage_bytes - 1) / kHugePage_bytes * kHugePage_bytes;
    const auto failed = [&](int sys_errno) {
      Error error = system_error(sys_errno, fmt::format("getting {} huge pages of 2 MiB", whole / kHugePage_bytes));
      error.hint = fmt::format("reserve them with `{}` or more (pods: hugepages-2Mi), or measure with --memory host",
                               Command{"sysctl"}.option("vm.nr_hugepages", std::to_string(whole / kHugePage_bytes)));
      return error;
    };
    void* at =
        mmap(nullptr, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | kPagesOf2MiB, -1, 0);
    if (at == MAP_FAILED) return fail(failed(errno));
    std::unique_ptr<Memory> pages(new Pages(at, whole, "huge pages of 2 MiB"));
    if (madvise(at, whole, MADV_POPULATE_WRITE) != 0) return fail(failed(errno));
    return pages;
  }

  ~Pages() override { munmap(data_, bytes_); }

 private:
  Pages(void* at, size_t bytes, const char* text) {
    data_ = static_cast<std::byte*>(at);
    bytes_ = bytes;
    text_ = text;
  }
};

}  // namespace

int64_t host_bytes(const MemoryChoice& choice, int64_t bytes) {
  if (choice.kind == MemoryKind::kGpu) return 0;
  if (choice.kind == MemoryKind::kPages) return bytes;
  constexpr auto kPage = static_cast<int64_t>(kHugePage_bytes);
  return (bytes + kPage - 1) / kPage * kPage;
}

Result<std::unique_ptr<Memory>> get_memory(const MemoryChoice& choice, size_t bytes) {
  if (choice.kind == MemoryKind::kPages) return Pages::get(bytes);
  if (choice.kind == MemoryKind::kHugePages) return Pages::get_huge(bytes);
  return get_gpu_memory(TRY(load_cuda()), static_cast<int>(choice.gpu), bytes);
}

}  // namespace railbed::perf

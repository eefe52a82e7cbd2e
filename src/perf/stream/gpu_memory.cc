// SPDX-License-Identifier: Apache-2.0
#include "perf/stream/gpu_memory.h"

#include <dlfcn.h>
#include <unistd.h>

namespace railbed::perf {
namespace {

constexpr const char* kCudaLibrary = "libcuda.so.1";
constexpr const char* kHint = "measure the memory of the machine with --memory host";
constexpr int kDmaBufSupported = 124;  // CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED
constexpr int kDmaBufFile = 1;         // CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD
// Smaller allocations share such a block with others, and a file is made of whole pages.
constexpr size_t kBlock_bytes = size_t{2} << 20;

Error not_here(const std::string& why) {
  return {.code = Code::kUnsupported, .message = "GPU memory is not available here: " + why, .hint = kHint};
}

Result<Cuda> found_cuda() {
  void* library = ::dlopen(kCudaLibrary, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* why = ::dlerror();
    return fail(
        not_here(fmt::format("{} (in a pod it comes with the GPU resource)", why != nullptr ? why : kCudaLibrary)));
  }
  Cuda cuda;
  const char* missing = nullptr;
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, name));
    if (function == nullptr) missing = name;
  };
  find(cuda.init, "cuInit");
  find(cuda.device_count, "cuDeviceGetCount");
  find(cuda.device, "cuDeviceGet");
  find(cuda.device_name, "cuDeviceGetName");
  find(cuda.device_attribute, "cuDeviceGetAttribute");
  find(cuda.retain_context, "cuDevicePrimaryCtxRetain");
  find(cuda.release_context, "cuDevicePrimaryCtxRelease_v2");
  find(cuda.push_context, "cuCtxPushCurrent_v2");
  find(cuda.pop_context, "cuCtxPopCurrent_v2");
  find(cuda.allocate, "cuMemAlloc_v2");
  find(cuda.free, "cuMemFree_v2");
  find(cuda.range_handle, "cuMemGetHandleForAddressRange");
  find(cuda.error_text, "cuGetErrorString");
  if (missing != nullptr)
    return fail(not_here(fmt::format("{} has no {}; DMA-BUF came with CUDA 11.7", kCudaLibrary, missing)));
  return cuda;
}

class GpuMemory final : public Memory {
 public:
  explicit GpuMemory(const Cuda* cuda) : cuda_(cuda) {}

  Result<void> get(int gpu, size_t bytes) {
    TRY(did(cuda_->init(0), "starting the driver"));
    int count = 0;
    TRY(did(cuda_->device_count(&count), "counting the GPUs"));
    if (gpu >= count) return fail(not_here(fmt::format("GPU {} not found; this machine has {}", gpu, count)));
    TRY(did(cuda_->device(&device_, gpu), "finding the GPU"));
    char name[128] = "";
    TRY(did(cuda_->device_name(name, sizeof name - 1, device_), "reading its name"));
    int has_dma_buf = 0;
    TRY(did(cuda_->device_attribute(&has_dma_buf, kDmaBufSupported, device_), "asking for DMA-BUF"));
    if (has_dma_buf == 0)
      return fail(
          not_here(fmt::format("GPU {} ({}) has no DMA-BUF: it needs NVIDIA's open kernel modules", gpu, name)));
    TRY(did(cuda_->retain_context(&context_, device_), "taking the GPU's context"));
    bytes_ = (bytes + kBlock_bytes - 1) / kBlock_bytes * kBlock_bytes;
    TRY(in_context([&] { return allocate(); }));
    data_ = reinterpret_cast<std::byte*>(address_);
    text_ = fmt::format("GPU {} ({}) by DMA-BUF", gpu, name);
    return {};
  }

  ~GpuMemory() override {
    if (dma_buf_ >= 0) close(dma_buf_);
    if (address_ != 0) (void)in_context([&] { return did(cuda_->free(address_), "freeing"); });
    if (context_ != nullptr) cuda_->release_context(device_);
  }

 private:
  Result<void> allocate() {
    TRY(did(cuda_->allocate(&address_, bytes_), fmt::format("allocating {} bytes", bytes_)));
    if (address_ % static_cast<Cuda::Address>(sysconf(_SC_PAGESIZE)) != 0)
      return fail(not_here("its allocations are not page-aligned, as a DMA-BUF requires"));
    return did(cuda_->range_handle(&dma_buf_, address_, bytes_, kDmaBufFile, 0), "making a DMA-BUF of the memory");
  }
  Result<void> did(Cuda::Status status, const std::string& what) const {
    if (status == 0) return {};
    const char* text = nullptr;
    cuda_->error_text(status, &text);
    return fail(not_here(fmt::format("{}: {} (CUDA error {})", what, text != nullptr ? text : "unknown", status)));
  }
  template <typename Work>
  Result<void> in_context(const Work& work) const {
    TRY(did(cuda_->push_context(context_), "using the GPU's context"));
    auto done = work();
    CudaContext* popped = nullptr;
    cuda_->pop_context(&popped);
    return done;
  }

  const Cuda* cuda_;
  Cuda::Device device_ = 0;
  CudaContext* context_ = nullptr;
  Cuda::Address address_ = 0;
};

}  // namespace

Result<const Cuda*> load_cuda() {
  static const Result<Cuda> library = found_cuda();
  if (!library) return fail(Error(library.error()));
  return &*library;
}

Result<std::unique_ptr<Memory>> get_gpu_memory(const Cuda* cuda, int gpu, size_t bytes) {
  auto memory = std::make_unique<GpuMemory>(cuda);
  TRY(memory->get(gpu, bytes));
  return std::unique_ptr<Memory>(std::move(memory));
}

}  // namespace railbed::perf

// SPDX-License-Identifier: Apache-2.0
// GPU memory as a file (DMA-BUF) that an RDMA device can register: GPUDirect RDMA without an additional kernel module.
//
// Why: libcuda is installed with the driver and only on machines with GPUs, so it is loaded by name when GPU memory is
// requested, and its functions are declared here according to its ABI. Tests pass their own functions.
// Threading: one thread per object: the GPU's context is current in the calling thread during a call.
// Failure: Unsupported with the reason if there is no driver, no such GPU, or no DMA-BUF support.
// Source: CUDA Driver API 12, cuda.h: CUDA_VERSION 11070 was the first with cuMemGetHandleForAddressRange.
#pragma once

#include <cstddef>
#include <memory>

#include "perf/stream/memory.h"

namespace railbed::perf {

struct CudaContext;

struct Cuda {
  using Status = int;                  // CUresult: 0 is success
  using Device = int;                  // CUdevice
  using Address = unsigned long long;  // CUdeviceptr
  Status (*init)(unsigned flags) = nullptr;
  Status (*device_count)(int* count) = nullptr;
  Status (*device)(Device* device, int number) = nullptr;
  Status (*device_name)(char* name, int size, Device device) = nullptr;
  Status (*device_attribute)(int* value, int attribute, Device device) = nullptr;
  Status (*retain_context)(CudaContext** context, Device device) = nullptr;
  Status (*release_context)(Device device) = nullptr;
  Status (*push_context)(CudaContext* context) = nullptr;
  Status (*pop_context)(CudaContext** context) = nullptr;
  Status (*allocate)(Address* address, size_t bytes) = nullptr;
  Status (*free)(Address address) = nullptr;
  Status (*range_handle)(void* handle, Address address, size_t bytes, int type, unsigned long long flags) = nullptr;
  Status (*error_text)(Status status, const char** text) = nullptr;
};

// libcuda.so.1, loaded at the first call.
Result<const Cuda*> load_cuda();

// `cuda` outlives the memory.
Result<std::unique_ptr<Memory>> get_gpu_memory(const Cuda* cuda, int gpu, size_t bytes);

}  // namespace railbed::perf

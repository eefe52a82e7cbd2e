// SPDX-License-Identifier: Apache-2.0
// Memory to measure with: pages, and a GPU whose driver is played.
#include "perf/stream/memory.h"

#include <cstring>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "perf/stream/gpu_memory.h"

namespace railbed::perf {
namespace {

TEST(Memory, OfTheMachineIsZeroedAndReported) {
  const auto memory = get_memory({}, 12345);
  ASSERT_TRUE(memory) << memory.error().to_string();
  EXPECT_EQ((*memory)->text(), "host");
  EXPECT_EQ((*memory)->bytes(), 12345u);
  EXPECT_EQ((*memory)->dma_buf(), -1);
  for (size_t i = 0; i < 12345; ++i) ASSERT_EQ((*memory)->data()[i], std::byte{0});
}

TEST(Memory, TakesWholeHugePagesOfTheMachine) {
  EXPECT_EQ(host_bytes({}, 5000), 5000);
  EXPECT_EQ(host_bytes({.kind = MemoryKind::kHugePages}, 5000), 2 << 20);
  EXPECT_EQ(host_bytes({.kind = MemoryKind::kHugePages}, (2 << 20) + 1), 4 << 20);
  EXPECT_EQ(host_bytes({.kind = MemoryKind::kGpu}, 5000), 0);
  // More than any machine has reserved: a refusal with the way out, and no signal.
  const auto memory = get_memory({.kind = MemoryKind::kHugePages}, size_t{1} << 46);
  ASSERT_FALSE(memory);
  EXPECT_EQ(memory.error().to_string(),
            "getting 33554432 huge pages of 2 MiB: ENOMEM (Cannot allocate memory)\n  reserve them with `sysctl "
            "vm.nr_hugepages=33554432` or more (pods: hugepages-2Mi), or measure with --memory host");
}

// A driver of CUDA, in memory. One at a time.
struct FakeCuda {
  int gpus = 2;
  int has_dma_buf = 1;
  std::string failing;
  std::string log;
  int file = -1;
  alignas(4096) std::byte block[4096];
};
FakeCuda* played = nullptr;

Cuda::Status call(const char* name) {
  played->log += std::string(name) + " ";
  return played->failing == name ? 801 : 0;
}

const Cuda kPlayed = {
    .init = [](unsigned) { return call("init"); },
    .device_count =
        [](int* count) {
          *count = played->gpus;
          return call("count");
        },
    .device =
        [](Cuda::Device* device, int number) {
          *device = number;
          return call("device");
        },
    .device_name =
        [](char* name, int size, Cuda::Device) {
          std::strncpy(name, "NVIDIA H200", static_cast<size_t>(size));
          return call("name");
        },
    .device_attribute =
        [](int* value, int attribute, Cuda::Device) {
          EXPECT_EQ(attribute, 124);
          *value = played->has_dma_buf;
          return call("attribute");
        },
    .retain_context =
        [](CudaContext** context, Cuda::Device) {
          *context = reinterpret_cast<CudaContext*>(played);
          return call("retain");
        },
    .release_context = [](Cuda::Device) { return call("release"); },
    .push_context = [](CudaContext*) { return call("push"); },
    .pop_context = [](CudaContext**) { return call("pop"); },
    .allocate =
        [](Cuda::Address* address, size_t bytes) {
          EXPECT_EQ(bytes, size_t{2} << 20);
          const Cuda::Status status = call("allocate");
          if (status == 0) *address = reinterpret_cast<Cuda::Address>(played->block);
          return status;
        },
    .free = [](Cuda::Address) { return call("free"); },
    .range_handle =
        [](void* handle, Cuda::Address, size_t, int type, unsigned long long) {
          EXPECT_EQ(type, 1);
          const Cuda::Status status = call("handle");
          if (status == 0) *static_cast<int*>(handle) = played->file = open("/dev/null", O_RDONLY | O_CLOEXEC);
          return status;
        },
    .error_text =
        [](Cuda::Status, const char** text) {
          *text = "operation not supported";
          return 0;
        },
};

TEST(GpuMemory, IsAFileThatADeviceCanRegister) {
  FakeCuda cuda;
  played = &cuda;
  {
    const auto memory = get_gpu_memory(&kPlayed, 1, 5000);
    ASSERT_TRUE(memory) << memory.error().to_string();
    EXPECT_EQ((*memory)->text(), "GPU 1 (NVIDIA H200) by DMA-BUF");
    EXPECT_EQ((*memory)->dma_buf(), cuda.file);
    EXPECT_EQ((*memory)->data(), cuda.block);
    EXPECT_EQ(cuda.log, "init count device name attribute retain push allocate handle pop ");
    cuda.log.clear();
  }
  EXPECT_EQ(cuda.log, "push free pop release ");
  EXPECT_EQ(fcntl(cuda.file, F_GETFD), -1) << "the file is still open";
}

TEST(GpuMemory, SaysWhyThereIsNone) {
  const std::string hint = "\n  measure the memory of the machine with --memory host";
  const auto why_not = [&](FakeCuda cuda, int gpu = 0) {
    played = &cuda;
    const auto memory = get_gpu_memory(&kPlayed, gpu, 5000);
    // What was taken was given back.
    EXPECT_EQ(cuda.log.find("retain") != std::string::npos && cuda.failing != "retain",
              cuda.log.find("release") != std::string::npos)
        << cuda.log;
    return memory ? "there" : memory.error().to_string();
  };
  const auto failed = [&](const char* name) {
    FakeCuda cuda;
    cuda.failing = name;
    return why_not(cuda);
  };
  const std::string none = "GPU memory is not available here: ";
  const std::string code = ": operation not supported (CUDA error 801)" + hint;
  EXPECT_EQ(why_not({}, 2), none + "GPU 2 not found; this machine has 2" + hint);
  FakeCuda closed;
  closed.has_dma_buf = 0;
  EXPECT_EQ(why_not(closed), none + "GPU 0 (NVIDIA H200) has no DMA-BUF: it needs NVIDIA's open kernel modules" + hint);
  EXPECT_EQ(failed("init"), none + "starting the driver" + code);
  EXPECT_EQ(failed("allocate"), none + "allocating 2097152 bytes" + code);
  EXPECT_EQ(failed("handle"), none + "making a DMA-BUF of the memory" + code);
}

// Where there is a driver this is no test of it.
TEST(GpuMemory, NeedsTheDriver) {
  const auto memory = get_memory({.kind = MemoryKind::kGpu}, 4096);
  if (memory) GTEST_SKIP() << "a GPU is here";
  EXPECT_TRUE(memory.error().message.starts_with("GPU memory is not available here: ")) << memory.error().to_string();
}

}  // namespace
}  // namespace railbed::perf

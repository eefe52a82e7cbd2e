// SPDX-License-Identifier: Apache-2.0
#include "facts/gpu_vendors.h"

#include <algorithm>

#include "base/well_known.h"

namespace railbed::facts {
namespace {

// It has rdma-core and perftest (ib_write_bw, rping, ibv_devices); NVIDIA's own examples of SR-IOV networks use it.
constexpr std::string_view kDocaImage = "nvcr.io/nvidia/doca/doca:3.1.0-full-rt-host";
// Of no vendor: the tools are one `apt-get install perftest rdma-core` away.
constexpr std::string_view kNeutralImage = "docker.io/library/debian:12";

// The pod network serves only for the start-up, and rings stay on their rail.
constexpr GpuVariable kNvidia[] = {
    {"NCCL_SOCKET_IFNAME", "eth0"},
    {"NCCL_CROSS_NIC", "0"},
    {"UCX_TLS", "rc,cuda_copy,cuda_ipc,sm,self"},
    {"NVSHMEM_REMOTE_TRANSPORT", "ibrc"},
    {"NVSHMEM_BOOTSTRAP_UID_SOCK_IFNAME", "eth0"},
    {"NVSHMEM_ENABLE_NIC_PE_MAPPING", "1"},
};
constexpr GpuVariable kAmd[] = {
    {"NCCL_SOCKET_IFNAME", "eth0"},
    {"NCCL_CROSS_NIC", "0"},
    {"UCX_TLS", "rc,rocm_copy,rocm_ipc,sm,self"},
};
constexpr GpuVariable kGaudi[] = {
    {"HCCL_SOCKET_IFNAME", "eth0"},
    {"UCX_TLS", "rc,sm,self"},
};
constexpr GpuVariable kIntel[] = {
    {"UCX_TLS", "rc,ze_copy,ze_ipc,sm,self"},
};

constexpr GpuVendor kGpuVendors[] = {
    {"10de", "NVIDIA", kNvidiaGpuResource, "cuda_copy,cuda_ipc", kNvidia, kDocaImage},
    {"1002", "AMD", "amd.com/gpu", "rocm_copy,rocm_ipc", kAmd, kNeutralImage},
    {"1da3", "Intel Gaudi", "habana.ai/gaudi", "", kGaudi, kNeutralImage},
    {"8086", "Intel", "gpu.intel.com/xe", "ze_copy,ze_ipc", kIntel, kNeutralImage},
};

}  // namespace

std::span<const GpuVendor> gpu_vendors() {
  return kGpuVendors;
}

const GpuVendor* gpu_vendor_by_pci(std::string_view pci_vendor) {
  const auto found = std::ranges::find(kGpuVendors, pci_vendor, &GpuVendor::pci_vendor);
  return found == std::end(kGpuVendors) ? nullptr : found;
}

const GpuVendor& gpu_vendor_of(const NodeFacts& node) {
  const GpuVendor* vendor = node.gpus.empty() ? nullptr : gpu_vendor_by_pci(node.gpus.front().pci.vendor);
  return vendor == nullptr ? kGpuVendors[0] : *vendor;
}

}  // namespace railbed::facts

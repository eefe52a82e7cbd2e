// SPDX-License-Identifier: Apache-2.0
// What a pod needs for the GPUs of each vendor: the extended resource, UCX's transports, variables, an image for tests.
//
// Why: `generate` writes pods and `check` judges them. With one table a pod that one of them writes for AMD's GPUs is
// not NVIDIA's in the eyes of the other. A new vendor is one row.
// Threading: constants and pure functions.
// Failure: none; null for a vendor that no row has.
// Source: the device plugins of the vendors; UCX, "ucx_info -d" (rocm_copy, ze_copy); RCCL reads NCCL's variables.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "facts/node_facts.h"

namespace railbed::facts {

struct GpuVariable {
  std::string_view name;
  std::string_view value;
};

struct GpuVendor {
  std::string_view pci_vendor;  // "10de"
  std::string_view name;        // "NVIDIA"
  std::string_view resource;    // of a whole GPU: "nvidia.com/gpu"
  std::string_view transports;  // UCX's for its memory, with commas; empty: UCX has none
  // What its collective library and others cannot find out by themselves in a pod with several rails.
  std::span<const GpuVariable> environment;
  std::string_view image;  // of test pods, where the user names none
};

// The rows; the first is the one for nodes without GPUs.
std::span<const GpuVendor> gpu_vendors();
const GpuVendor* gpu_vendor_by_pci(std::string_view pci_vendor);
// Of the node's first GPU; the first row for a node without GPUs, or with GPUs of a vendor that no row has.
const GpuVendor& gpu_vendor_of(const NodeFacts& node);

}  // namespace railbed::facts

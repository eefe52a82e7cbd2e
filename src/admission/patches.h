// SPDX-License-Identifier: Apache-2.0
// The changes that give a pod what its networks need, and nothing else.
//
// Why: who may write a definition or an annotation would otherwise write into others' pods. So the changes are a closed
// list: requests and limits of devices, labels of nodes, one volume with the pod's own labels, annotations and huge
// pages, its mounts, and the variable CONTAINER_NAME. Never an image, a command, a security context, a service account,
// a host path or the host's network; a property test and a fuzzer say so.
// Threading: pure functions over values.
// Failure: none for patches_for(); inject() answers with a refusal.
// Spec: the volume podnetinfo of the network resources injector.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "admission/needs.h"
#include "admission/review.h"
#include "doc/value.h"

namespace railbed::admission {

inline constexpr std::string_view kPodInfoVolume = "podnetinfo";
inline constexpr std::string_view kPodInfoPath = "/etc/podnetinfo";

// A request that suffices stays as it is, and then no volume is added. Requests of init containers do not count: their
// devices are given to the other containers only if those request them.
std::vector<Patch> patches_for(const doc::Value& pod, const PodNeeds& needs);

// Addresses that interfaces have or that node states reserve: "MAC 02:00:00:00:00:09", "GUID 0200:0000:0000:0009", and
// the kind of the object that has it ("Pod"). Which object, its neighbours need not know.
using Identities = std::map<std::string, std::string, std::less<>>;

// The answer to a pod.
Answer inject(const Review& review, const Networks& networks, const Identities& identities);

}  // namespace railbed::admission

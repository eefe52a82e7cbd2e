// SPDX-License-Identifier: Apache-2.0
// VFs that pods have under another name of a resource than the one under which the node offers them now.
//
// Why: names change with the prefix that the operator says, or with the resourceName or the VFs of a policy, while pods
// run. The kubelet counts names, not VFs. So a VF that a pod has under a former name must not be allocated under the
// present one, and must stay registered under the former name until the pod ends: a kubelet that starts again refuses
// pods whose devices it does not find healthy under the name that they requested. What was offered under which name is
// therefore kept in the state, and while a VF has two names the kubelet is asked which pod has it.
// Threading: pure functions.
// Failure: none.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kubelet/device_offers.h"

namespace railbed::agent {

// VFs by the name under which they are, or were, offered: "openshift.io/rail0".
using VfsByName = std::map<std::string, std::set<PciAddress>>;

// Of what was offered before, the VFs that have another name in `devices`.
VfsByName renamed_vfs(const VfsByName& before, const kubelet::NodeDevices& devices);
// Of those, what pods have, by the kubelet.
VfsByName held_by_pods(const VfsByName& renamed, const kubelet::AllocatedVfs& allocated);

// Adds `held` to what is offered: under the former names nothing of it is given to further pods, and under the present
// ones it is taken. `pods` may lack VFs.
void add_former_names(const VfsByName& held, const plan::InUse& pods, kubelet::NodeDevices& devices);

// What is to be known at the next change of names: what is offered now, what pods still have under former names, and of
// what was offered before the VFs that exist and that no policy has now. `devices` has `held` already.
VfsByName names_to_keep(const VfsByName& before, const VfsByName& held, const kubelet::NodeDevices& devices);
// What was offered by an agent, or another device plugin, that kept no names here: the same VFs, all with this prefix.
VfsByName names_with_prefix(std::string_view prefix, const kubelet::NodeDevices& devices);

// A line for each former name, for people. `devices` has `held` already.
std::vector<std::string> lines_about(const VfsByName& held, const plan::InUse& pods,
                                     const kubelet::NodeDevices& devices);

}  // namespace railbed::agent

// SPDX-License-Identifier: Apache-2.0
// Which interface a record refers to.
//
// Why: names and hardware addresses prove nothing. A pod with CAP_NET_ADMIN can change both, also on an interface that
// it created itself, and an interface that is mistaken for railbed's is moved into the host's namespace, changed or
// removed. A pod cannot forge what the kernel decides. In the namespace whose cookie is recorded these are:
//
//   hardware            the PCI device; on other buses the device there, and the permanent address
//   veth                its peer: the number of that (IFLA_LINK) and of that one's namespace (IFLA_LINK_NETNSID). An
//                       interface has one peer, so there is no second one with the same
//   macvlan, ipvlan, …  its own number, and the interface below it with that one's namespace
//   dummy, bridge, …    its own number; nothing ties it to anything outside
//
// They are recorded as the pod's namespace showed them when the interface had arrived (InPod). Records without them,
// those of unfinished attachments and of earlier versions, are compared by kind and hardware address, or number and
// name.
// Threading: pure.
// Failure: none.
#pragma once

#include <string>

#include "attach/record.h"

namespace railbed::attach {

InPod seen_in_pod(const os::Link& link);

// Whether `link`, in the pod's namespace, is the recorded interface, which is called `interface` there.
bool is_same_link(const os::Link& link, const Before& before, const std::string& interface);

// The same in a namespace that the pod has made and moved it to, under a name and a number of the pod's choice. The pod
// can hide one without hardware from this, too, by another address or group.
bool is_that_elsewhere(const os::Link& link, const Before& before);

// The same in the host's namespace, where nothing is forged: what came back may have got another number.
bool is_that_at_home(const os::Link& link, const Before& before, const std::string& interface);

}  // namespace railbed::attach

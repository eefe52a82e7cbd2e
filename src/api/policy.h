// SPDX-License-Identifier: Apache-2.0
// SriovNetworkNodePolicy: fields and rules of the operator's CRD and of its admission webhook, as far as they concern a
// single policy.
#pragma once

#include <optional>

#include "api/objects.h"
#include "doc/diagnostic.h"

namespace railbed::api {

// "ens1f0" or "ens1f0#2-7".
Result<PfName> parse_pf_name(std::string_view text);

// "eth" or "ib" in any case; anything else is kAny.
WantedLinkType parse_link_type(std::string_view text);

// Of an object that was compared with its schema (compare.h).
SriovNetworkNodePolicy read_policy(const doc::Value& object, doc::Diagnostics& out);
// Compared and read; nothing when the policy has errors.
std::optional<SriovNetworkNodePolicy> parse_policy(const doc::Value& object, doc::Diagnostics& diagnostics);

}  // namespace railbed::api

// SPDX-License-Identifier: Apache-2.0
// One range of an `ipam` block: host-local's subnet/rangeStart/rangeEnd, whereabouts'
// range/range_start/range_end.
//
// Threading: pure functions. Failure: diagnostics through the reader of the object; nothing is returned then.
#pragma once

#include <optional>

#include "api/ipam.h"
#include "doc/fields.h"

namespace railbed::api {

std::optional<IpAddress> parse_address(doc::Fields& fields, const doc::Field<std::string>& text, std::string_view key);
std::optional<IpPrefix> parse_prefix(doc::Fields& fields, const doc::Field<std::string>& text, std::string_view key);
// The address in the field `key`; nothing where it is absent or empty.
std::optional<IpAddress> read_address(doc::Fields& fields, std::string_view key);

std::optional<IpamRange> read_range(doc::Fields& fields, const doc::Value& object, IpamType type);
// Excludes the gateway from the range; for host-local also the implied one, where none is written.
void exclude_gateway(IpamRange& range, IpamType type);

}  // namespace railbed::api

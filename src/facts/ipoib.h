// SPDX-License-Identifier: Apache-2.0
// The 20-byte hardware address of an IPoIB interface, decoded (RFC 4391 9.1.1).
//
// Threading: pure functions.
// Failure: absent for addresses of another length.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "facts/node_facts.h"

namespace railbed::facts {

std::optional<IpoibAddress> parse_ipoib_address(std::span<const uint8_t> bytes);

// "00:00:00:6c:fe:80:…": as `ip link` prints it.
std::string to_string(const IpoibAddress& address);

}  // namespace railbed::facts

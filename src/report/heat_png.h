// SPDX-License-Identifier: Apache-2.0
// A heat map as a PNG of 16 colours.
//
// Why PNG: it works without script and on paper, scales with sharp edges, and four bits per cell keep 512 hosts on
// eight rails below 1.5 MB as base64. It is stored without compression, which needs no library and whose size does not
// depend on how noisy a fabric is.
// Threading: pure.
// Failure: none.
// Spec: PNG (Third Edition) 5, 11.2; RFC 1950, 1951.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace railbed::report {

using Palette = std::array<uint32_t, 16>;  // 0xRRGGBB; the first one is shown as transparent
// `cells` has side * side values below 16. `side` is 1 to 65535.
std::string heat_png(const std::vector<uint8_t>& cells, uint32_t side, const Palette& palette);

}  // namespace railbed::report

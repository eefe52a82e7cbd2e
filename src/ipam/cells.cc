// SPDX-License-Identifier: Apache-2.0
#include "ipam/cells.h"

#include <algorithm>
#include <bit>

#include "ipam/range_search.h"

namespace railbed::ipam {
namespace {

using api::CellOffsets;
using api::kCellSize;
using api::kWholeCell;

IpRange range_of(const IpAddress& base) {
  IpAddress last = base;
  last.bytes[static_cast<size_t>(last.byte_count()) - 1] |= kCellSize - 1;
  return {base, last};
}

// The cells in which an interface may get an address, as an ordered list that is never written out: a range of IPv6 has
// 2^60 of them.
class Cells {
 public:
  explicit Cells(const CellWant& want) {
    for (const api::IpamRange& range : want.ranges)
      for (const IpRange& part : usable_parts(range, want.gateways, {range.addresses}))
        runs_.push_back({cell_of(part.first), range_of(cell_of(part.last)).last});
    runs_ = merged(std::move(runs_));
    for (const IpRange& run : runs_) count_ += std::min(count_in(run), UINT64_MAX - count_);
  }

  uint64_t count() const { return count_; }
  IpAddress at(uint64_t index) const {
    for (const IpRange& run : runs_) {
      const uint64_t count = count_in(run);
      if (index < count) return *run.first.plus(index * kCellSize);
      index -= count;
    }
    return runs_.back().first;
  }

 private:
  // Of a run of more than 2^64 addresses, the cells at its beginning.
  static uint64_t count_in(const IpRange& run) { return run.size() / kCellSize; }

  std::vector<IpRange> runs_;
  uint64_t count_ = 0;
};

CellOffsets in_map(const CellMap& map, const IpAddress& base) {
  const auto found = map.find(base);
  return found != map.end() ? found->second : CellOffsets{0};
}

CellOffsets lowest(CellOffsets offsets, uint64_t count) {
  CellOffsets out = 0;
  for (unsigned bits = offsets; bits != 0 && count > 0; --count) {
    const unsigned bit = bits & -bits;
    out = static_cast<CellOffsets>(out | bit);
    bits ^= bit;
  }
  return out;
}

}  // namespace

IpAddress cell_of(const IpAddress& address) {
  IpAddress base = address;
  base.bytes[static_cast<size_t>(base.byte_count()) - 1] &= static_cast<uint8_t>(~(kCellSize - 1));
  return base;
}

CellOffsets offsets_in(const std::vector<IpRange>& ranges, const IpAddress& base) {
  CellOffsets out = 0;
  const IpRange whole = range_of(base);
  for (const IpRange& range : ranges) {
    if (range.first.family != base.family || range.last < whole.first || whole.last < range.first) continue;
    const uint64_t first = *std::max(range.first, whole.first).minus(base);
    const uint64_t last = *std::min(range.last, whole.last).minus(base);
    for (uint64_t i = first; i <= last; ++i) out = static_cast<CellOffsets>(out | 1U << i);
  }
  return out;
}

std::vector<IpRange> ranges_of(const IpAddress& base, CellOffsets offsets) {
  std::vector<IpRange> out;
  for (uint64_t i = 0; i < kCellSize; ++i) {
    if ((offsets >> i & 1U) == 0) continue;
    const IpAddress address = *base.plus(i);
    if (i > 0 && (offsets >> (i - 1) & 1U) != 0)
      out.back().last = address;
    else
      out.push_back({address, address});
  }
  return out;
}

std::vector<CellWant> wants_of(const api::IpamConfig& config, uint64_t addresses) {
  std::vector<CellWant> out;
  for (const auto& set : config.range_sets)
    out.push_back(
        {.network_name = config.network_name, .ranges = set, .gateways = gateways_of(config), .addresses = addresses});
  return out;
}

CellOffsets usable_offsets(const CellWant& want, const IpAddress& base) {
  CellOffsets out = 0;
  for (const api::IpamRange& range : want.ranges)
    out |= offsets_in(usable_parts(range, want.gateways, {range_of(base)}), base);
  return out;
}

uint64_t usable_of(const CellWant& want, const CellMap& mine) {
  uint64_t count = 0;
  for (const auto& [base, offsets] : mine)
    count += static_cast<uint64_t>(std::popcount(static_cast<CellOffsets>(offsets & usable_offsets(want, base))));
  return count;
}

std::optional<CellChoice> next_cell(const CellWant& want, const CellSearch& search) {
  const uint64_t have = usable_of(want, search.mine);
  const Cells cells(want);
  if (have >= want.addresses || cells.count() == 0) return std::nullopt;
  const uint64_t start = search.start % cells.count();
  // Each step past a cell is one that somebody has.
  const uint64_t steps = std::min(cells.count(), search.mine.size() + search.taken.size() + 1);
  const auto each = [&](const auto& visit) -> std::optional<CellChoice> {
    for (uint64_t i = 0; i < steps; ++i) {
      const uint64_t index = i < cells.count() - start ? start + i : i - (cells.count() - start);
      const IpAddress base = cells.at(index);
      if (const CellOffsets offsets = visit(base); offsets != 0) return CellChoice{base, offsets};
    }
    return std::nullopt;
  };
  if (cells.count() >= search.nodes)
    if (auto whole = each([&](const IpAddress& base) {
          return in_map(search.taken, base) == 0 && in_map(search.mine, base) == 0 ? kWholeCell : CellOffsets{0};
        }))
      return whole;
  return each([&](const IpAddress& base) {
    const CellOffsets held = in_map(search.taken, base) | in_map(search.mine, base);
    return lowest(static_cast<CellOffsets>(usable_offsets(want, base) & ~held), want.addresses - have);
  });
}

std::vector<CellChoice> left_over(const std::vector<CellWant>& wants, const CellMap& mine, const CellMap& leased,
                                  uint64_t nodes) {
  std::vector<uint64_t> have;
  bool tight = false;
  for (const CellWant& want : wants) {
    have.push_back(usable_of(want, mine));
    tight = tight || Cells(want).count() < nodes;
  }
  // Whether the wants can do without these, which are given up then.
  const auto give_up = [&](const IpAddress& base, CellOffsets offsets) {
    std::vector<uint64_t> after = have;
    for (size_t i = 0; i < wants.size(); ++i) {
      const auto lost = static_cast<CellOffsets>(usable_offsets(wants[i], base) & offsets);
      after[i] -= static_cast<uint64_t>(std::popcount(lost));
      if (lost != 0 && after[i] < wants[i].addresses) return false;
    }
    have = std::move(after);
    return true;
  };
  std::vector<CellChoice> out;
  for (const auto& [base, offsets] : mine) {
    const auto unused = static_cast<CellOffsets>(offsets & ~in_map(leased, base));
    if (unused == offsets && give_up(base, offsets)) {
      out.push_back({base, offsets});
      continue;
    }
    if (offsets == kWholeCell && !tight) continue;
    CellOffsets given = 0;
    for (int i = static_cast<int>(kCellSize) - 1; i >= 0; --i) {
      const auto one = static_cast<CellOffsets>(unused & 1U << i);
      if (one != 0 && give_up(base, one)) given |= one;
    }
    if (given != 0) out.push_back({base, given});
  }
  return out;
}

}  // namespace railbed::ipam

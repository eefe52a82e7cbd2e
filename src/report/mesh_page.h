// SPDX-License-Identifier: Apache-2.0
// What the report shows of a mesh: outliers and their reasons, a heat map per rail, the worst pairs.
//
// Why a value between analysis and page: 512 hosts with 8 rails are a million pairs; the page has room for four bits of
// each, for the worst fifty in words, and for the NICs that are outliers. These are selected here, over the values of
// perf/mesh, and can be tested; the page only draws.
// Threading: pure.
// Failure: none.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "perf/mesh/analysis.h"
#include "perf/mesh/outliers.h"
#include "perf/mesh/results.h"

namespace railbed::report {

// A cell of a heat map: the bandwidth from one host to another over what is usual on the rail.
inline constexpr uint8_t kCellUnknown = 0;
inline constexpr uint8_t kCellFailed = 1;  // not reached, or with outages
inline constexpr uint8_t kCellWorst = 2;   // up to kCellUsual in steps of kCellSteps
inline constexpr uint8_t kCellUsual = 15;
// The lower ends of kCellWorst + 1 and so on.
inline constexpr double kCellSteps[] = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.94, 0.96, 0.98};

struct HeatMap {
  std::string rail;
  std::vector<uint8_t> cells;  // side * side; a row sends, a column receives
};

struct MeshRailRow {
  std::string rail;
  uint32_t nics = 0, leaves = 0, suspects = 0;
  std::optional<double> send_gbps, receive_gbps, p50_us, p99_us;  // usual on this rail
};

struct MeshNicRow {
  std::string host, rail, leaf;
  std::optional<double> send_gbps, receive_gbps, p50_us, p99_us;          // medians over its partners
  std::optional<double> send_share, receive_share, p50_share, p99_share;  // of what is usual
  uint32_t tried = 0, bad = 0;
};

struct MeshPairRow {
  std::string first, second;  // "host rail"
  bool failed = false;
  uint32_t outages = 0;
  std::optional<double> forward_gbps, reverse_gbps, p50_us, p99_us;
  double share = 1;  // of what is usual: of its bandwidth, or the inverse for its latency; the worse one
};

struct MeshPage {
  std::vector<std::string> coverage;  // what was measured, and what was not
  std::vector<std::string> findings;  // outliers with their evidence, in columns; or that nothing stands out
  bool clean = false;                 // nothing stands out, and nothing is missing
  std::vector<MeshRailRow> rails;
  std::vector<MeshNicRow> stragglers;  // the worst first
  size_t all_stragglers = 0;
  std::vector<MeshPairRow> worst;  // the worst first
  uint32_t side = 0;               // of the heat maps
  uint32_t hosts_per_cell = 1;     // of more hosts than fit: a cell is the worst of their pairs
  std::vector<std::string> hosts;  // in the order of rows and columns: by leaf, as far as leaves are known
  std::vector<HeatMap> maps;
};

inline constexpr size_t kWorstPairs = 50;
// Heat maps of all rails together have at most so many cells.
inline constexpr size_t kMostCells = size_t{8} * 512 * 512;

// `findings`: outlier_lines(), with what else is to be reported of the run.
MeshPage mesh_page(const perf::mesh::MeshResults& results, const perf::mesh::Analysis& analysis,
                   std::vector<std::string> findings, bool clean);

}  // namespace railbed::report

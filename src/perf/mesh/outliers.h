// SPDX-License-Identifier: Apache-2.0
// From suspected NICs to the part to repair: a NIC, a host, a leaf or a rail, with the evidence, and a second pass.
//
// Why: sixteen slow NICs on one leaf are one fault, and replacing NICs there loses a day. A leaf, host or rail is named
// if most of its NICs are suspected; the one that explains the most comes first. The second pass measures the suspects
// again against known good NICs, on the same leaf and on others: this distinguishes a bad NIC from a bad partner, and a
// leaf's uplinks from what is below it. Without leaves in the fabric there are no outliers on leaves. A leaf whose NICs
// are all of one host cannot be distinguished from the host, which is named then; a rail with one leaf cannot be
// distinguished from the leaf, which is named.
// Threading: pure.
// Failure: none.
#pragma once

#include <string>
#include <vector>

#include "perf/mesh/analysis.h"

namespace railbed::perf::mesh {

enum class Scope : uint8_t { kNic, kHost, kLeaf, kRail };
std::string_view name_of(Scope scope);  // "NIC", "host", "leaf", "rail"

enum class Symptom : uint8_t { kSlowSend, kSlowReceive, kSlowLatency, kSlowTail, kOutages, kUnreachable };
std::string_view name_of(Symptom symptom);  // "sends slowly", …

// What one symptom rests on. Figures are the median of the NICs that show it.
struct SymptomFigures {
  Symptom symptom = Symptom::kSlowSend;
  double measured = 0;  // Gb/s, us; for outages the share of bad pairs
  double usual = 0;     // the same of the rail; 0 for outages
  uint32_t nics = 0;    // that show it
  uint32_t of_nics = 0;
  friend bool operator==(const SymptomFigures&, const SymptomFigures&) = default;
};

// What the second pass saw: pairs with known-good partners, and those of them that were bad.
struct RetestCount {
  uint32_t pairs = 0;
  uint32_t bad = 0;
  friend bool operator==(const RetestCount&, const RetestCount&) = default;
};

enum class RetestOutcome : uint8_t { kNotRetested, kConfirmed, kNotReproduced };

struct Outlier {
  Scope scope = Scope::kNic;
  Nic nic;            // kNic; of a host or a rail the one number that counts
  uint32_t leaf = 0;  // kLeaf
  std::vector<Nic> suspects;
  std::vector<SymptomFigures> evidence;  // by symptom, those that most of the suspects show
  RetestCount within_leaf;               // also where leaves are not known
  RetestCount between_leaves;
  RetestOutcome retest = RetestOutcome::kNotRetested;

  friend bool operator==(const Outlier&, const Outlier&) = default;
};

// The largest first.
std::vector<Outlier> find_outliers(const Fabric& fabric, const Analysis& analysis, const Limits& limits);

// Rounds in which a NIC has one partner at most, for a coordinator to execute.
struct RetestPair {
  Nic suspect;
  Nic partner;  // of the same rail
  friend auto operator<=>(const RetestPair&, const RetestPair&) = default;
};
struct SecondPass {
  std::vector<std::vector<RetestPair>> rounds;
  std::vector<Nic> without_partner;  // no NIC of their rail is known to be good
};
struct SecondPassSize {
  uint32_t suspects = 8;  // of each outlier
  uint32_t partners = 3;  // of each suspect on its leaf, and as many on others
};
SecondPass plan_second_pass(const Fabric& fabric, const Analysis& analysis, const std::vector<Outlier>& outliers,
                            SecondPassSize size = {});

struct Retest {
  RetestPair pair;
  PairResult result;  // the suspect is the first
};
// Puts the retests into the outliers whose suspects they measured. What is slow and was not slow again is not
// reproduced; outages that did not come again prove nothing, so such an outlier is not retested.
void conclude(const Fabric& fabric, const Analysis& analysis, const std::vector<Retest>& retests,
              std::vector<Outlier>& outliers);

}  // namespace railbed::perf::mesh

// SPDX-License-Identifier: Apache-2.0
// Whether the status of a node state is written now, later or not at all.
//
// Why: a thousand nodes write to one etcd, and every watcher of node states is notified of each write. So a node writes
// only what differs from what is stored, at most every ten seconds; a changed syncStatus, which users wait for, is
// written immediately. A definition that the SR-IOV operator installed prunes railbed's keys: the comparison then uses
// what the API server returned for railbed's own write, so that nothing is written repeatedly.
// Threading: a value of one thread.
// Failure: none; a failed write counts as one for the pause.
#pragma once

#include <optional>
#include <string>

#include "doc/value.h"
#include "kube/clock.h"

namespace railbed::agent {

inline constexpr kube::milliseconds kStatusPause{10'000};

class NodeStatusPace {
 public:
  struct Wanted {
    std::string uid;  // of the node state
    doc::Value status;
  };
  // When `wanted` is to be written; nothing where it is stored already. `stored` is the status as the API server had it
  // last, which may be older than the last write by less than kStatusPause.
  std::optional<kube::Instant> due(const Wanted& wanted, const doc::Value& stored, kube::Instant now) const;

  // `answer`: the status that the API server made of it.
  void wrote(const Wanted& wanted, const doc::Value& answer, kube::Instant now);
  void failed(kube::Instant now);

 private:
  std::optional<Wanted> written_;
  doc::Value answer_;  // of written_, its keys only
  std::optional<kube::Instant> last_;
  bool last_failed_ = false;
};

// The same for an annotation. Its changes are few, and the operator waits for them: they are written immediately.
class DrainReportPace {
 public:
  struct Wanted {
    std::string uid;   // of the node state
    std::string text;  // empty: no annotation
    friend bool operator==(const Wanted&, const Wanted&) = default;
  };
  // As NodeStatusPace::due(); `stored` is the annotation.
  std::optional<kube::Instant> due(const Wanted& wanted, const std::string& stored, kube::Instant now) const;

  // `answer`: the annotation that the API server made of it.
  void wrote(const Wanted& wanted, std::string answer, kube::Instant now);
  void failed(kube::Instant now);

 private:
  std::optional<Wanted> written_;
  std::string answer_;
  std::optional<kube::Instant> last_;
  bool last_failed_ = false;
};

// What `status` says under the keys of `of`.
doc::Value same_keys(const doc::Value& status, const doc::Value& of);

}  // namespace railbed::agent

// SPDX-License-Identifier: Apache-2.0
#include "agent/cluster/node_status_pace.h"

#include <algorithm>
#include <utility>

#include "doc/members.h"

namespace railbed::agent {

using doc::Value;

Value same_keys(const Value& status, const Value& of) {
  Value out = Value::object();
  if (!of.is_object() || !status.is_object()) return out;
  for (const Value::Member& member : *of.as_object())
    if (const Value* there = status.find(member.key)) out.set(member.key, *there);
  return out;
}

std::optional<kube::Instant> NodeStatusPace::due(const Wanted& wanted, const Value& stored, kube::Instant now) const {
  const bool ours = written_ && written_->uid == wanted.uid;
  const kube::Instant rested = last_ ? *last_ + kStatusPause : now;
  if (last_failed_) return rested;
  if (!ours) return same_keys(stored, wanted.status) == wanted.status ? std::optional<kube::Instant>() : now;
  if (written_->status == wanted.status) {
    // Only somebody else can have changed it; before the pause is over our own write may not be seen yet.
    if (now < rested || same_keys(stored, wanted.status) == answer_) return std::nullopt;
    return now;
  }
  const bool turned = doc::text_in(written_->status, "syncStatus") != doc::text_in(wanted.status, "syncStatus");
  return turned ? now : std::max(now, rested);
}

void NodeStatusPace::wrote(const Wanted& wanted, const Value& answer, kube::Instant now) {
  written_ = wanted;
  answer_ = same_keys(answer, wanted.status);
  last_ = now;
  last_failed_ = false;
}

void NodeStatusPace::failed(kube::Instant now) {
  last_ = now;
  last_failed_ = true;
}

std::optional<kube::Instant> DrainReportPace::due(const Wanted& wanted, const std::string& stored,
                                                  kube::Instant now) const {
  if (stored == wanted.text) return std::nullopt;
  const kube::Instant rested = last_ ? *last_ + kStatusPause : now;
  if (last_failed_) return rested;
  if (written_ != wanted) return now;
  // Only somebody else can have changed it; before the pause is over our own write may not be seen yet.
  return now < rested || stored == answer_ ? std::optional<kube::Instant>() : now;
}

void DrainReportPace::wrote(const Wanted& wanted, std::string answer, kube::Instant now) {
  written_ = wanted;
  answer_ = std::move(answer);
  last_ = now;
  last_failed_ = false;
}

void DrainReportPace::failed(kube::Instant now) {
  last_ = now;
  last_failed_ = true;
}

}  // namespace railbed::agent

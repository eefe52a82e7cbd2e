// SPDX-License-Identifier: Apache-2.0
#include "controller/policy_status.h"

#include <algorithm>

#include "base/format.h"
#include "controller/condition.h"
#include "doc/text.h"

namespace railbed::controller {

using doc::Value;
using State = graph::PolicyOutcome::State;

namespace {

// What one node adds to the status.
struct Line {
  std::string_view state;  // of `nodes`; empty: the policy has nothing to do there
  std::string message;
};

Line line_of(const NodeOutcome& node) {
  const graph::PolicyOutcome& outcome = node.outcome;
  switch (outcome.state) {
    case State::kOtherNode:
    case State::kIgnored:
    case State::kNoMatch:
      return {};
    case State::kShadowed:
      return {"Shadowed", fmt::format("{} took its VFs", fmt::join(outcome.shadowed_by, ", "))};
    case State::kRefused:
      return {"Failed", outcome.detail};
    case State::kApplied:
    case State::kPartly:
      break;
  }
  if (node.progress == NodeProgress::kFailed) return {"Failed", node.error};
  if (node.progress == NodeProgress::kNotYet) return {"Pending", "not yet applied by the node"};
  if (outcome.state == State::kApplied) return {"Applied", ""};
  std::string why = outcome.detail;
  if (!outcome.shadowed_by.empty())
    why += fmt::format("{}{} took VFs", why.empty() ? "" : "; ", fmt::join(outcome.shadowed_by, ", "));
  return {"Held", why};
}

struct Sums {
  int matched = 0, applied = 0, failed = 0, pending = 0, other = 0;
  std::string first;     // "gpu-2: what is wrong", of the first node with something wrong
  std::string no_match;  // the same of the first node that the nodeSelector takes and the nicSelector does not
  std::string ignored;   // why the policy counts nowhere
};

// `left`: bytes of texts that the status may still have. A node of which nothing more fits is listed with its state.
Value node_value(const NodeOutcome& node, const Line& line, size_t& left) {
  const auto fits = [&left](const std::string& text) {
    if (text.size() > left) return false;
    left -= text.size();
    return true;
  };
  Value out = Value::object();
  if (!line.message.empty() && fits(line.message)) out.set("message", line.message);
  out.set("name", node.node);
  Value pfs = Value::array();
  for (const std::string& pf : node.outcome.pfs)
    if (std::string text = copied_text(pf); fits(text)) pfs.push(std::move(text));
  if (!pfs.as_array()->empty()) out.set("pfs", std::move(pfs));
  out.set("state", line.state);
  return out;
}

Sums sum_up(const std::vector<NodeOutcome>& nodes, Value& listed) {
  Sums sums;
  size_t left = kLongestTexts;
  for (const NodeOutcome& node : nodes) {
    if (node.outcome.state == State::kIgnored && sums.ignored.empty()) sums.ignored = copied_text(node.outcome.detail);
    if (node.outcome.state == State::kNoMatch && sums.no_match.empty())
      sums.no_match = fmt::format("node {}: {}", node.node, copied_text(node.outcome.detail));
    Line line = line_of(node);
    line.message = copied_text(line.message);
    if (line.state.empty()) continue;
    ++sums.matched;
    if (line.state == "Applied") {
      ++sums.applied;
      continue;
    }
    ++(line.state == "Failed" ? sums.failed : line.state == "Pending" ? sums.pending : sums.other);
    if (line.state != "Pending" && sums.first.empty()) sums.first = fmt::format("node {}: {}", node.node, line.message);
    if (listed.as_array()->size() < kListedNodes) listed.push(node_value(node, line, left));
  }
  return sums;
}

std::string more(int count) {
  return count > 1 ? fmt::format(" (and {} more)", count - 1) : "";
}

Readiness readiness(const Sums& sums) {
  if (!sums.ignored.empty()) return {"False", "Ignored", sums.ignored};
  if (sums.matched == 0 && !sums.no_match.empty()) return {"False", "NoNicMatches", sums.no_match};
  if (sums.matched == 0) return {"False", "NoNodeMatches", "no node has the labels of its nodeSelector"};
  if (sums.failed > 0) return {"False", "Failed", sums.first + more(sums.failed)};
  if (sums.other > 0) return {"False", "NotOnAllPfs", sums.first + more(sums.other)};
  if (sums.pending > 0)
    return {"Unknown", "Pending", fmt::format("{} of its nodes have not applied it yet", sums.pending)};
  return {"True", "Applied", ""};
}

}  // namespace

std::string copied_text(std::string_view text) {
  constexpr std::string_view kCut = " …";
  // Cleaning makes a text longer: what lies beyond the limit is not worth it.
  const bool is_cut = text.size() > kLongestText;
  std::string out = doc::printable(text.substr(0, kLongestText));
  if (!is_cut && out.size() <= kLongestText) return out;
  size_t end = std::min(out.size(), kLongestText - kCut.size());
  while (end > 0 && end < out.size() && doc::is_utf8_continuation(out[end])) --end;
  return out.substr(0, end).append(kCut);
}

Value policy_status(const PolicyView& view) {
  Value listed = Value::array();
  const Sums sums = sum_up(view.nodes, listed);
  Value out = Value::object();
  out.set("applied", sums.applied);
  out.set("conditions", Value::array()).push(ready_condition(view.status, view.generation, view.now, readiness(sums)));
  out.set("failed", sums.failed);
  out.set("matched", sums.matched);
  if (!listed.as_array()->empty()) out.set("nodes", std::move(listed));
  out.set("observedGeneration", view.generation);
  out.set("summary", fmt::format("{} of {}", sums.applied, sums.matched));
  return out;
}

}  // namespace railbed::controller

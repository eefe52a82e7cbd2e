// SPDX-License-Identifier: Apache-2.0
// The agent's metrics.
//
// Why: how long attaching takes and in which phase, what fails and why, and how many addresses and VFs are left are the
// questions that the original plugins could not answer. Counting costs a look-up in a small map and one mutex of
// prometheus-cpp; states (addresses, VFs) are read on demand, not kept up to date. Labels come from fixed lists, so
// that no client can create an unlimited number of series.
// Threading: any thread.
// Failure: none.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "agent/context/request_context.h"
#include "cni/request.h"

namespace railbed::agent {

// The state of the node, collected at each reading.
struct NodeCounts {
  struct Pool {
    std::string name;
    double free = 0;
    double taken = 0;
  };
  std::vector<Pool> pools;
  size_t vfs_free = 0;
  size_t vfs_attached = 0;
  size_t vfs_missing = 0;
  size_t attachments = 0;
  size_t pending_dels = 0;
};

// One value of somebody else's, of a fixed list of names and labels.
struct Sample {
  enum class Kind : uint8_t { kGauge, kCounter };
  std::string_view name;  // a literal, as `help`
  std::string_view help;
  Kind kind = Kind::kGauge;
  std::vector<std::pair<std::string, std::string>> labels;
  double value = 0;
};

class Metrics {
 public:
  Metrics();
  ~Metrics();

  void took(std::string_view type, Phase phase, double seconds);
  void failed(std::string_view type, int code);
  // `ask` runs at each reading, in the endpoint's thread; set it before text() may be called.
  void node_counts(std::function<NodeCounts()> ask);
  // The same for values of others; those of one name beside each other.
  void samples(std::function<std::vector<Sample>()> ask);

  // Handles one request and counts it, its duration, its failure, and that it is in flight.
  Reply metered(const cni::Request& request, RequestStory& story,
                const std::function<Reply(const cni::Request&)>& handle);

  // In Prometheus' text format; door/endpoint.h serves it.
  std::string text() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Reports how long a phase took, from the constructor to the destructor: to the metrics and the request's story.
class PhaseTimer {
 public:
  PhaseTimer(const RequestContext& request, std::string_view type, Phase phase)
      : metrics_(request.metrics),
        story_(request.story),
        type_(type),
        phase_(phase),
        began_(std::chrono::steady_clock::now()) {}
  ~PhaseTimer() {
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
    metrics_.took(type_, phase_, seconds);
    if (story_ != nullptr) story_->took(phase_, seconds);
  }
  PhaseTimer(const PhaseTimer&) = delete;
  PhaseTimer& operator=(const PhaseTimer&) = delete;

 private:
  Metrics& metrics_;
  RequestStory* story_;
  std::string_view type_;
  Phase phase_;
  std::chrono::steady_clock::time_point began_;
};

}  // namespace railbed::agent

// SPDX-License-Identifier: Apache-2.0
// The endpoints of a mesh in the coordinator: connected, queried step by step, and lost.
//
// Why: of thousands of machines some die, stall or send invalid data, and none of them may block the others. So every
// wait has a deadline, an endpoint that misses one is lost, with the reason, for the rest of the mesh, and only answers
// that the request allows are accepted.
// Threading: one thread per instance; gather() starts threads and joins them.
// Failure: kCanceled if a stop was requested; an endpoint's error is not a failure.
#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "perf/channel/control.h"
#include "perf/channel/watch.h"
#include "perf/mesh/mesh_message.h"

namespace railbed::perf::mesh {

// How an endpoint is reached, and its NICs: absent where it has none on that rail.
struct HostAddress {
  std::string control;  // address or name
  uint16_t port = 18600;
  std::vector<std::optional<OwnRail>> rails;
  friend bool operator==(const HostAddress&, const HostAddress&) = default;
};

struct FleetOptions {
  Transport transport = Transport::kRdma;
  std::string token;
  perf::Limits limits;
  std::chrono::milliseconds step_slack{60'000};  // beyond what a step measures: connections, turns, timeouts
  std::stop_token stop;
  std::function<void(const std::string& line)> on_progress;
};

class Fleet {
 public:
  // `hosts` outlives it.
  Fleet(const std::vector<HostAddress>& hosts, FleetOptions options);

  // Connects to all, and asks for their rails.
  Result<void> gather();
  // Connects to all, and has `join` say the first words to each, in several threads; who fails there is lost.
  using Join = std::function<Result<void>(uint32_t host, Channel& channel)>;
  Result<void> gather(const Join& join);
  bool lost(uint32_t host) const { return !hosts_[host].lost_because.empty(); }
  const std::string& lost_because(uint32_t host) const { return hosts_[host].lost_because; }
  // What an endpoint says of its rails; empty where it was lost before.
  const std::vector<RailFound>& found(uint32_t host) const { return hosts_[host].found; }

  // `tasks` has an element for each host; of those that are lost it is not looked at. So has the result.
  using Tasks = std::vector<std::vector<PairTask>>;
  using Figures = std::vector<std::vector<PairFigures>>;
  Result<Figures> step(const TestSpec& spec, const Tasks& tasks);

  // Sends each host that is not lost its message, and takes the answers of those that got one, within `longest`.
  // A host whose answer `taken` refuses is lost. `what` names what they do, for messages.
  enum class OnLoss : uint8_t { kOthersGoOn, kAllEnd };  // kAllEnd: only for reasons of others is there a little time
  using Asks = std::vector<std::optional<EncodedMessage>>;
  using Taken = std::function<Result<void>(uint32_t host, const Envelope& answer)>;
  Result<void> exchange(const Asks& asks, std::string_view what, std::chrono::milliseconds longest, const Taken& taken,
                        OnLoss on_loss = OnLoss::kOthersGoOn);

 private:
  struct Host {
    std::optional<Channel> channel;
    std::vector<RailFound> found;
    std::string lost_because;
    bool busy = false;  // its answer is due
    Clock::Time heard;
  };

  Result<void> greet(uint32_t host);
  Result<void> enlist(uint32_t host, Channel& channel);
  void lose(uint32_t host, const Error& error);
  void ask(uint32_t host, const EncodedMessage& message);
  void listen(uint32_t host, const Taken& taken);
  std::vector<uint32_t> busy() const;
  Result<void> wait(const std::vector<uint32_t>& busy) const;
  void keep_others_awake();

  const std::vector<HostAddress>& addresses_;
  FleetOptions options_;
  Clock& clock_;
  std::vector<Host> hosts_;
  MeshId mesh_;
  int64_t number_ = 0;
  Clock::Time woke_others_;
};

}  // namespace railbed::perf::mesh

// SPDX-License-Identifier: Apache-2.0
#include "node_cells.h"

#include <random>
#include <utility>

#include "agent/cluster/cell_wants.h"
#include "doc/text.h"

namespace railbed {
namespace {

using agent::Sample;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int64_t kLooksBeforeQuiet = 4;
constexpr milliseconds kLookForPods{50};

// Half of the time after which the operator makes a machine's addresses free.
int64_t quiet_seconds(int64_t reclaim_after_s) {
  return reclaim_after_s == 0 ? 0 : std::max<int64_t>(1, reclaim_after_s / 2);
}

doc::Value texts(const std::vector<std::string>& all) {
  doc::Value out = doc::Value::array();
  for (const std::string& one : all) out.push(doc::printable(one));
  return out;
}

Sample gauge(std::string_view name, std::string_view help, double value) {
  return {.name = name, .help = help, .kind = Sample::Kind::kGauge, .labels = {}, .value = value};
}

}  // namespace

NodeCells::NodeCells(const Dependencies& deps, Settings settings)
    : deps_(deps),
      settings_(std::move(settings)),
      blocks_(deps.store, deps.clock, quiet_seconds(settings_.reclaim_after_s)) {}

agent::CellKeeper::Settings NodeCells::keeper_settings() const {
  std::random_device random;
  agent::CellKeeper::Settings out{.node = settings_.node,
                                  .machine = agent::machine_identity(deps_.kernel),
                                  .quiet_seconds = quiet_seconds(settings_.reclaim_after_s),
                                  .process = fmt::format("{:08x}{:08x}", random(), random())};
  if (settings_.whereabouts == agent::Whereabouts::kShare) out.share_with_whereabouts_in = settings_.whereabouts_ns;
  if (out.quiet_seconds > 0)
    out.sync_period = std::min(out.sync_period, milliseconds(seconds(out.quiet_seconds)) / kLooksBeforeQuiet);
  return out;
}

void NodeCells::start(agent::Engine& engine, std::function<std::map<std::string, uint64_t>()> vfs) {
  book_ = std::make_unique<agent::EngineCells>(engine);
  const auto wants = [this, vfs = std::move(vfs)]() -> std::optional<std::vector<ipam::CellWant>> {
    const agent::KeptCache &pods = deps_.side.pods(), &networks = deps_.side.networks();
    if (!pods.is_known() || !networks.is_known()) return std::nullopt;
    return agent::cell_wants(pods.objects(), networks.objects(), vfs());
  };
  const auto pools = [this](kube::Client& client, const std::stop_token& stop) {
    std::set<std::string> here;
    for (const auto& [key, pod] : deps_.side.pods().objects()) here.insert(key.to_string());
    return agent::pools_beside(client, settings_.whereabouts, here, stop);
  };
  const auto report = [this](const char* reason, const std::string& note) { deps_.side.report_at_node(reason, note); };
  keeper_ = std::make_unique<agent::CellKeeper>(
      agent::CellKeeper::Dependencies{
          .client = deps_.side.asking(),
          .book = *book_,
          .blocks = blocks_,
          .events = deps_.events,
          .wants = wants,
          .pools = pools,
          .report = report,
      },
      keeper_settings());
  started_ = keeper_.get();
  thread_ = std::jthread([this](const std::stop_token& stop) {
    // Before its pods are known, whereabouts' addresses of theirs would be taken for other nodes'.
    while (!deps_.side.pods().is_known() && deps_.clock.wait(kLookForPods, stop)) {
    }
    keeper_->run(stop);
  });
}

void NodeCells::wake() {
  if (agent::CellKeeper* keeper = started_) keeper->wake();
}

void NodeCells::hurry() {
  if (agent::CellKeeper* keeper = started_) keeper->hurry();
}

void NodeCells::stop() {
  hurry();
  thread_ = {};
}

NodeCells::Supplied NodeCells::more(std::vector<agent::AddressNeed> needs,
                                    std::chrono::steady_clock::time_point deadline) {
  if (agent::CellKeeper* keeper = started_) return keeper->more(std::move(needs), deadline);
  return {nullptr, Error{.code = Code::kBusy, .message = "the agent is starting"}};
}

std::vector<Sample> NodeCells::samples() const {
  const agent::CellKeeper* keeper = started_;
  if (keeper == nullptr) return {};
  const agent::CellKeeper::Snapshot now = keeper->snapshot();
  return {
      gauge("railbed_cells", "cells of which this node has leased addresses", double(now.cells)),
      gauge("railbed_cell_addresses", "addresses that this node has leased", double(now.addresses)),
      gauge("railbed_cells_heard_seconds",
            "seconds since the last complete list of this node's leases from the API server; -1: none since boot",
            now.heard_seconds ? double(*now.heard_seconds) : -1.0),
      gauge("railbed_cells_waiting", "ADDs that are waiting for addresses", double(now.waiting)),
      gauge("railbed_cells_lacking", "ranges with fewer addresses than pods on this node may need",
            double(now.lacking.size())),
      {.name = "railbed_cell_conflicts_total",
       .help = "addresses in use on this node that another node had leased",
       .kind = Sample::Kind::kCounter,
       .labels = {},
       .value = double(now.conflict_count)},
  };
}

doc::Value NodeCells::report() const {
  doc::Value out = doc::Value::object();
  const agent::CellKeeper* keeper = started_;
  if (keeper == nullptr) return out;
  const agent::CellKeeper::Snapshot now = keeper->snapshot();
  out.set("cells", int64_t(now.cells));
  out.set("addresses", int64_t(now.addresses));
  out.set("waiting", int64_t(now.waiting));
  if (now.heard_seconds) out.set("heardSeconds", *now.heard_seconds);
  if (now.error) out.set("error", doc::printable(now.error->story()));
  out.set("lacking", texts(now.lacking));
  out.set("conflicts", texts(now.conflicts));
  return out;
}

}  // namespace railbed

// SPDX-License-Identifier: Apache-2.0
#include "agent/cluster/node_keeper.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "agent/cluster/drained_vfs.h"
#include "attach/record.h"
#include "doc/json.h"
#include "doc/members.h"
#include "drain/agent_report.h"
#include "facts/collect.h"
#include "graph/node_state.h"
#include "kube/clock.h"
#include "kube/object.h"
#include "node/carry_out.h"
#include "node/plan_note.h"
#include "node/resolved.h"
#include "node/resource_prefix.h"
#include "state/sandbox.h"

namespace railbed::agent {

using doc::Value;
using std::chrono::milliseconds;

namespace {

// Where the SR-IOV operator's daemon keeps what it made, a file per PF.
constexpr std::string_view kUpstreamMarkers = "/etc/sriov-operator/pci";

// In bytes, of a drain's report, whose reader takes somewhat more.
constexpr size_t kLongestFailure = 4000;

// Each round that does not come to a change has withdrawn VFs that the one before did not know of.
constexpr int kRounds = 4;

// Whether the state has records of what `planned` finds done: baselines of PFs that are as they were, steps of PFs with
// which nothing is to be done any more.
bool is_stale(const StatePlan& planned, const std::vector<state::StepRecord>& steps) {
  const auto has_steps = [&](PciAddress pf) {
    return std::ranges::find(planned.plan.pfs, pf, &plan::PfPlan::pf) != planned.plan.pfs.end();
  };
  const auto is_held = [&](PciAddress pf) {
    return std::ranges::find(planned.plan.held_back, pf, &plan::HeldBack::pf) != planned.plan.held_back.end();
  };
  return std::ranges::any_of(planned.given_back,
                             [&](const PfBaseline& one) { return !has_steps(one.pf) && !is_held(one.pf); }) ||
         std::ranges::any_of(steps, [&](const state::StepRecord& step) { return !has_steps(step.pf); });
}

// What an order is made of: other writers of labels or of the status give no new one.
Value order_of(const Value& object) {
  Value out = Value::object();
  Value& metadata = out.set("metadata", Value::object());
  if (const Value* from = doc::object_in(object, "metadata"))
    for (const char* key : {"annotations", "generation", "name", "namespace", "uid"})
      if (const Value* value = from->find(key)) metadata.set(key, *value);
  if (Value* annotations = metadata.find("annotations"); annotations != nullptr && annotations->is_object())
    std::erase_if(*annotations->as_object(), [](const Value::Member& member) {
      return std::ranges::find(graph::kOrders, member.key) == std::end(graph::kOrders);
    });
  if (const Value* spec = object.find("spec")) out.set("spec", *spec);
  return out;
}

std::string first_error_message(const doc::Diagnostics& diagnostics) {
  for (const doc::Diagnostic& one : diagnostics.all())
    if (one.severity == doc::Severity::kError) return one.message;
  return "";
}

constexpr std::string_view kPrefixConflict = "ResourcePrefixConflict";  // a condition, and an Event

VfsByName resource_names_in(const Value& note) {
  VfsByName out;
  const Value* names = doc::object_in(note, "names");
  if (names == nullptr) return out;
  for (const Value::Member& one : *names->as_object())
    for (const std::string& vf : doc::texts_in(*names, one.key))
      if (const auto address = PciAddress::parse(vf)) out[one.key].insert(*address);
  return out;
}

Value resource_names_value(const VfsByName& names) {
  Value out = Value::object();
  for (const auto& [name, vfs] : names) {
    std::vector<std::string> addresses;
    for (PciAddress vf : vfs) addresses.push_back(vf.to_string());
    out.set(name, doc::texts(addresses));
  }
  return out;
}

// Pods by their names: which of their sandboxes it is does not matter here.
plan::InUse by_pod(plan::InUse in_use) {
  for (auto& [device, holder] : in_use)
    if (std::string pod = state::Sandbox::of_key(holder).pod; !pod.empty()) holder = std::move(pod);
  return in_use;
}

bool same(const kubelet::NodeDevices& a, const kubelet::NodeDevices& b) {
  return a.resources == b.resources && a.without_topology == b.without_topology &&
         a.with_vhost_net == b.with_vhost_net && a.with_mad == b.with_mad && a.unfinished == b.unfinished &&
         a.orphaned == b.orphaned && a.ending == b.ending && a.taken == b.taken && a.drained == b.drained &&
         a.drained_of_pods == b.drained_of_pods && a.soft_rdma == b.soft_rdma && a.facts == b.facts;
}

std::map<PciAddress, std::string> orphaned_devices(const std::vector<state::Attachment>& records) {
  std::map<PciAddress, std::string> devices;
  for (const state::Attachment& record : records)
    if (const auto device = PciAddress::parse(record.device); device.has_value() && attach::is_orphan(record))
      devices.emplace(*device, attach::orphan_reason(record).why);
  return devices;
}

std::vector<std::string> texts_of(const std::vector<plan::HeldBack>& held) {
  std::vector<std::string> out;
  for (const plan::HeldBack& one : held) out.push_back(one.to_string());
  return out;
}

}  // namespace

// What a pass works from.
struct NodeKeeper::Look {
  facts::NodeFacts facts;
  std::set<PciAddress> held;                   // by pods
  std::map<PciAddress, std::string> orphaned;  // of pods whose DEL has come, and why
  StatePlan planned;
  std::set<PciAddress> listed;  // what Kept::listed should be now
  bool stale = false;           // records of what is done already: an agent was killed before it could forget them

  bool has_work() const { return planned.plan.changes() || stale; }
};

NodeKeeper::NodeKeeper(Dependencies deps, NodeKeeperSettings settings) : deps_(deps), settings_(std::move(settings)) {}

// --- the order, kept in the state

Result<void> NodeKeeper::load() {
  if (kept_) return {};
  Engine::Turn turn = TRY(deps_.engine.turn(kTurnWait));
  const std::optional<std::string> note = TRY(turn.store().note(kNodeStateNote));
  last_note_ = TRY(turn.store().note(node::kPlanNote)).value_or("");
  Kept kept;
  if (note && !note->empty()) {
    // One that cannot be read, of another version, is as none.
    if (const Result<Value> value = kube::parse_object(*note); value && doc::number_in(*value, "version") == 1) {
      kept.aside = doc::flag_in(*value, "aside");
      if (const Value* object = doc::object_in(*value, "object")) kept.object = *object;
      for (const std::string& pf : doc::texts_in(*value, "listed"))
        if (const auto address = PciAddress::parse(pf)) kept.listed.insert(*address);
      kept.names = resource_names_in(*value);
      kept.names_known = doc::object_in(*value, "names") != nullptr;
    }
  }
  kept_ = std::move(kept);
  doc::Diagnostics unseen;  // it was reported when the order came
  if (!kept_->object.is_null()) orders_ = api::parse_node_state(kept_->object, unseen);
  return {};
}

Result<void> NodeKeeper::keep(Kept kept) {
  Value note = Value::object();
  note.set("version", 1);
  doc::put_flag(note, "aside", kept.aside);
  if (!kept.object.is_null()) note.set("object", kept.object);
  std::vector<std::string> listed;
  for (PciAddress pf : kept.listed) listed.push_back(pf.to_string());
  doc::put_texts(note, "listed", listed);
  if (kept.names_known) note.set("names", resource_names_value(kept.names));
  Engine::Turn turn = TRY(deps_.engine.turn(kTurnWait));
  TRY(turn.store().put_note(kNodeStateNote, doc::to_json(note)));
  kept_ = std::move(kept);
  return {};
}

// VFs that the SR-IOV operator's daemon made are given back with the policies that they are for, as it would have done
// itself: the PF had none before. Everything else stays as it is.
Result<void> NodeKeeper::take_over(const api::SriovNetworkNodeState& state) {
  const os::FileTree& files = deps_.engine.kernel().files();
  for (const api::NodeStatePf& pf : state.pfs) {
    if (pf.externally_managed || !files.exists(fmt::format("{}/{}", kUpstreamMarkers, pf.address))) continue;
    const std::string vfs =
        os::read_line(files, fmt::format("/sys/bus/pci/devices/{}/sriov_numvfs", pf.address)).value_or("0");
    if (vfs == "0") continue;  // the mark is of an earlier boot
    Engine::Turn turn = TRY(deps_.engine.turn(kTurnWait));
    TRY(turn.store().put_baseline({.pf = pf.address, .pf_name = pf.name}));
  }
  return {};
}

Result<NodeKeeper::Going> NodeKeeper::take(const NodeOrder& order) {
  TRY(load().context("reading the saved order"));
  uid_.clear();
  if (!order.current) return Going::kNo;
  if (kept_->aside) {
    Kept back = *kept_;
    back.aside = false;
    TRY(keep(std::move(back)));
  }
  if (order.state == nullptr) return Going::kNo;
  uid_ = kube::uid_of(*order.state);
  doc::Diagnostics found;
  std::optional<api::SriovNetworkNodeState> state = api::parse_node_state(*order.state, found);
  if (!state) {
    problems_.push_back("the node state cannot be read: " + first_error_message(found));
    return Going::kNo;
  }
  if (!prefix_condition_) {
    const auto reported = std::ranges::find(state->conditions, kPrefixConflict, &api::NodeStateCondition::type);
    if (reported != state->conditions.end()) prefix_condition_ = *reported;
  }
  if (const std::string problem = graph::orders_in(state->meta).problem; !problem.empty()) {
    problems_.push_back("the node state cannot be read: " + problem);
    return Going::kNo;
  }
  if (const std::string problem = graph::orders_in(state->meta).drain_problem; !problem.empty())
    problems_.push_back("no VF is withdrawn for a drain, because it cannot be read: " + problem);
  generation_ = state->generation;
  if (last_reported_nics_.empty()) last_reported_nics_ = state->nics;
  if (!state->decided) return Going::kNo;
  if (Value object = order_of(*order.state); object != kept_->object) {
    Kept taken{.aside = false,
               .object = std::move(object),
               .listed = kept_->listed,
               .names = kept_->names,
               .names_known = kept_->names_known};
    for (const api::NodeStatePf& pf : state->pfs) taken.listed.insert(pf.address);
    TRY(take_over(*state).context("taking over from the SR-IOV operator"));
    TRY(keep(std::move(taken)).context("saving the order"));
    Engine::Turn turn = TRY(deps_.engine.turn(kTurnWait));
    TRY(node::keep_ordered_prefix(turn.store(), graph::orders_in(state->meta).resource_prefix.value_or("")));
    tries_ = 0;
    next_try_ = {};
    failures_.clear();
  }
  orders_ = std::move(state);
  return Going::kYes;
}

// --- looking and planning

Result<NodeKeeper::Look> NodeKeeper::look() {
  std::optional<Engine::Turn> turn;
  return look(turn);
}

// Leaves the turn in which pods' devices were seen to the caller.
Result<NodeKeeper::Look> NodeKeeper::look(std::optional<Engine::Turn>& turn) {
  Look now;
  now.facts = facts::collect(deps_.engine.kernel(), {.node = settings_.node});
  turn.emplace(TRY(deps_.engine.turn(kTurnWait)));
  plan::InUse in_use = by_pod(TRY(node::in_use_by(turn->store())));
  for (const auto& [vf, pod] : allocated_.pods) in_use.emplace(vf, pod);
  if (!kubelet_error_.empty()) in_use.merge(all_vfs(now.facts, kUnknownToKubelet));
  for (const auto& [vf, pod] : in_use) now.held.insert(vf);
  now.orphaned = orphaned_devices(TRY(turn->store().attachments()));
  const std::vector<PfBaseline> baselines = TRY(turn->store().baselines());
  const api::SriovNetworkNodeState none;
  now.planned = plan_state({.state = orders_ ? *orders_ : none,
                            .facts = now.facts,
                            .in_use = in_use,
                            .baselines = baselines,
                            .listed = kept_->listed,
                            .options = settings_.options});
  // Those of the order, and those of earlier ones that were changed and are not given back yet.
  for (const PfBaseline& baseline : baselines)
    if (kept_->listed.contains(baseline.pf)) now.listed.insert(baseline.pf);
  if (orders_)
    for (const api::NodeStatePf& pf : orders_->pfs) now.listed.insert(pf.address);
  now.stale = is_stale(now.planned, TRY(turn->store().steps()));
  return now;
}

// --- changing

void NodeKeeper::ask_kubelet() {
  Result<kubelet::AllocatedVfs> allocated = deps_.offers.allocated();
  if (allocated)
    allocated_ = std::move(*allocated);
  else
    kubelet_error_ = allocated.error().story();
}

void NodeKeeper::withdraw(const std::set<PciAddress>& vfs) {
  withdrawn_.insert(vfs.begin(), vfs.end());
  offered_.reset();  // the next offer ends it
  if (Result<void> done = deps_.offers.withdraw(withdrawn_); !done) kubelet_error_ = done.error().story();
}

Result<void> NodeKeeper::bring(Look& now) {
  bool asked = false;
  for (int round = 0; round < kRounds; ++round) {
    std::optional<Engine::Turn> turn;
    now = TRY(look(turn));
    std::set<PciAddress> open = disturbed_vfs(now.planned.plan, now.facts);
    std::erase_if(open, [&](PciAddress vf) { return withdrawn_.contains(vf); });
    if (open.empty()) {
      if (!now.has_work()) return {};
      auto change = TRY(deps_.engine.change(*turn, changing_devices(now.planned.plan, now.facts)));
      turn.reset();
      if (now.planned.plan.changes()) report_state(now, SyncPhase::kCarryingOut);
      TRY(carry_out(*change, now.planned));
      change.reset();
      now = TRY(look());
      return {};
    }
    turn.reset();
    if (asked) withdraw(open);
    ask_kubelet();
    asked = true;
  }
  return fail(Code::kBusy, "pods start and stop faster than their VFs can be withdrawn");
}

Result<void> NodeKeeper::carry_out(Engine::Change& change, const StatePlan& planned) {
  apply::NoProgress quiet;
  const node::Carried carried =
      TRY(node::carry_out(change.kernel(), change.store(), planned.plan, planned.given_back, settings_.apply, quiet));
  const apply::Report& report = carried.applied;
  failures_ = report.failures;
  {
    const std::lock_guard lock(mutex_);
    counters_.steps += report.steps_done;
    counters_.failures += report.failures.size();
  }
  if (report.steps_done > 0 && report.complete())
    deps_.listener.event(kube::EventType::kNormal, "VfsChanged",
                         fmt::format("generation {}: {} steps carried out in {} ms", generation_, report.steps_done,
                                     report.took.count()));
  return {};
}

// --- reporting

// No pod gets a VF under its former name while it is asked who has it under that one.
void NodeKeeper::look_for_former_names(const kubelet::NodeDevices& devices) {
  former_.clear();
  const VfsByName before =
      kept_->names_known ? kept_->names : names_with_prefix(settings_.options.resource_prefix, devices);
  const VfsByName renamed = renamed_vfs(before, devices);
  if (renamed.empty()) return;
  ask_kubelet();
  std::set<PciAddress> open;
  for (const auto& [name, vfs] : renamed)
    if (const auto offered = offered_names_.find(name); offered != offered_names_.end())
      std::ranges::copy_if(vfs, std::inserter(open, open.end()), [&](const PciAddress& vf) {
        return offered->second.contains(vf) && !allocated_.pods.contains(vf);
      });
  if (kubelet_error_.empty() && !open.empty()) {
    withdraw(open);
    ask_kubelet();
  }
  former_ = kubelet_error_.empty() ? held_by_pods(renamed, allocated_) : renamed;
}

// Before anything is offered under a new name: an agent that is killed then knows the former one.
Result<void> NodeKeeper::keep_names(const kubelet::NodeDevices& devices) {
  VfsByName names = names_to_keep(kept_->names, former_, devices);
  if (kept_->names_known && names == kept_->names) return {};
  Kept kept = *kept_;
  kept.names = std::move(names);
  kept.names_known = true;
  return keep(std::move(kept)).context("saving under which names VFs are offered");
}

// What is on offer is withdrawn first, and the kubelet asked after that: a pod may have got it in between.
// Returns the resources of which nothing is left to offer.
std::vector<std::string> NodeKeeper::withdraw_drained(const Look& now, kubelet::NodeDevices& devices) {
  const std::set<PciAddress> drained = vfs_of_resources(drain_.resources, devices);
  if (drained.empty()) {
    free_of_drain_.clear();
    return drain_.resources;  // this node has none of their VFs
  }
  const auto held = [&] {
    std::set<PciAddress> out = now.held;
    for (const auto& [vf, pod] : allocated_.pods) out.insert(vf);
    return out;
  };
  ask_kubelet();
  std::set<PciAddress> open;
  for (const auto& [name, vfs] : offered_names_)
    std::ranges::set_intersection(vfs, drained, std::inserter(open, open.end()));
  const std::set<PciAddress> of_pods = held();
  std::erase_if(open, [&](PciAddress vf) { return of_pods.contains(vf) || free_of_drain_.contains(vf); });
  if (kubelet_error_.empty() && !open.empty()) {
    withdraw(open);
    ask_kubelet();
  }
  const HoldersKnown known = kubelet_error_.empty() ? HoldersKnown::kYes : HoldersKnown::kNo;
  add_drained(drained, {.known = known, .held = held(), .free_before = free_of_drain_}, devices);
  free_of_drain_ = devices.drained;
  return withdrawn_resources(drain_.resources, known, devices);
}

Result<void> NodeKeeper::offer(const Look& now) {
  withdrawn_of_drain_.clear();
  kubelet::NodeDevices devices = devices_now(now.planned, now.facts);
  devices.orphaned = now.orphaned;
  look_for_former_names(devices);
  add_former_names(former_, allocated_.pods, devices);
  about_names_ = lines_about(former_, allocated_.pods, devices);
  if (offered_ || !withdrawn_.empty() || !devices.resources.empty()) TRY(keep_names(devices));
  std::vector<std::string> withdrawn = withdraw_drained(now, devices);
  const bool is_offered = offered_ ? same(*offered_, devices) : withdrawn_.empty() && devices.resources.empty();
  if (!is_offered) TRY(deps_.offers.offer(devices).context("offering VFs to the kubelet"));
  withdrawn_of_drain_ = std::move(withdrawn);
  if (is_offered) return {};
  offered_names_ = names_to_keep({}, {}, devices);
  offered_ = std::move(devices);
  withdrawn_.clear();
  return {};
}

// The operator's prefix is also that of the networks that it renders, so it counts.
void NodeKeeper::compare_prefixes() {
  prefix_conflict_.clear();
  if (!settings_.said_prefix.empty() && orders_) {
    const std::optional<std::string> ordered = graph::orders_in(orders_->meta).resource_prefix;
    if (ordered && *ordered != settings_.said_prefix)
      prefix_conflict_ = fmt::format(
          "the operator says --resource-prefix {}, this agent was started with {}: VFs are offered as {}/…; remove the "
          "agent's option",
          *ordered, settings_.said_prefix, *ordered);
  }
  const bool differs = !prefix_conflict_.empty();
  if (!differs && !prefix_condition_) return;
  const std::string status = differs ? "True" : "False";
  if (!prefix_condition_ || prefix_condition_->status != status)
    prefix_condition_.emplace(api::NodeStateCondition{.last_transition_time = kube::second_time(deps_.clock.wall()),
                                                      .message = "",
                                                      .reason = "",
                                                      .status = status,
                                                      .type = std::string(kPrefixConflict)});
  prefix_condition_->reason = differs ? "AgentSaysAnother" : "Agreed";
  prefix_condition_->message = prefix_conflict_;
}

// Once for each name, not again when one of its pods ends.
void NodeKeeper::report_former_names() {
  std::set<std::string> names;
  for (const auto& [name, vfs] : former_) names.insert(name);
  if (!std::ranges::includes(reported_names_, names))
    deps_.listener.event(kube::EventType::kNormal, "ResourceRenamed", fmt::format("{}", fmt::join(about_names_, "; ")));
  reported_names_ = std::move(names);
}

void NodeKeeper::report_state(const Look& now, SyncPhase phase) {
  if (uid_.empty()) return;
  // One that a pod had a moment ago may have been on its way back when the machine was looked at.
  std::set<PciAddress> held = now.held;
  held.insert(held_before_.begin(), held_before_.end());
  last_reported_nics_ = steady_nics(graph::found_nics(now.facts), last_reported_nics_, held);
  held_before_ = now.held;
  std::vector<std::string> waits;
  if (!kubelet_error_.empty())
    waits.push_back("existing VFs stay unchanged, because the kubelet does not report which of them pods use: " +
                    kubelet_error_);
  std::vector<api::NodeStateCondition> conditions;
  if (prefix_condition_) conditions.push_back(*prefix_condition_);
  std::string rdma_mode = orders_ && !orders_->rdma_mode.empty() ? now.facts.rdma_netns_mode : "";
  Value status = api::node_state_status(status_of({.phase = phase,
                                                   .generation = generation_,
                                                   .nics = last_reported_nics_,
                                                   .plan = now.planned.plan,
                                                   .failures = failures_,
                                                   .problems = problems_,
                                                   .waits = std::move(waits),
                                                   .conditions = std::move(conditions),
                                                   .rdma_mode = std::move(rdma_mode)}));
  // Also where it is empty: one that somebody else wrote before would stay.
  if (status.find("lastSyncError") == nullptr) status.set("lastSyncError", "");
  deps_.listener.status(uid_, std::move(status));
}

// What waits for a restart of the machine, or for a person, is not left to do here: its policy says why it is refused.
void NodeKeeper::report_drain(const Look& now, Going going) {
  if (uid_.empty()) return;
  drain::AgentReport report;
  if (drain_ != drain::NodeDrain{} || !drain_problem_.empty()) {
    const plan::NodePlan& plan = now.planned.plan;
    std::vector<std::string> failures = problems_;
    for (const apply::StepFailure& failure : failures_) failures.push_back(failure_text(failure));
    report = {.change = drain_.change,
              .withdrawn = withdrawn_of_drain_,
              .applied = going == Going::kYes && failures.empty() && !plan.changes() && plan.held_back.empty(),
              .failure = {},
              .boot_id = deps_.engine.kernel().boot_id()};
    for (const graph::PolicyOutcome& outcome : plan.policies)
      if (outcome.state != graph::PolicyOutcome::State::kApplied)
        failures.push_back(fmt::format("policy {}: {}", outcome.policy, outcome.detail));
    report.failure = joined_up_to(kLongestFailure, failures);
  }
  deps_.listener.drain_report(uid_, drain::to_text(report));
}

// The same again only after it was otherwise.
void NodeKeeper::report_once(kube::EventType type, std::string reason, std::string note) {
  std::string& before = last_event_by_reason_[reason];
  if (before != note && !note.empty()) deps_.listener.event(type, reason, note);
  before = std::move(note);
}

void NodeKeeper::set_reasons(std::vector<std::string> reasons) {
  const std::lock_guard lock(mutex_);
  reasons_ = std::move(reasons);
}

Result<void> NodeKeeper::note_for_status(const Look& now) {
  const std::string text = node::to_json({.node = now.planned.plan.node,
                                          .policies = now.planned.plan.policies,
                                          .held_back = texts_of(now.planned.plan.held_back),
                                          .pod_errors = {}});
  if (text == last_note_) return {};
  Engine::Turn turn = TRY(deps_.engine.turn(kTurnWait));
  TRY(turn.store().put_note(node::kPlanNote, text));
  last_note_ = text;
  return {};
}

void NodeKeeper::conclude(const Look& now, Going going) {
  std::vector<std::string> reasons = problems_;
  std::vector<std::string> failures;
  for (const apply::StepFailure& failure : failures_) failures.push_back(failure_text(failure));
  const std::vector<std::string> held = texts_of(now.planned.plan.held_back);
  reasons.insert(reasons.end(), failures.begin(), failures.end());
  reasons.insert(reasons.end(), held.begin(), held.end());
  report_once(kube::EventType::kWarning, "NodeStateUnreadable", fmt::format("{}", fmt::join(problems_, "; ")));
  report_once(kube::EventType::kWarning, "StepFailed", fmt::format("{}", fmt::join(failures, "; ")));
  report_once(kube::EventType::kWarning, "ChangeHeldBack", fmt::format("{}", fmt::join(held, "; ")));
  report_once(kube::EventType::kWarning, std::string(kPrefixConflict), prefix_conflict_);
  report_former_names();
  const std::lock_guard lock(mutex_);
  counters_.aside = false;
  counters_.held_back = held.size();
  if (going == Going::kYes && reasons.empty() && !now.planned.plan.changes()) counters_.synced = deps_.clock.wall();
  if (!prefix_conflict_.empty()) reasons.push_back(prefix_conflict_);
  reasons.insert(reasons.end(), about_names_.begin(), about_names_.end());
  reasons_ = std::move(reasons);
}

Result<void> NodeKeeper::stand_aside(const std::string& why) {
  TRY(load());
  if (!kept_->aside) {
    Kept kept = *kept_;
    kept.aside = true;
    kept.names.clear();  // what pods get meanwhile, they get of another plugin
    kept.names_known = false;
    TRY(keep(std::move(kept)));
  }
  report_once(kube::EventType::kNormal, "StandsAside", why);
  {
    const std::lock_guard lock(mutex_);
    counters_.aside = true;
    counters_.held_back = 0;
    reasons_ = {"railbed changes no VFs on this node: " + why};
  }
  failures_.clear();
  last_reported_nics_.clear();
  // The SR-IOV operator's own device plugin has these resources now.
  if (offered_ || !withdrawn_.empty()) TRY(deps_.offers.offer({}));
  offered_.reset();
  offered_names_.clear();
  former_.clear();
  about_names_.clear();
  withdrawn_.clear();
  free_of_drain_.clear();
  return {};
}

Result<milliseconds> NodeKeeper::try_pass(const NodeOrder& order) {
  if (order.current && !order.aside.empty()) {
    TRY(stand_aside(order.aside));
    return settings_.look;
  }
  const Going going = TRY(take(order));
  if (kept_->aside) return settings_.look;  // until the API server says that this has ended
  if (order.current) report_once(kube::EventType::kNormal, "StandsAside", "");
  const graph::Orders orders = orders_ ? graph::orders_in(orders_->meta) : graph::Orders{};
  drain_ = orders.drain;
  drain_problem_ = orders.drain_problem;
  allocated_ = {};
  kubelet_error_.clear();
  Look now = TRY(look());
  if (going == Going::kYes && now.has_work() && deps_.clock.now() >= next_try_) {
    Result<void> brought = bring(now);
    if (!brought) {
      (void)offer(now);  // what was withdrawn
      return fail(std::move(brought.error()));
    }
    tries_ = now.planned.plan.changes() ? tries_ + 1 : 0;
    next_try_ = deps_.clock.now() + std::min(settings_.longest, settings_.look * (1 << std::min(tries_, 10)));
    if (tries_ == 0) next_try_ = {};
  }
  if (going == Going::kYes && now.listed != kept_->listed) {
    Kept kept = *kept_;
    kept.listed = now.listed;
    TRY(keep(std::move(kept)));
  }
  if (!now.planned.plan.changes()) failures_.clear();
  const Result<void> offered = offer(now);
  compare_prefixes();
  if (order.current) {
    report_state(now, SyncPhase::kEnded);
    report_drain(now, going);
  }
  conclude(now, going);
  TRY(note_for_status(now));
  if (!offered) return fail(offered.error());
  const bool waits = !kubelet_error_.empty() || !now.planned.plan.held_back.empty() || !former_.empty();
  return waits ? settings_.waiting : settings_.look;
}

milliseconds NodeKeeper::pass(const NodeOrder& order) {
  {
    const std::lock_guard lock(mutex_);
    ++counters_.passes;
  }
  problems_.clear();
  Result<milliseconds> next = try_pass(order);
  {
    const std::lock_guard lock(mutex_);
    ++counters_.ended;
  }
  if (next) return *next;
  set_reasons({next.error().story()});
  return settings_.waiting;
}

std::vector<std::string> NodeKeeper::reasons() const {
  const std::lock_guard lock(mutex_);
  return reasons_;
}

NodeCounters NodeKeeper::counters() const {
  const std::lock_guard lock(mutex_);
  return counters_;
}

}  // namespace railbed::agent

// SPDX-License-Identifier: Apache-2.0
#include "controller/manager.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "base/format.h"
#include "controller/node_states.h"
#include "doc/members.h"

namespace railbed::controller {

using doc::Value;
using kube::milliseconds;

namespace {

constexpr milliseconds kFlush{2000};
constexpr const char* kLook = "";  // the manager's own task: whether it may write now

// From the moment at which a leader may not begin a write any more to the one at which another may.
constexpr milliseconds write_time() {
  return kube::LeaderSettings{}.lease_duration - kube::LeaderSettings{}.renew_deadline;
}

std::unexpected<kube::ApiError> closed_error() {
  return kube::no_answer(kube::not_sent({.code = Code::kCanceled, .message = "nothing may be written now"}));
}

}  // namespace

Manager::Manager(kube::Transport& transport, kube::Clock& clock, ManagerSettings settings, Report report)
    : clock_(clock),
      settings_(std::move(settings)),
      report_(std::move(report)),
      reader_(transport, clock, {.page = 100}),
      writer_(transport, clock, {.timeout = write_time(), .try_timeout = write_time()}),
      recorder_(writer_, {.controller = "railbed.dev/operator", .instance = settings_.identity}),
      election_(
          transport, clock, {.lease = {settings_.ns, "railbed-operator"}, .identity = settings_.identity},
          [this] {
            report_(Importance::kInfo, "leads");
            later(kLook, "");
          },
          [this] { report_(Importance::kWarning, "no longer the leader"); }),
      queue_(clock),
      cluster_(reader_, settings_.ns) {}

void Manager::add(Reconciler& one) {
  reconcilers_.push_back(&one);
  one.watch();
}

std::vector<kube::Right> Manager::rights() const {
  static constexpr kube::Right kOwn[] = {
      {.kind = kube::kCrds, .verbs = kube::Verb::kGet, .why = "whether a kind is being deleted with its objects"}};
  std::vector<kube::Right> out = Cluster::rights();
  const auto add = [&](std::span<const kube::Right> some) { out.insert(out.end(), some.begin(), some.end()); };
  for (const Reconciler* one : reconcilers_) add(one->rights());
  add(kOwn);
  add(kube::EventRecorder::kRights);
  add(kube::LeaderElection::kRights);
  return out;
}

void Manager::later(std::string_view reconciler, std::string key, milliseconds delay) {
  queue_.add({std::string(reconciler), std::move(key)}, delay);
}

void Manager::add_everything() {
  for (Reconciler* one : reconcilers_) one->add_all();
}

std::string Manager::why_closed() const {
  if (!election_.leads()) {
    const std::string holder = election_.holder();
    const std::optional<Error> error = election_.error();
    if (error) return "leader unknown: " + error->story();
    return holder.empty() || holder == settings_.identity ? "it is not the leader" : holder + " leads";
  }
  std::string missing = cluster_.missing();
  return missing.empty() ? missing : "not everything is known: " + missing;
}

void Manager::look(const std::stop_token& stop) {
  const std::string closed = why_closed();
  bool opened = false, closed_is_new = false;
  {
    const std::lock_guard lock(mutex_);
    opened = closed.empty() && !closed_.empty();
    closed_is_new = closed != closed_;
    closed_ = closed;
    looked_ = clock_.now();
  }
  if (closed_is_new && !closed.empty()) report_(Importance::kWarning, "writes nothing: " + closed);
  if (opened) {
    report_(Importance::kInfo, "everything is known, writes");
    for (Reconciler* one : reconcilers_) one->opened(stop);
  }
  look_at_optional_kinds();
  if (closed.empty() && (missed_.exchange(false) || opened)) add_everything();
  if (closed.empty()) looked_at_everything_ = true;
  later(kLook, "", settings_.look_period);
}

// What each reconciler that reads the kind does now, for people.
std::string Manager::effects_of(OptionalKind kind, Availability availability) const {
  std::string out;
  for (const Reconciler* one : reconcilers_)
    for (const OptionalRead& read : one->optional_kinds()) {
      if (read.kind != kind) continue;
      const bool goes_on = read.without == OptionalRead::Without::kGoesOn;
      out += fmt::format("{}reconciler {} {}", out.empty() ? "" : ", ", one->name(),
                         availability == Availability::kListed ? "works with it"
                         : goes_on                             ? "works without it"
                                                               : "is off until it is listed");
    }
  return out;
}

// Reports each change once. A kind that is listed for the first time is none, nor is an API server that is away before
// it has listed one.
void Manager::look_at_optional_kinds() {
  std::set<Reconciler*> again;
  for (size_t i = 0; i < kOptionalKinds; ++i) {
    const auto kind = static_cast<OptionalKind>(i);
    const OptionalKindStatus now = cluster_.status(kind);
    if (now.availability == Availability::kPending) continue;
    const Availability before = std::exchange(optional_[kind], now.availability);
    if (before == now.availability) continue;
    for (Reconciler* one : reconcilers_)
      for (const OptionalRead& read : one->optional_kinds())
        if (read.kind == kind) again.insert(one);
    if (now.availability != Availability::kListed)
      report_(Importance::kWarning,
              fmt::format("{} is not available: {}; {}", now.name, now.why, effects_of(kind, now.availability)));
    else if (before != Availability::kPending)
      report_(Importance::kInfo,
              fmt::format("{} is available again; {}", now.name, effects_of(kind, now.availability)));
  }
  {
    const std::lock_guard lock(mutex_);
    for (Reconciler* one : dropped_)
      if (!waits(*one)) again.insert(one);
    for (Reconciler* one : again) dropped_.erase(one);
  }
  for (Reconciler* one : again) one->add_all();
}

bool Manager::waits(const Reconciler& one) const {
  return std::ranges::any_of(one.optional_kinds(), [&](const OptionalRead& read) {
    const Availability now = cluster_.status(read.kind).availability;
    return now == Availability::kPending ||
           (now != Availability::kListed && read.without == OptionalRead::Without::kWaits);
  });
}

void Manager::work(std::stop_token stop) {
  while (std::optional<Task> task = queue_.take(stop)) {
    if (carry_out(*task, stop) || stop.stop_requested())
      queue_.done(*task);
    else
      queue_.failed(*task);
  }
}

bool Manager::carry_out(const Task& task, std::stop_token stop) {
  if (task.reconciler == kLook) {
    look(stop);
    return true;
  }
  if (!may_write()) return true;
  const auto found = std::ranges::find(reconcilers_, task.reconciler, &Reconciler::name);
  if (found == reconcilers_.end()) return true;
  if (waits(**found)) {
    const std::lock_guard lock(mutex_);
    dropped_.insert(*found);
    return true;
  }
  return (*found)->reconcile(task.key, std::move(stop));
}

bool Manager::may_write() {
  if (why_closed().empty()) return true;
  missed_ = true;
  return false;
}

bool Manager::wrote(const kube::Resource& kind, const std::string& what, const kube::ApiError* error) {
  {
    const std::lock_guard lock(mutex_);
    ++writes_[{std::string(kind.kind), error == nullptr}];
  }
  if (error == nullptr) return true;
  if (error->code != Code::kCanceled) report_(Importance::kWarning, fmt::format("{}: {}", what, error->story()));
  return false;
}

kube::Answer<Value> Manager::apply(const WriteOf& of, Value object, std::stop_token stop) {
  if (!may_write()) return closed_error();
  kube::Answer<Value> answer = writer_.apply(
      of.resource, std::move(object),
      {.manager = std::string(kFieldManager), .conflicts = kube::ApplyOptions::Conflicts::kTakeOver}, std::move(stop));
  wrote(of.resource, of.what, answer ? nullptr : &answer.error());
  return answer;
}

kube::Answer<Value> Manager::patch(const WriteOf& of, const kube::ObjectKey& key, const Value& patch,
                                   std::stop_token stop) {
  if (!may_write()) return closed_error();
  kube::Answer<Value> answer =
      writer_.patch(of.resource, key, kube::PatchType::kMerge, patch, kube::Part::kObject, std::move(stop));
  wrote(of.resource, of.what, answer ? nullptr : &answer.error());
  return answer;
}

kube::Answer<void> Manager::remove(const WriteOf& of, const kube::ObjectKey& key,
                                   const kube::Preconditions& preconditions, std::stop_token stop) {
  if (!may_write()) return closed_error();
  kube::Answer<void> answer = writer_.remove(of.resource, key, preconditions, std::move(stop));
  if (!answer && answer.error().code == Code::kNotFound) answer = {};
  wrote(of.resource, of.what, answer ? nullptr : &answer.error());
  return answer;
}

void Manager::event(kube::EventType type, std::string reason, std::string note, kube::Regarding about) {
  recorder_.record({.type = type,
                    .reason = std::move(reason),
                    .action = "Reconcile",
                    .note = std::move(note),
                    .object = std::move(about)});
}

void Manager::report_of_namespace(const std::string& reason, const std::string& note) {
  report_(Importance::kWarning, note);
  const kube::ObjectPtr own = cluster_.own_namespace();
  event(kube::EventType::kWarning, reason, note,
        {"v1", "Namespace", {"", settings_.ns}, own != nullptr ? kube::uid_of(*own) : ""});
}

Result<KindDefinition> Manager::definition_of(const kube::Resource& kind, std::stop_token stop) {
  const auto crd = reader_.get(kube::kCrds, {"", fmt::format("{}.{}", kind.plural, kind.group)}, std::move(stop));
  if (!crd && crd.error().code == Code::kDenied) return KindDefinition{};
  if (!crd) return fail(crd.error());
  if (kube::is_being_deleted(*crd)) return fail(Code::kConflict, "it is being deleted");
  return KindDefinition{.uid = kube::uid_of(*crd), .created = kube::metadata_text(*crd, "creationTimestamp")};
}

void Manager::run(std::stop_token stop) {
  std::jthread events([this](std::stop_token end) { recorder_.run(std::move(end)); });
  std::jthread leader([this](std::stop_token end) { election_.run(std::move(end)); });
  cluster_.start();
  later(kLook, "");
  {
    std::vector<std::jthread> writers;
    for (int i = 0; i < std::max(1, settings_.writers); ++i) writers.emplace_back([this, stop] { work(stop); });
  }
  // The Lease is released only once nothing is written any more.
  recorder_.flush(kFlush);
  leader.request_stop();
  leader.join();
  cluster_.stop();
}

ManagerSnapshot Manager::snapshot() const {
  ManagerSnapshot out{.leads = election_.leads(),
                      .holder = election_.holder(),
                      .caches = cluster_.healths(),
                      .optional_kinds = {},
                      .waiting = queue_.size(),
                      .requests = writer_.counters(),
                      .events = recorder_.counters()};
  for (const kube::ClientCounters& other : {reader_.counters(), election_.counters()}) {
    for (const auto& [key, count] : other.requests) out.requests.requests[key] += count;
    out.requests.retries += other.retries;
  }
  for (size_t i = 0; i < kOptionalKinds; ++i)
    out.optional_kinds.push_back(cluster_.status(static_cast<OptionalKind>(i)));
  const std::lock_guard lock(mutex_);
  out.closed = closed_;
  out.writes = writes_;
  out.looked = looked_;
  return out;
}

}  // namespace railbed::controller

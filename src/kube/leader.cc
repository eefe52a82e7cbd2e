// SPDX-License-Identifier: Apache-2.0
#include "kube/leader.h"

#include <algorithm>

#include "doc/members.h"

namespace railbed::kube {
namespace {

using doc::Value;

// One call must end before another one may take the Lease of a leader that could not renew it.
ClientSettings client_settings(const LeaderSettings& settings) {
  const milliseconds spare = (settings.lease_duration - settings.renew_deadline) * 4 / 5;
  return {.timeout = spare, .try_timeout = std::min(spare, settings.renew_deadline / 2), .retry = {.tries = 1}};
}

Value spec_of(const LeaseRecord& record) {
  Value spec;
  spec.set("holderIdentity", record.holder);
  spec.set("leaseDurationSeconds",
           std::max<int64_t>(1, std::chrono::ceil<std::chrono::seconds>(record.duration).count()));
  spec.set("acquireTime", record.acquired);
  spec.set("renewTime", record.renewed);
  spec.set("leaseTransitions", record.transitions);
  return spec;
}

}  // namespace

LeaseRecord lease_record(const Value& lease) {
  const Value* spec = doc::object_in(lease, "spec");
  if (spec == nullptr) return {};
  return {.holder = doc::text_in(*spec, "holderIdentity"),
          .duration = std::chrono::seconds(doc::number_in(*spec, "leaseDurationSeconds")),
          .acquired = doc::text_in(*spec, "acquireTime"),
          .renewed = doc::text_in(*spec, "renewTime"),
          .transitions = doc::number_in(*spec, "leaseTransitions")};
}

bool may_be_taken(const SeenLease& seen, Instant now) {
  return seen.record.holder.empty() || now - seen.unchanged_since > seen.record.duration;
}

LeaderElection::LeaderElection(Transport& transport, Clock& clock, LeaderSettings settings, Observer on_lead,
                               Observer on_lost)
    : clock_(clock),
      settings_(std::move(settings)),
      on_lead_(std::move(on_lead)),
      on_lost_(std::move(on_lost)),
      client_(transport, clock, client_settings(settings_)) {}

bool LeaderElection::leads() const {
  return clock_.now().time_since_epoch().count() < leads_until_.load();
}

std::string LeaderElection::holder() const {
  const std::lock_guard lock(mutex_);
  return seen_.record.holder;
}

std::optional<Error> LeaderElection::error() const {
  const std::lock_guard lock(mutex_);
  return error_;
}

void LeaderElection::look(const LeaseRecord& record) {
  const std::lock_guard lock(mutex_);
  if (record == seen_.record) return;
  seen_ = {record, clock_.now()};
}

Answer<void> LeaderElection::write(Value lease, const LeaseRecord& record, Instant began, std::stop_token stop) {
  lease.set("spec", spec_of(record));
  const Answer<Value> written = resource_version(lease).empty() ? client_.create(kLeases, lease, stop)
                                                                : client_.update(kLeases, lease, Part::kObject, stop);
  if (!written) return std::unexpected(written.error());
  look(record);
  leads_until_ = (began + settings_.renew_deadline).time_since_epoch().count();
  return {};
}

Answer<void> LeaderElection::acquire_or_renew(std::stop_token stop) {
  const Instant began = clock_.now();
  Answer<Value> lease = client_.get(kLeases, settings_.lease, stop);
  if (!lease && lease.error().code != Code::kNotFound) return std::unexpected(std::move(lease.error()));
  const std::string now = micro_time(clock_.wall());
  LeaseRecord mine{settings_.identity, settings_.lease_duration, now, now, 0};
  if (!lease) {
    Value metadata;
    metadata.set("name", settings_.lease.name);
    metadata.set("namespace", settings_.lease.ns);
    Value fresh;
    fresh.set("apiVersion", kLeases.api_version());
    fresh.set("kind", std::string(kLeases.kind));
    fresh.set("metadata", std::move(metadata));
    return write(std::move(fresh), mine, began, stop);
  }
  const LeaseRecord theirs = lease_record(*lease);
  look(theirs);
  mine.transitions = theirs.transitions;
  if (theirs.holder == settings_.identity) {
    mine.acquired = theirs.acquired;
  } else {
    SeenLease seen;
    {
      const std::lock_guard lock(mutex_);
      seen = seen_;
    }
    if (!may_be_taken(seen, clock_.now())) {
      leads_until_ = 0;  // where somebody took it by force, this one leads no more
      return {};
    }
    ++mine.transitions;
  }
  return write(std::move(*lease), mine, began, stop);
}

void LeaderElection::notify(bool& led) {
  const bool leading = leads();
  if (leading == led) return;
  led = leading;
  const Observer& observer = leading ? on_lead_ : on_lost_;
  if (observer) observer();
}

void LeaderElection::run(std::stop_token stop) {
  bool led = false;
  while (!stop.stop_requested()) {
    const Answer<void> done = acquire_or_renew(stop);
    {
      const std::lock_guard lock(mutex_);
      error_.reset();
      if (!done) error_ = done.error();
    }
    notify(led);
    milliseconds pause = settings_.retry_period;
    if (led) {
      // Never past the deadline: the loss is reported at that moment, not at the next renewal.
      const auto left =
          std::chrono::ceil<milliseconds>(Instant::duration(leads_until_.load()) - clock_.now().time_since_epoch());
      pause = std::min(pause, std::max(left, milliseconds(1)));
    } else {
      pause += std::chrono::duration_cast<milliseconds>(pause * clock_.random() / 5);  // candidates spread
    }
    clock_.wait(pause, stop);
    notify(led);
  }
  const bool leading = leads();
  leads_until_ = 0;
  if (led && on_lost_) on_lost_();
  if (leading) release();
}

// What the observer had to end has ended by now. Where the server does not answer, the Lease runs out by itself.
void LeaderElection::release() {
  Answer<Value> lease = client_.get(kLeases, settings_.lease);
  if (!lease || lease_record(*lease).holder != settings_.identity) return;
  LeaseRecord free = lease_record(*lease);
  free.holder = "";
  free.duration = std::chrono::seconds(1);
  free.renewed = micro_time(clock_.wall());
  lease->set("spec", spec_of(free));
  const Answer<Value> released = client_.update(kLeases, *lease);
  if (released) look(free);
}

}  // namespace railbed::kube

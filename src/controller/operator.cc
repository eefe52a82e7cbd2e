// SPDX-License-Identifier: Apache-2.0
#include "controller/operator.h"

namespace railbed::controller {
namespace {

DrainRules drain_rules(const OperatorSettings& settings) {
  DrainRules out = settings.drains;
  out.resource_prefix = settings.resource_prefix;
  return out;
}

}  // namespace

Operator::Operator(kube::Transport& transport, kube::Clock& clock, const OperatorSettings& settings, Report report)
    : manager_(transport, clock,
               {.ns = settings.ns,
                .identity = settings.identity,
                .writers = settings.writers,
                .look_period = settings.look_period},
               std::move(report)),
      upstream_(manager_, settings.policy_namespaces, settings.upstream_quiet, settings.look_period),
      policies_(manager_.cluster(), upstream_, settings.resource_prefix),
      cluster_settings_(manager_.cluster(), upstream_),
      nodes_(manager_, upstream_, policies_, cluster_settings_, outcomes_, drain_notes_,
             {.node_selector = settings.node_selector,
              .settle = settings.settle,
              .status_pause = settings.status_pause,
              .keep_states = settings.keep_states}),
      statuses_(manager_, upstream_, policies_, outcomes_, settings.status_pause),
      networks_(manager_, upstream_, {.resource_prefix = settings.resource_prefix, .retry = settings.settle}),
      cells_(manager_, settings.reclaim, settings.cells_gather),
      identities_(manager_, settings.identities_period),
      configs_(manager_, upstream_, cluster_settings_, settings.status_pause, settings.verbosity),
      drains_(manager_, upstream_, cluster_settings_, drain_notes_, drain_rules(settings)) {
  for (Reconciler* one : std::initializer_list<Reconciler*>{&upstream_, &nodes_, &statuses_, &networks_, &cells_,
                                                            &identities_, &configs_, &drains_})
    manager_.add(*one);
}

OperatorSnapshot Operator::snapshot() const {
  OperatorSnapshot out;
  static_cast<ManagerSnapshot&>(out) = manager_.snapshot();
  out.upstream_operator = upstream_.runs();
  out.held = nodes_.held();
  out.cells = cells_.status();
  out.shared_identities = identities_.shared();
  return out;
}

}  // namespace railbed::controller

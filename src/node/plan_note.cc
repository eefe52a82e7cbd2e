// SPDX-License-Identifier: Apache-2.0
#include "node/plan_note.h"

#include "doc/json.h"
#include "doc/members.h"

namespace railbed::node {

namespace {

using doc::Value;
using State = graph::PolicyOutcome::State;

std::string string_of(const Value* value) {
  return value != nullptr && value->is_string() ? *value->as_string() : "";
}

Value outcome_value(const graph::PolicyOutcome& outcome) {
  Value value = Value::object();
  value.set("policy", outcome.policy);
  value.set("state", static_cast<int>(outcome.state));
  value.set("pfs", doc::texts(outcome.pfs));
  value.set("shadowedBy", doc::texts(outcome.shadowed_by));
  value.set("detail", outcome.detail);
  return value;
}

graph::PolicyOutcome outcome_of(const Value& value) {
  graph::PolicyOutcome outcome;
  outcome.policy = string_of(value.find("policy"));
  const Value* state = value.find("state");
  if (state != nullptr && state->as_int() != nullptr) outcome.state = static_cast<State>(*state->as_int());
  outcome.pfs = texts_in(value, "pfs");
  outcome.shadowed_by = texts_in(value, "shadowedBy");
  outcome.detail = string_of(value.find("detail"));
  return outcome;
}

}  // namespace

std::string to_json(const PlanNote& note) {
  Value value = Value::object();
  value.set("version", 1);
  value.set("node", note.node);
  Value& policies = value.set("policies", Value::array());
  for (const graph::PolicyOutcome& outcome : note.policies) policies.push(outcome_value(outcome));
  value.set("heldBack", doc::texts(note.held_back));
  Value& errors = value.set("podErrors", Value::object());
  for (const auto& [pod, error] : note.pod_errors) errors.set(pod, error);
  return doc::to_json(value);
}

std::optional<PlanNote> parse_plan_note(const std::string& text) {
  doc::Diagnostics diagnostics;
  auto value = doc::parse_json(std::make_shared<doc::Source>(doc::Source{.name = "state", .text = text}), diagnostics);
  if (!value || !value->is_object()) return std::nullopt;
  const Value* version = value->find("version");
  if (version == nullptr || version->as_int() == nullptr || *version->as_int() != 1) return std::nullopt;
  PlanNote note;
  note.node = string_of(value->find("node"));
  if (const Value* policies = value->find("policies"); policies != nullptr && policies->is_array())
    for (const Value& policy : *policies->as_array()) note.policies.push_back(outcome_of(policy));
  note.held_back = texts_in(*value, "heldBack");
  if (const Value* errors = value->find("podErrors"); errors != nullptr && errors->is_object())
    for (const Value::Member& member : *errors->as_object()) note.pod_errors[member.key] = string_of(&member.value);
  return note;
}

}  // namespace railbed::node

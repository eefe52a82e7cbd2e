// SPDX-License-Identifier: Apache-2.0
#include "run_report.h"

#include <map>

#include "base/text.h"
#include "base/well_known.h"
#include "doc/members.h"

namespace railbed {

namespace {

using doc::Value;

std::string lines(const std::vector<std::string>& texts, const char* before = "") {
  std::string all;
  for (const std::string& text : texts) all += before + text + "\n";
  return all;
}

std::string common_lines(const apply::Report& applied, const node::PodsReport& pods) {
  return lines(pods.recovered, "from an earlier run: ") + lines(pods.detached) + lines(pods.attached) +
         lines(applied.notes, "note: ") + lines(pods.notes, "note: ");
}

std::string ending(const apply::Report& applied, const node::PodsReport& pods) {
  size_t failures = applied.failures.size() + pods.failures.size();
  std::string text;
  if (failures > 0) text += fmt::format(", {} failed", failures);
  if (applied.canceled || pods.canceled) text += ", interrupted before everything was done (run it again to continue)";
  return text;
}

Value failures_value(const apply::Report& applied, const node::PodsReport& pods) {
  Value array = Value::array();
  for (const apply::StepFailure& failure : applied.failures) {
    Value one = Value::object();
    one.set("pf", failure.pf.to_string());
    one.set("step", failure.step);
    one.set("policy", failure.policy);
    one.set("error", failure.error.to_string());
    if (failure.error.sys_errno != 0) one.set("errno", errno_name(failure.error.sys_errno));
    one.set("remains", failure.remains);
    one.set("stepsNotTried", static_cast<int64_t>(failure.not_tried));
    array.push(std::move(one));
  }
  for (const node::PodFailure& failure : pods.failures) {
    Value one = Value::object();
    one.set("pod", failure.pod);
    one.set("interface", failure.interface);
    one.set("error", failure.error.to_string());
    if (failure.error.sys_errno != 0) one.set("errno", errno_name(failure.error.sys_errno));
    array.push(std::move(one));
  }
  return array;
}

void add_common(Value& value, const apply::Report& applied, const node::PodsReport& pods) {
  value.set("stepsDone", static_cast<int64_t>(applied.steps_done));
  value.set("recovered", doc::texts(pods.recovered));
  value.set("detached", doc::texts(pods.detached));
  value.set("attached", doc::texts(pods.attached));
  value.set("canceled", applied.canceled || pods.canceled);
  value.set("failures", failures_value(applied, pods));
}

}  // namespace

std::string done_text(const node::UpReport& report) {
  std::string text = common_lines(report.applied, report.pods) + lines(report.notes, "note: ");
  for (const plan::HeldBack& held : report.plan.held_back) text += "deferred: " + held.to_string() + "\n";
  if (report.did_nothing() && report.complete()) {
    text += fmt::format("nothing to do: this machine is in the desired state{} ({} ms)\n",
                        report.plan.held_back.empty() ? "" : ", except for deferred changes", report.took.count());
    return text;
  }
  std::map<std::string, size_t> vfs;
  for (const auto& [resource, pool] : report.plan.resources) vfs[resource] = pool.size();
  for (const auto& [resource, count] : vfs) text += fmt::format("{}: {}\n", resource, counted(count, "VF"));
  return text + fmt::format("up: {} done, {} attached{}, {} ms\n", counted(report.applied.steps_done, "step"),
                            counted(report.pods.attached.size(), "interface"), ending(report.applied, report.pods),
                            report.took.count());
}

std::string done_text(const node::DownReport& report) {
  std::string text = common_lines(report.applied, report.pods) + lines(report.held_back, "deferred: ");
  if (report.did_nothing() && report.complete())
    return text + fmt::format("nothing to do: railbed has changed nothing here ({} ms)\n", report.took.count());
  return text + fmt::format("down: {} done, {} restored{}, {} ms\n", counted(report.applied.steps_done, "step"),
                            counted(report.pfs, "PF"), ending(report.applied, report.pods), report.took.count());
}

std::string failures_text(const apply::Report& applied, const node::PodsReport& pods) {
  std::string text;
  for (const apply::StepFailure& failure : applied.failures) {
    text += fmt::format("railbed: {}\n", failure.error.to_string());
    std::string policy = failure.policy.empty() ? "" : fmt::format("policy {}, ", failure.policy);
    text += fmt::format("  {}step {}: {}", policy, failure.step, failure.remains);
    text += failure.not_tried == 0 ? "\n" : fmt::format("; {} not tried\n", counted(failure.not_tried, "later step"));
  }
  for (const node::PodFailure& failure : pods.failures)
    text += fmt::format("railbed: pod {}{}: {}\n", failure.pod,
                        failure.interface.empty() ? "" : " " + failure.interface, failure.error.to_string());
  return text;
}

Value to_value(const node::UpReport& report) {
  Value value = Value::object();
  value.set("apiVersion", kOwnApiVersion);
  value.set("kind", "UpReport");
  value.set("node", report.plan.node);
  value.set("nothingToDo", report.did_nothing() && report.complete());
  add_common(value, report.applied, report.pods);
  Value& held = value.set("heldBack", Value::array());
  for (const plan::HeldBack& one : report.plan.held_back) held.push(one.to_string());
  value.set("milliseconds", static_cast<int64_t>(report.took.count()));
  return value;
}

Value to_value(const node::DownReport& report) {
  Value value = Value::object();
  value.set("apiVersion", kOwnApiVersion);
  value.set("kind", "DownReport");
  value.set("nothingToDo", report.did_nothing() && report.complete());
  add_common(value, report.applied, report.pods);
  value.set("heldBack", doc::texts(report.held_back));
  value.set("milliseconds", static_cast<int64_t>(report.took.count()));
  return value;
}

}  // namespace railbed

// SPDX-License-Identifier: Apache-2.0
// Workloads that run forever, and what belongs to tests in them.
#include <algorithm>
#include <string_view>

#include "check/rules/env_settings.h"
#include "check/rules/families.h"
#include "check/rules/lookups.h"

namespace railbed::check {
namespace {

using doc::Value;

// Kinds whose pods are started again whenever they end.
bool serves_forever(const PodTemplate& pod) {
  static constexpr std::string_view kKinds[] = {
      "Deployment", "ReplicaSet", "StatefulSet", "LeaderWorkerSet",       "LLMInferenceService", "InferenceService",
      "NIMService", "RayService", "RayCluster",  "DynamoGraphDeployment", "ServingRuntime"};
  return std::ranges::find(kKinds, pod.document->kind) != std::end(kKinds);
}

// The words of command and args.
std::string command_of(const Container& container) {
  std::string words;
  for (const std::string_view key : {"command", "args"})
    for (const Word& word : texts_at(*container.value, key)) words += lower(word.text) + " ";
  return words;
}

// Whether a word of the text, which is in small letters, begins so: "train.py" with "train", and not "constrained".
bool has_word_from(std::string_view text, std::string_view begin) {
  const auto goes_on = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  for (size_t at = text.find(begin); at != std::string_view::npos; at = text.find(begin, at + 1))
    if (at == 0 || !goes_on(text[at - 1])) return true;
  return false;
}

// A container that waits for a person (sleep infinity), or trains: what it prints is read while it runs. One that waits
// for a moment before it serves is none of those.
bool is_for_tests(const Container& container) {
  static constexpr std::string_view kWaits[] = {"sleep inf", "tail -f"};
  static constexpr std::string_view kServers[] = {"vllm serve",   "launch_server", "api_server",
                                                  "tritonserver", "trtllm-serve",  "serve run"};
  static constexpr std::string_view kTests[] = {"sleep",    "train",           "pretrain",
                                                "finetune", "all_reduce_perf", "nccl-test"};
  const std::string words = command_of(container);
  const auto has = [&](std::string_view one) { return has_word_from(words, one); };
  if (std::ranges::any_of(kWaits, has)) return true;
  return std::ranges::none_of(kServers, has) && std::ranges::any_of(kTests, has);
}

void verbose_forever(const Input& in, Findings& out) {
  for (const PodView& pod : in.views.pods) {
    if (!serves_forever(*pod.pod)) continue;
    for (const Setting& setting : settings_of(pod)) {
      if (setting.name != "NCCL_DEBUG" || !setting.is_literal() || setting.container == nullptr) continue;
      const std::string level = lower(setting.text);
      if (level != "info" && level != "trace") continue;
      if (setting.container->env("NCCL_DEBUG_FILE") != nullptr || is_for_tests(*setting.container)) continue;
      out.note(
             setting.value->span,
             fmt::format(
                 "{} is a long-running service with NCCL_DEBUG={}: each rank writes hundreds of lines at every start into "
                 "its log",
                 pod.pod->label(), setting.text))
          .with_fix("value: WARN, or leave it out; NCCL_DEBUG_FILE=/tmp/nccl.%h.%p keeps the lines out of the log")
          .about_field(setting.name);
    }
  }
}

constexpr Rule kServingRules[] = {
    {"RB-SERVE-001", "NCCL debug output in a long-running service", Needs::kNothing, verbose_forever},
};

}  // namespace

std::span<const Rule> serving_rules() {
  return kServingRules;
}

}  // namespace railbed::check

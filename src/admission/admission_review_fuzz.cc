// SPDX-License-Identifier: Apache-2.0
// Any text as an AdmissionReview: no crash; every answer is JSON with the uid; patches are on the closed list, can be
// applied, and change nothing the second time.
#include "admission/judge.h"
#include "admission/patches.h"
#include "admission/test_patches.h"

using namespace railbed;  // NOLINT

namespace {

void require(bool holds) {
  if (!holds) __builtin_trap();
}

const admission::Networks& some_networks() {
  static const admission::Networks kNetworks{
      .by_key = {{"ai/rail0", {.resource = "openshift.io/rail0", .node_selector = "rails=yes"}},
                 {"ai/rail1", {.resource = "openshift.io/rail1"}},
                 {"default/a", {.resource = "openshift.io/rail0"}},
                 {"default/cpu", {.resource = "cpu"}}},
      .node_labels = {"rails"}};
  return kNetworks;
}

void require_a_json_answer(const admission::Answer& answer) {
  const doc::Value json = admission::json_of(admission::to_json(answer));
  const doc::Value* response = json.find("response");
  require(response != nullptr && response->find("uid") != nullptr && *response->find("uid") == answer.uid);
  require(answer.warnings.size() <= admission::kMaxWarnings);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto review = admission::read_review({reinterpret_cast<const char*>(data), size});
  if (!review.has_value()) {
    require_a_json_answer(review.error());
    return 0;
  }
  require_a_json_answer(admission::judge(*review, {}));
  const admission::Answer answer = admission::inject(*review, some_networks(), {});
  require_a_json_answer(answer);
  for (const admission::Patch& patch : answer.patches) require(admission::is_on_the_list(patch));
  admission::Review again = *review;
  const auto pod = admission::patched(review->object, answer.patches);
  require(pod.has_value());
  again.object = *pod;
  require(admission::inject(again, some_networks(), {}).patches.empty());
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
// What runs in a long-running workload: a server, or what only waits or trains.
#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "check/case_files.h"

namespace railbed::check {
namespace {

TEST(ServingRules, ServersAreNoTestsThatWaitOrTrain) {
  const struct {
    const char* command;
    bool serves;
  } rows[] = {
      {R"(["vllm", "serve", "/models/a"])", true},
      {R"(["sh", "-c", "sleep 10 && exec vllm serve /models/a"])", true},
      {R"(["python3", "-m", "sglang.launch_server", "--constrained-json-whitespace-pattern", "x"])", true},
      {R"(["python3", "-m", "vllm.entrypoints.openai.api_server", "--served-model-name", "trained-by-us"])", true},
      {R"(["server", "--constrained"])", true},
      {R"(["infinity_emb", "v2"])", true},
      {R"(["tritonserver", "--model-repository=/train/models"])", true},
      {R"(["sleep", "infinity"])", false},
      {R"(["/bin/sleep", "inf"])", false},
      {R"(["sh", "-c", "tail -f /dev/null"])", false},
      {R"(["sh", "-c", "set -x; sleep inf; vllm serve /models/a"])", false},
      {R"(["torchrun", "train.py"])", false},
      {R"(["python", "/workspace/llama_train.py"])", false},
      {R"(["torchrun", "pretrain_gpt.py"])", false},
      {R"(["bash", "-c", "/opt/nccl-tests/build/all_reduce_perf -b 8"])", false},
  };
  const std::string text = content(testdata() / "check/RB-SERVE-001/bad.yaml");
  const std::string from = R"(["vllm", "serve", "/models/a"])";
  for (const auto& row : rows) {
    std::string changed = text;
    ASSERT_NE(changed.find(from), std::string::npos);
    changed.replace(changed.find(from), from.size(), row.command);
    const Report report = testing_cases::report_of("a.yaml", changed);
    const bool found =
        std::ranges::any_of(report.findings.all(), [](const doc::Diagnostic& one) { return one.id == "RB-SERVE-001"; });
    EXPECT_EQ(found, row.serves) << row.command;
  }
}

}  // namespace
}  // namespace railbed::check

// SPDX-License-Identifier: Apache-2.0
#include "agent/door/readiness.h"

namespace railbed::agent {
namespace {

// As long as a turn that attaches eight VFs; a burst of pods must not make the node unready.
constexpr std::chrono::seconds kProbePatience{10};
constexpr const char* kProbe = "probe/writable";
constexpr size_t kProbeBytes = 64 << 10;

Result<void> write_state(Engine& engine) {
  Engine::Turn turn = TRY(engine.turn(kProbePatience));
  // Written and gone again: a page of the journal is needed anyway.
  auto transaction = TRY(state::Transaction::begin(turn.store()));
  TRY(turn.store().put_note(kProbe, "1"));
  TRY(turn.store().forget_note(kProbe));
  return transaction.commit();
}

}  // namespace

Result<void> Readiness::look() {
  TRY(write_state(engine_).context("writing the state failed"));
  Result<void> room = disk_.replace(probe_, std::string(kProbeBytes, '.'), 0600);
  if (room.has_value()) room = disk_.remove(probe_);
  TRY(std::move(room).context("no space next to the state"));
  return {};
}

std::vector<std::string> Readiness::reasons() {
  std::vector<std::string> all;
  if (auto writable = memory_.answer(engine_.kernel().clock(), "state", [this] { return look(); }); !writable)
    all.push_back(writable.error().story());
  for (const auto& other : others_)
    for (std::string& reason : other()) all.push_back(std::move(reason));
  return all;
}

Error not_ready(const std::vector<std::string>& reasons) {
  return cni::error_with(cni::kUnavailable, fmt::format("{}", fmt::join(reasons, "; ")),
                         "run `railbed status` for details");
}

}  // namespace railbed::agent

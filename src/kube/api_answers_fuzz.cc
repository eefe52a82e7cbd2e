// SPDX-License-Identifier: Apache-2.0
// Any bytes as answers of an API server: pages of lists, objects, bodies of refusals. No crash and no list without end;
// what is kept is within its bounds, and messages have no control characters and a length that a log bears.
//
// The bytes are answers, separated by lines of "%". The first byte of one chooses its status.
#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "doc/json.h"
#include "kube/client.h"
#include "kube/kinds.h"

using namespace railbed;  // NOLINT

namespace {

constexpr size_t kMostMessageBytes = 8 << 10;
constexpr kube::CacheBounds kMost{.objects = 50, .bytes = 64 << 10};

class Clock : public kube::Clock {
 public:
  kube::Instant now() const override { return now_; }
  kube::WallTime wall() const override { return {}; }
  double random() override { return 0.5; }
  bool wait(kube::milliseconds period, std::stop_token) override {
    now_ += period;
    return true;
  }
  bool wait_for(std::unique_lock<std::mutex>&, std::condition_variable_any&, kube::milliseconds period, std::stop_token,
                const std::function<bool()>& holds) override {
    now_ += period;
    return holds();
  }
  void pass(kube::milliseconds period) { now_ += period; }

 private:
  kube::Instant now_{};
};

// The answers one after the other, then again from the first.
class Answers : public kube::Transport {
 public:
  Answers(std::string_view bytes, Clock& clock) : clock_(clock) {
    while (all_.size() < 8) {
      const size_t end = bytes.find("\n%\n");
      all_.emplace_back(bytes.substr(0, end));
      if (end == std::string_view::npos) break;
      bytes.remove_prefix(end + 3);
    }
  }
  kube::Answer<kube::Response> send(const kube::Request& request, std::stop_token) override {
    static constexpr int kStatus[] = {200, 201, 400, 403, 404, 409, 410, 422, 429, 500, 503, 302};
    clock_.pass(kube::milliseconds(1));
    if (++sent_ > 20'000) std::abort();
    const std::string& answer = all_[next_++ % all_.size()];
    const int status = answer.empty() ? 500 : kStatus[static_cast<unsigned char>(answer[0]) % std::size(kStatus)];
    const std::string body = answer.empty() ? "" : answer.substr(1);
    if (status >= 300) return kube::no_answer(kube::refused(request.to_string(), status, body));
    return kube::Response{status, body};
  }
  kube::Answer<std::unique_ptr<kube::ByteStream>> open(const kube::Request&, std::stop_token) override { std::abort(); }

 private:
  Clock& clock_;
  std::vector<std::string> all_;
  size_t next_ = 0;
  size_t sent_ = 0;
};

void check(const Error& error) {
  const std::string text = error.to_string();
  const bool clean =
      std::ranges::none_of(text, [](unsigned char c) { return (c < ' ' && c != '\n' && c != '\t') || c == 0x7F; });
  if (text.empty() || !clean || text.size() > kMostMessageBytes) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  Clock clock;
  Answers transport(bytes, clock);
  kube::Client client(
      transport, clock,
      {.bounds = {.list = kMost, .visit = kMost, .answer = {.text_bytes = 32 << 10, .memory_bytes = 256 << 10}}});
  const auto list = client.list(kube::kPods, {});
  if (!list)
    check(list.error());
  else if (list->objects.size() > kMost.objects)
    std::abort();
  size_t seen = 0;
  const auto visited = client.visit(kube::kPods, {}, kube::trim_metadata, [&](const doc::Value& object) {
    if (!object.is_object() || ++seen > kMost.objects) std::abort();
    return kube::Visit::kGoOn;
  });
  if (!visited) check(visited.error());
  if (const auto object = client.get(kube::kPods, {"ns", "a"}); !object) check(object.error());
  for (const int status : {403, 429, 500}) {
    const kube::ApiError error = kube::refused("GET /x", status, bytes);
    check(error);
    if (error.status != status || (error.retry_after && *error.retry_after > kube::kLongestRetryAfter)) std::abort();
  }
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
#include "kube/curl_transport.h"

#include <atomic>
#include <charconv>
#include <thread>

#include "doc/text.h"
#include "kube/curl_transfer.h"

namespace railbed::kube {
namespace {

// The thread that moves all transfers. They are handed over and called off through lists; no other thread touches
// curl's handles while they are in the multi handle.
class Mover {
 public:
  explicit Mover(CURLM* multi) : multi_(multi), thread_([this](std::stop_token stop) { run(stop); }) {}
  ~Mover() {
    thread_.request_stop();
    curl_multi_wakeup(multi_);
    thread_.join();
    curl_multi_cleanup(multi_);
  }
  Mover(const Mover&) = delete;
  Mover& operator=(const Mover&) = delete;

  void begin(std::shared_ptr<Transfer> transfer) { hand_over(std::move(transfer), arriving_); }
  // Returns at once; the transfer may get some more bytes.
  void call_off(std::shared_ptr<Transfer> transfer) { hand_over(std::move(transfer), leaving_); }

 private:
  using Transfers = std::vector<std::shared_ptr<Transfer>>;

  void hand_over(std::shared_ptr<Transfer> transfer, Transfers& list) {
    {
      const std::lock_guard lock(mutex_);
      list.push_back(std::move(transfer));
    }
    curl_multi_wakeup(multi_);
  }

  void run(const std::stop_token& stop) {
    Transfers moving;
    while (!stop.stop_requested()) {
      take_lists(moving);
      int running = 0;
      curl_multi_perform(multi_, &running);
      int left = 0;
      while (const CURLMsg* message = curl_multi_info_read(multi_, &left)) {
        if (message->msg != CURLMSG_DONE) continue;
        const auto which =
            std::ranges::find(moving, message->easy_handle, [](const auto& each) { return each->handle(); });
        if (which != moving.end()) leave(moving, which, message->data.result);
      }
      curl_multi_poll(multi_, nullptr, 0, 1000, nullptr);
    }
    while (!moving.empty()) leave(moving, moving.begin(), CURLE_ABORTED_BY_CALLBACK);
  }

  void take_lists(Transfers& moving) {
    Transfers arriving;
    Transfers leaving;
    {
      const std::lock_guard lock(mutex_);
      arriving.swap(arriving_);
      leaving.swap(leaving_);
    }
    for (std::shared_ptr<Transfer>& each : arriving) {
      curl_multi_add_handle(multi_, each->handle());
      moving.push_back(std::move(each));
    }
    for (const std::shared_ptr<Transfer>& each : leaving)
      if (const auto which = std::ranges::find(moving, each); which != moving.end())
        leave(moving, which, CURLE_ABORTED_BY_CALLBACK);
  }

  void leave(Transfers& moving, Transfers::iterator which, CURLcode result) {
    const std::shared_ptr<Transfer> transfer = std::move(*which);
    moving.erase(which);
    curl_multi_remove_handle(multi_, transfer->handle());
    transfer->finish(result);
  }

  CURLM* multi_;
  std::mutex mutex_;
  Transfers arriving_;
  Transfers leaving_;
  std::jthread thread_;  // last: it uses all above
};

class CurlStream : public ByteStream {
 public:
  CurlStream(Mover& mover, std::shared_ptr<Transfer> transfer, std::atomic<bool>& distrust)
      : mover_(mover), transfer_(std::move(transfer)), distrust_(distrust) {}
  ~CurlStream() override { mover_.call_off(transfer_); }

  Answer<std::string> next(std::stop_token stop) override {
    Answer<std::string> bytes = transfer_->next_bytes(stop);
    if (!bytes && bytes.error().code == Code::kTimeout) distrust_ = true;
    return bytes;
  }

 private:
  Mover& mover_;
  std::shared_ptr<Transfer> transfer_;
  std::atomic<bool>& distrust_;
};

class CurlTransport : public Transport {
 public:
  CurlTransport(Credentials& credentials, CurlSettings settings, CURLM* multi)
      : credentials_(credentials), settings_(std::move(settings)), mover_(multi) {}

  Answer<Response> send(const Request& request, std::stop_token stop) override {
    return with_credentials(request, [&](const Credentials::Now& now) -> Answer<Response> {
      Answer<std::shared_ptr<Transfer>> transfer = begin(request, now, Transfer::Kind::kWhole);
      if (!transfer) return no_answer(std::move(transfer.error()));
      Answer<Response> answer = (*transfer)->whole(stop);
      if (!answer) mover_.call_off(*transfer);
      note(answer ? nullptr : &answer.error());
      return answer;
    });
  }

  Answer<std::unique_ptr<ByteStream>> open(const Request& request, std::stop_token stop) override {
    return with_credentials(request, [&](const Credentials::Now& now) -> Answer<std::unique_ptr<ByteStream>> {
      Answer<std::shared_ptr<Transfer>> transfer = begin(request, now, Transfer::Kind::kStream);
      if (!transfer) return no_answer(std::move(transfer.error()));
      const Answer<void> begun = (*transfer)->wait_begun(stop);
      note(begun ? nullptr : &begun.error());
      if (begun) return std::make_unique<CurlStream>(mover_, std::move(*transfer), distrust_);
      mover_.call_off(*transfer);
      return no_answer(begun.error());
    });
  }

 private:
  template <typename Ask>
  auto with_credentials(const Request& request, const Ask& ask) -> decltype(ask(Credentials::Now{})) {
    const Result<Credentials::Now> now = credentials_.now();
    if (!now) {
      ApiError error = not_sent(now.error());
      error.context.push_back(request.to_string());
      return no_answer(std::move(error));
    }
    auto answer = ask(*now);
    if (answer || answer.error().status != 401 || !credentials_.renewed(*now)) return answer;
    const Result<Credentials::Now> fresh = credentials_.now();
    return fresh ? ask(*fresh) : std::move(answer);
  }

  Answer<std::shared_ptr<Transfer>> begin(const Request& request, const Credentials::Now& now, Transfer::Kind kind) {
    auto transfer = std::make_shared<Transfer>(request, kind, settings_);
    const Result<void> ready = transfer->prepare(credentials_.access(), now, distrust_);
    if (!ready) return no_answer(not_sent(ready.error()));
    mover_.begin(transfer);
    return transfer;
  }

  // A connection on which nothing came in time may be dead, although no error was reported: the next one is new.
  void note(const ApiError* error) {
    if (error == nullptr || error->status != 0)
      distrust_ = false;
    else if (error->code == Code::kTimeout)
      distrust_ = true;
  }

  Credentials& credentials_;
  const CurlSettings settings_;
  std::atomic<bool> distrust_{false};
  Mover mover_;
};

}  // namespace

Result<std::unique_ptr<Transport>> make_curl_transport(Credentials& credentials, const CurlSettings& settings) {
  static const CURLcode once = curl_global_init(CURL_GLOBAL_DEFAULT);
  if (once != CURLE_OK) return fail(Code::kInternal, "libcurl does not start: {}", curl_easy_strerror(once));
  CURLM* multi = curl_multi_init();
  if (multi == nullptr) return fail(Code::kExhausted, "libcurl has no memory");
  curl_multi_setopt(multi, CURLMOPT_PIPELINING, long{CURLPIPE_MULTIPLEX});
  // libcurl's own limit of 100 streams would give each further watch a connection of its own.
  curl_multi_setopt(multi, CURLMOPT_MAX_CONCURRENT_STREAMS, 250L);
  return std::make_unique<CurlTransport>(credentials, settings, multi);
}

}  // namespace railbed::kube

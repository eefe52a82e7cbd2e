// SPDX-License-Identifier: Apache-2.0
#include "agent/door/server.h"

#include <algorithm>
#include <exception>
#include <thread>
#include <unordered_map>

#include "agent/door/work_queue.h"
#include "cni/wire.h"

namespace railbed::agent {

namespace {
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr uint64_t kListenerKey = 0;
constexpr uint64_t kWakerKey = 1;
constexpr uint64_t kFirstClient = 2;
constexpr size_t kReadBytes = 64 << 10;
// When all requests together are too large, only those beyond this size are refused.
constexpr size_t kSmallBytes = 64 << 10;
constexpr milliseconds kIdle{60'000};
// How long to stop accepting when descriptors or memory have run out.
constexpr milliseconds kRest{100};
// After so many new clients the existing ones are read again, so that a flood of connections cannot starve them.
constexpr int kAcceptAtOnce = 32;

std::string answer_frame(const Reply& reply) {
  return cni::to_frame(cni::WireAnswer{static_cast<uint8_t>(std::clamp(reply.status, 0, 255)), reply.output});
}
std::string failure_frame(int code, std::string message, std::string details = {}, int status = 1) {
  return answer_frame({status, cni::to_json(cni::Failure{code, std::move(message), std::move(details)}, "")});
}

struct Job {
  uint64_t client = 0;
  cni::Request request;
};
struct Done {
  uint64_t client = 0;
  std::string frame;
};

struct Client {
  enum class State : uint8_t { kReading, kWorking, kWriting };
  os::Connection connection;
  State state = State::kReading;
  Clock::time_point deadline;
  std::string in;  // the received part of the frame
  std::string out;
  size_t written = 0;
};
}  // namespace

struct Server::Impl {
  os::UnixListener listener;
  Handler handler;
  ServerOptions options;

  os::Poller poller;
  os::Waker waker;
  WorkQueue<Job> jobs;
  WorkQueue<Job> quick_jobs;
  WorkQueue<Done> done;
  std::unordered_map<uint64_t, Client> clients;
  std::vector<char> buffer = std::vector<char>(kReadBytes);
  uint64_t next_key = kFirstClient;
  size_t bytes = 0;  // of all `in` together
  bool accepting = true;
  Clock::time_point rest_until{};

  void work(WorkQueue<Job>& queue);
  void accept_some();
  void read(uint64_t key, Client& client);
  bool take_frame(uint64_t key, Client& client);
  void start_job(uint64_t key, Client& client, cni::WireRequest wire);
  void answer(uint64_t key, Client& client, std::string frame);
  void write(uint64_t key, Client& client);
  void drop(uint64_t key);
  void take_answers();
  void drop_late(Clock::time_point now);
  milliseconds until_next(Clock::time_point now) const;
  void begin_stop();
};

void Server::Impl::work(WorkQueue<Job>& queue) {
  while (auto job = queue.take()) {
    Reply reply;
    try {
      reply = handler(job->request);
    } catch (const std::exception& problem) {
      reply = {1, cni::to_json(cni::Failure{cni::kInternal, problem.what(), {}}, "")};
    }
    done.put({job->client, answer_frame(reply)});
    waker.wake();
  }
}

void Server::Impl::accept_some() {
  for (int i = 0; accepting && i < kAcceptAtOnce; ++i) {
    auto next = listener.accept();
    if (!next) {
      poller.remove(listener.fd());
      rest_until = Clock::now() + kRest;
      return;
    }
    if (!*next) return;
    const uint64_t key = next_key++;
    const auto peer = (*next)->peer();
    Client& client = clients.emplace(key, Client{.connection = std::move(**next)}).first->second;
    client.deadline = Clock::now() + options.request_time;
    if (!peer || peer->uid != options.uid) {
      answer(key, client,
             failure_frame(cni::kInvalidEnvironment, fmt::format("the agent answers user {} only", options.uid),
                           "CNI plugins are run by the container runtime, as root"));
    } else if (clients.size() > options.most_connections) {
      answer(key, client,
             failure_frame(cni::kTryAgainLater,
                           fmt::format("{} requests are being served already", options.most_connections)));
    } else if (!poller.add(client.connection.fd(), key, os::Await::kRead)) {
      drop(key);
    }
  }
}

// Reads what is there, at most one buffer: the others come in between.
void Server::Impl::read(uint64_t key, Client& client) {
  auto got = client.connection.read_some(buffer);
  if (got && !*got) return;
  if (!got || **got == 0) return drop(key);
  client.in.append(buffer.data(), **got);
  bytes += **got;
  if (take_frame(key, client)) return;
  if (bytes > options.most_bytes && client.in.size() > kSmallBytes)
    answer(key, client, failure_frame(cni::kTryAgainLater, "too many large requests are being read"));
}

// True when the client needs no further reading.
bool Server::Impl::take_frame(uint64_t key, Client& client) {
  if (client.in.size() < cni::kFrameHeadBytes && std::string_view("RBC1").starts_with(client.in.substr(0, 4)))
    return false;
  std::string why;
  const auto head = cni::read_frame_head(client.in, why);
  const auto refuse = [&](std::string message) {
    answer(key, client, failure_frame(cni::kDecode, "the request on the agent's socket: " + message));
    return true;
  };
  if (!head) return refuse(why);
  if (head->kind != cni::FrameKind::kRequest) return refuse("an answer came where a request should");
  if (head->payload_bytes > options.most_payload_bytes)
    return refuse(fmt::format("{} bytes are more than {}", head->payload_bytes, options.most_payload_bytes));
  const size_t whole = cni::kFrameHeadBytes + head->payload_bytes;
  if (client.in.size() < whole) return false;
  if (client.in.size() > whole) return refuse("bytes follow its end");
  auto wire = cni::read_wire_request(std::string_view(client.in).substr(cni::kFrameHeadBytes), why);
  if (!wire) return refuse(why);
  start_job(key, client, std::move(*wire));
  return true;
}

void Server::Impl::start_job(uint64_t key, Client& client, cni::WireRequest wire) {
  auto request = cni::read_request(wire.type, wire.environment, std::move(wire.config));
  if (!request) return answer(key, client, answer_frame({1, cni::to_json(request.error(), "")}));
  bytes -= client.in.size();
  std::string().swap(client.in);
  // The protocol has nothing more to read before the answer, and a client that disconnects does not matter.
  poller.remove(client.connection.fd());
  client.state = Client::State::kWorking;
  const bool quick = request->command == cni::Command::kStatus || request->command == cni::Command::kVersion;
  (quick ? quick_jobs : jobs).put({key, std::move(*request)});
}

void Server::Impl::answer(uint64_t key, Client& client, std::string frame) {
  bytes -= client.in.size();
  std::string().swap(client.in);
  client.state = Client::State::kWriting;
  client.deadline = Clock::now() + options.request_time;
  client.out = std::move(frame);
  write(key, client);
}

void Server::Impl::write(uint64_t key, Client& client) {
  const auto put = client.connection.write_some(std::string_view(client.out).substr(client.written));
  if (!put) return drop(key);
  client.written += *put;
  if (client.written == client.out.size()) return drop(key);
  if (!poller.add(client.connection.fd(), key, os::Await::kWrite)) drop(key);
}

void Server::Impl::drop(uint64_t key) {
  const auto found = clients.find(key);
  if (found == clients.end()) return;
  bytes -= found->second.in.size();
  poller.remove(found->second.connection.fd());
  clients.erase(found);
}

void Server::Impl::take_answers() {
  for (Done& one : done.take_all()) {
    const auto found = clients.find(one.client);
    if (found != clients.end()) answer(one.client, found->second, std::move(one.frame));
  }
}

void Server::Impl::drop_late(Clock::time_point now) {
  std::vector<uint64_t> late;
  for (const auto& [key, client] : clients)
    if (client.state != Client::State::kWorking && client.deadline <= now) late.push_back(key);
  for (uint64_t key : late) {
    Client& client = clients.at(key);
    if (client.state == Client::State::kWriting || client.in.empty())
      drop(key);
    else
      answer(key, client, failure_frame(cni::kDecode, "the request did not arrive in time"));
  }
}

milliseconds Server::Impl::until_next(Clock::time_point now) const {
  Clock::time_point next = now + kIdle;
  for (const auto& [key, client] : clients)
    if (client.state != Client::State::kWorking) next = std::min(next, client.deadline);
  if (rest_until > now) next = std::min(next, rest_until);
  return std::max(std::chrono::ceil<milliseconds>(next - now), milliseconds(0));
}

void Server::Impl::begin_stop() {
  accepting = false;
  poller.remove(listener.fd());
  std::deque<Job> waiting = jobs.take_all();
  for (Job& job : quick_jobs.take_all()) waiting.push_back(std::move(job));
  for (const Job& job : waiting) {
    if (job.request.command == cni::Command::kDel)
      drop(job.client);
    else if (const auto found = clients.find(job.client); found != clients.end())
      answer(job.client, found->second,
             failure_frame(cni::kTryAgainLater, "the agent is stopping", {}, cni::kAskAgain));
  }
  std::vector<uint64_t> reading;
  for (const auto& [key, client] : clients)
    if (client.state == Client::State::kReading) reading.push_back(key);
  for (uint64_t key : reading) drop(key);
}

Server::Server(os::UnixListener listener, Handler handler, ServerOptions options)
    : impl_(std::make_unique<Impl>(std::move(listener), std::move(handler), options)) {}
Server::~Server() = default;

namespace {
// Ends its threads with their queues, however run() ends.
class Workers {
 public:
  explicit Workers(std::vector<WorkQueue<Job>*> queues) : queues_(std::move(queues)) {}
  ~Workers() {
    for (WorkQueue<Job>* queue : queues_) queue->close();
    for (std::thread& thread : threads_) thread.join();
  }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;
  template <typename F>
  void add(F work) {
    threads_.emplace_back(std::move(work));
  }

 private:
  std::vector<WorkQueue<Job>*> queues_;
  std::vector<std::thread> threads_;
};
}  // namespace

Result<void> Server::run(std::stop_token stop) {
  Impl& impl = *impl_;
  TRY(impl.poller.add(impl.listener.fd(), kListenerKey, os::Await::kRead));
  TRY(impl.poller.add(impl.waker.fd(), kWakerKey, os::Await::kRead));
  Workers workers({&impl.jobs, &impl.quick_jobs});
  workers.add([&impl] { impl.work(impl.quick_jobs); });
  for (int i = 0; i < impl.options.workers; ++i) workers.add([&impl] { impl.work(impl.jobs); });
  const std::stop_callback wake(stop, [&impl] { impl.waker.wake(); });
  while (impl.accepting || !impl.clients.empty()) {
    if (stop.stop_requested() && impl.accepting) {
      impl.begin_stop();
      continue;
    }
    for (uint64_t key : impl.poller.wait(impl.until_next(Clock::now()))) {
      if (key == kListenerKey) impl.accept_some();
      if (key == kWakerKey) impl.waker.clear();
      const auto found = impl.clients.find(key);
      if (found == impl.clients.end()) continue;
      if (found->second.state == Client::State::kReading)
        impl.read(key, found->second);
      else if (found->second.state == Client::State::kWriting)
        impl.write(key, found->second);
    }
    impl.take_answers();
    const auto now = Clock::now();
    impl.drop_late(now);
    if (impl.rest_until != Clock::time_point{} && impl.rest_until <= now && impl.accepting) {
      impl.rest_until = {};
      TRY(impl.poller.add(impl.listener.fd(), kListenerKey, os::Await::kRead));
    }
  }
  return {};
}

}  // namespace railbed::agent

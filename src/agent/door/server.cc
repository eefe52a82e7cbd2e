// SPDX-License-Identifier: Apache-2.0
#include "agent/door/server.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <map>
#include <unordered_map>

#include "agent/door/crew.h"
#include "agent/door/loop.h"
#include "agent/door/order.h"
#include "agent/door/work_queue.h"
#include "cni/wire.h"

namespace railbed::agent {

namespace {
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr uint64_t kNoClient = kFirstFreeKey;
constexpr uint64_t kFirstClient = kNoClient + 1;
constexpr size_t kReadBytes = 64 << 10;
// When all requests together are too large, only those beyond this size are refused.
constexpr size_t kSmallBytes = 64 << 10;
// After so many new clients the existing ones are read again, so that a flood of connections cannot starve them.
constexpr int kAcceptAtOnce = 32;
constexpr size_t kMostQuestions = 128;

// The only place where a failure becomes JSON.
std::string answer_frame(const Reply& reply, uint8_t failed = 1) {
  if (reply.result.has_value()) return cni::to_frame(cni::WireAnswer{0, *reply.result});
  return cni::to_frame(cni::WireAnswer{failed, cni::to_json(reply.result.error(), reply.version)});
}
std::string failure_frame(int code, std::string message, std::string hint = {}) {
  return answer_frame({.result = cni::fail_with(code, std::move(message), std::move(hint))});
}
// For a request that the next agent can serve.
std::string stopping_frame() {
  return answer_frame({.result = cni::fail_with(cni::kTryAgainLater, "the agent is stopping")}, cni::kAskAgain);
}

}  // namespace

struct Server::Loop {
  struct Job {
    uint64_t client = 0;  // kNoClient: an ADD whose client has disconnected is undone
    cni::Request request;
    std::string order;                        // order_of(request)
    std::shared_ptr<std::atomic<bool>> gone;  // its client
    std::shared_ptr<void> held;               // ServerOptions::hold
  };
  struct Done {
    Job job;
    Reply reply;
  };

  struct Client {
    enum class State : uint8_t { kReading, kWorking, kWriting };
    os::Connection connection;
    State state = State::kReading;
    Clock::time_point deadline;
    std::shared_ptr<std::atomic<bool>> gone = std::make_shared<std::atomic<bool>>(false);
    std::optional<Job> undo;  // of an ADD that is done: the DEL for the case that the answer does not arrive
    bool is_counted = false;  // among `of_runtimes`
    std::string in;           // the received part of the frame
    os::Descriptor passed;    // with it
    std::string out;
    size_t written = 0;
  };

  os::UnixListener listener;
  Handler handler;
  ServerOptions options;

  os::Poller poller;
  os::Waker waker;
  WorkQueue<Done> done;
  std::unordered_map<uint64_t, Client> clients;
  // For each order in which a job is being worked on: those that come after it.
  std::unordered_map<std::string, std::deque<Job>> orders;
  std::vector<char> buffer = std::vector<char>(kReadBytes);
  uint64_t next_key = kFirstClient;
  size_t bytes = 0;        // of all `in` together
  size_t of_runtimes = 0;  // clients with a request that no plugin of ours asks
  bool accepting = true;
  Clock::time_point rest_until{};
  Clock::time_point look_for_socket{};
  size_t at_work = 0;               // jobs of the crews
  std::map<Lane, Crew<Job>> crews;  // last but for the end of the work: their threads use the others

  void work(Job job);
  bool accept_some();
  void read(uint64_t key, Client& client);
  bool take_frame(uint64_t key, Client& client);
  void refuse_too_many(uint64_t key, Client& client, size_t most);
  void trouble(Trouble what, const std::string& story) const;
  void begin(Job job);
  void hand_out(Job job);
  void next_of(const std::string& order);
  void undo(Job del);
  void finish(Done& one);
  void notice_end(uint64_t key, Client& client);
  void start_job(uint64_t key, Client& client, cni::WireRequest wire);
  void answer(uint64_t key, Client& client, std::string frame);
  void write(uint64_t key, Client& client);
  void lose(uint64_t key, Client& client);
  void drop(uint64_t key);
  void take_answers();
  void drop_late(Clock::time_point now);
  milliseconds until_next(Clock::time_point now) const;
  milliseconds grow_crews();
  void keep_listening(Clock::time_point now);
  void begin_stop();
  void serve(milliseconds most);
};

void Server::Loop::work(Job job) {
  Reply reply;
  // A DEL is carried out for a disconnected client, too: what it removes is unused.
  if (job.request.command == cni::Command::kDel || !job.gone->load()) {
    try {
      reply = handler(job.request);
    } catch (const std::exception& problem) {
      reply.result = fail(cni::error_of(problem));
    }
  } else {
    reply.result = cni::fail_with(cni::kTryAgainLater, "client disconnected");
  }
  done.put({std::move(job), std::move(reply)});
  waker.wake();
}

// In the order of its container: now, or after those that came before.
void Server::Loop::begin(Job job) {
  if (!job.order.empty()) {
    const auto [order, first] = orders.try_emplace(job.order);
    if (!first) return order->second.push_back(std::move(job));
  }
  hand_out(std::move(job));
}

void Server::Loop::hand_out(Job job) {
  ++at_work;
  crews.at(lane_of(job.request)).give(std::move(job));
}

// A job is done: the next of its order.
void Server::Loop::next_of(const std::string& order) {
  const auto found = orders.find(order);
  if (found == orders.end()) return;
  if (found->second.empty()) {
    orders.erase(found);
    return;
  }
  Job next = std::move(found->second.front());
  found->second.pop_front();
  hand_out(std::move(next));
}

// Takes back what an ADD did for a client that has gone, before anything else of its container is begun.
void Server::Loop::undo(Job del) {
  if (!accepting) return;  // the runtime's own DEL comes to the next agent
  const auto order = orders.find(del.order);
  if (order != orders.end())
    order->second.push_front(std::move(del));
  else
    begin(std::move(del));
}

// Whether more clients may be waiting.
bool Server::Loop::accept_some() {
  for (int i = 0; accepting && i < kAcceptAtOnce; ++i) {
    auto next = listener.accept();
    if (!next) {
      trouble(Trouble::kAccept, next.error().story());
      poller.remove(listener.fd());
      rest_until = options.now() + kAcceptRest;
      return false;
    }
    if (!*next) return false;
    const uint64_t key = next_key++;
    const auto peer = (*next)->peer();
    Client& client = clients.emplace(key, Client{.connection = std::move(**next)}).first->second;
    client.deadline = options.now() + options.request_time;
    if (!peer || peer->uid != options.uid) {
      answer(key, client,
             failure_frame(cni::kInvalidEnvironment, fmt::format("the agent serves user {} only", options.uid),
                           "CNI plugins are run by the container runtime, as root"));
    } else if (auto admitted = options.admit ? options.admit(client.connection) : Result<void>(); !admitted) {
      // Who could not be looked at may ask again.
      const int code = admitted.error().code == Code::kDenied ? cni::kInvalidEnvironment : cni::kTryAgainLater;
      answer(key, client, failure_frame(code, admitted.error().message, admitted.error().hint));
    } else if (clients.size() > 2 * options.most_connections) {
      refuse_too_many(key, client, 2 * options.most_connections);
    } else if (!poller.add(client.connection.fd(), key, os::Await::kRead)) {
      drop(key);
    }
  }
  return accepting;
}

void Server::Loop::refuse_too_many(uint64_t key, Client& client, size_t most) {
  const std::string story = fmt::format("{} requests are already in progress", most);
  trouble(Trouble::kConnections, story);
  answer(key, client, failure_frame(cni::kTryAgainLater, story));
}

void Server::Loop::trouble(Trouble what, const std::string& story) const {
  if (options.trouble) options.trouble(what, story);
}

// Reads at most one buffer, so that other clients get their share.
void Server::Loop::read(uint64_t key, Client& client) {
  auto got = client.connection.read_some(buffer, client.passed);
  if (got && !*got) return;
  if (!got || **got == 0) return drop(key);
  client.in.append(buffer.data(), **got);
  bytes += **got;
  if (take_frame(key, client)) return;
  if (bytes <= options.most_bytes || client.in.size() <= kSmallBytes) return;
  const std::string story = "too many large requests at the same time";
  trouble(Trouble::kBytes, story);
  answer(key, client, failure_frame(cni::kTryAgainLater, story));
}

// True when nothing more needs to be read from the client.
bool Server::Loop::take_frame(uint64_t key, Client& client) {
  if (client.in.size() < cni::kFrameHeadBytes && std::string_view("RBC1").starts_with(client.in.substr(0, 4)))
    return false;
  std::string why;
  const auto head = cni::read_frame_head(client.in, why);
  const auto refuse = [&](std::string message) {
    answer(key, client, failure_frame(cni::kDecode, "invalid request on the agent's socket: " + message));
    return true;
  };
  if (!head) return refuse(why);
  if (head->kind != cni::FrameKind::kRequest) return refuse("it is an answer, not a request");
  if (head->payload_bytes > options.most_payload_bytes)
    return refuse(fmt::format("{} bytes, the limit is {}", head->payload_bytes, options.most_payload_bytes));
  const size_t whole = cni::kFrameHeadBytes + head->payload_bytes;
  if (client.in.size() < whole) return false;
  if (client.in.size() > whole) return refuse("extra bytes after its end");
  auto wire = cni::read_wire_request(std::string_view(client.in).substr(cni::kFrameHeadBytes), why);
  if (!wire) return refuse(why);
  start_job(key, client, std::move(*wire));
  return true;
}

void Server::Loop::start_job(uint64_t key, Client& client, cni::WireRequest wire) {
  if (wire.type == cni::kAgentReport && options.report)
    return answer(key, client, answer_frame({.result = options.report()}));
  auto request = cni::read_request(wire.type, wire.environment, std::move(wire.config));
  if (!request) return answer(key, client, answer_frame({.result = fail(request.error())}));
  std::shared_ptr<void> held;
  if (options.hold) {
    auto taken = options.hold(*request, std::move(client.passed));
    if (!taken) return answer(key, client, answer_frame({.result = fail(taken.error())}));
    held = std::move(*taken);
  }
  // A client that waits for a plugin that asks us in turn holds a connection already: the plugin's is counted apart, or
  // a full house could not empty itself.
  if (request->executed_by.empty()) {
    if (of_runtimes >= options.most_connections) return refuse_too_many(key, client, options.most_connections);
    client.is_counted = true;
    ++of_runtimes;
  }
  bytes -= client.in.size();
  std::string().swap(client.in);
  client.state = Client::State::kWorking;
  // Until the answer is there nothing is expected but that the client goes away.
  if (!poller.add(client.connection.fd(), key, os::Await::kEnd)) return drop(key);
  std::string order = order_of(*request);
  begin({key, std::move(*request), std::move(order), client.gone, std::move(held)});
}

// A client went away while its request was waiting or being worked on. What has not begun does not begin.
void Server::Loop::notice_end(uint64_t key, Client& client) {
  client.gone->store(true);
  poller.remove(client.connection.fd());
  for (auto& [order, waiting] : orders) {
    const auto found = std::ranges::find(waiting, key, &Job::client);
    if (found == waiting.end() || found->request.command == cni::Command::kDel) continue;
    waiting.erase(found);
    return drop(key);
  }
}

void Server::Loop::answer(uint64_t key, Client& client, std::string frame) {
  bytes -= client.in.size();
  std::string().swap(client.in);
  client.state = Client::State::kWriting;
  client.deadline = options.now() + options.request_time;
  client.out = std::move(frame);
  write(key, client);
}

void Server::Loop::write(uint64_t key, Client& client) {
  const auto put = client.connection.write_some(std::string_view(client.out).substr(client.written));
  if (!put) return lose(key, client);
  client.written += *put;
  if (client.written == client.out.size()) return drop(key);
  if (!poller.add(client.connection.fd(), key, os::Await::kWrite)) drop(key);
}

// Drops a client that does not take its answer: what an ADD did for it is undone.
void Server::Loop::lose(uint64_t key, Client& client) {
  if (client.undo.has_value()) undo(std::move(*client.undo));
  drop(key);
}

void Server::Loop::drop(uint64_t key) {
  const auto found = clients.find(key);
  if (found == clients.end()) return;
  bytes -= found->second.in.size();
  if (found->second.is_counted) --of_runtimes;
  poller.remove(found->second.connection.fd());
  clients.erase(found);
}

void Server::Loop::take_answers() {
  for (Done& one : done.take_all()) finish(one);
}

void Server::Loop::finish(Done& one) {
  --at_work;
  Job& job = one.job;
  const bool made = job.request.command == cni::Command::kAdd && one.reply.result.has_value();
  const uint64_t key = job.client;
  const auto found = clients.find(key);
  std::optional<Job> del;
  if (made) {
    del = Job{kNoClient, std::move(job.request), job.order, std::make_shared<std::atomic<bool>>(false), job.held};
    del->request.command = cni::Command::kDel;
  }
  if (found == clients.end() || found->second.gone->load()) {
    if (del.has_value()) undo(std::move(*del));
    drop(key);
    return next_of(job.order);
  }
  next_of(job.order);
  Client& client = found->second;
  client.undo = std::move(del);
  if (accepting || one.reply.result.has_value()) return answer(key, client, answer_frame(one.reply));
  // What failed because the agent ends is not the pod's fault: the next agent is asked, and has the journaled DELs.
  if (job.request.command == cni::Command::kDel) return drop(key);
  answer(key, client, stopping_frame());
}

void Server::Loop::drop_late(Clock::time_point now) {
  std::vector<uint64_t> late;
  for (const auto& [key, client] : clients)
    if (client.state != Client::State::kWorking && client.deadline <= now) late.push_back(key);
  for (uint64_t key : late) {
    Client& client = clients.at(key);
    if (client.state == Client::State::kWriting || client.in.empty())
      lose(key, client);
    else
      answer(key, client, failure_frame(cni::kDecode, "the request did not arrive in time"));
  }
}

milliseconds Server::Loop::until_next(Clock::time_point now) const {
  Clock::time_point next = now + kLoopIdle;
  for (const auto& [key, client] : clients)
    if (client.state != Client::State::kWorking) next = std::min(next, client.deadline);
  if (rest_until > now) next = std::min(next, rest_until);
  if (accepting) next = std::min(next, look_for_socket);
  return std::max(std::chrono::ceil<milliseconds>(next - now), milliseconds(0));
}

// Threads where requests wait for stuck ones; when to look again.
milliseconds Server::Loop::grow_crews() {
  milliseconds next = kLoopIdle;
  for (auto& [lane, crew] : crews)
    if (const auto again = crew.grow())
      next = std::min(next, std::max(std::chrono::ceil<milliseconds>(*again - options.now()), milliseconds(1)));
  return next;
}

// Whatever is ready, for at most so long.
void Server::Loop::serve(milliseconds most) {
  for (uint64_t key : poller.wait(most)) {
    if (key == kListenerKey) accept_some();
    if (key == kWakerKey) waker.clear();
    const auto found = clients.find(key);
    if (found == clients.end()) continue;
    Client& client = found->second;
    if (client.state == Client::State::kReading) read(key, client);
    // read() may have dropped it, and a client that is still being read is not at its end.
    else if (client.state == Client::State::kWorking)
      notice_end(key, client);
    else
      write(key, client);
  }
  take_answers();
}

// Somebody who removes the folder takes the socket from all clients, though it is still open here.
void Server::Loop::keep_listening(Clock::time_point now) {
  if (!accepting || now < look_for_socket) return;
  look_for_socket = now + kLookForSocket;
  if (listener.is_at_path()) return;
  while (accept_some()) {  // those that came before would be lost with the old one
  }
  poller.remove(listener.fd());
  const Result<void> renewed = listener.renew();
  trouble(Trouble::kSocket, renewed.has_value() ? fmt::format("{} was removed; listening on it again", listener.path())
                                                : renewed.error().story());
  if (rest_until == Clock::time_point{}) (void)poller.add(listener.fd(), kListenerKey, os::Await::kRead);
}

void Server::Loop::begin_stop() {
  accepting = false;
  poller.remove(listener.fd());
  listener.refuse();
  std::deque<Job> waiting;
  for (auto& [lane, crew] : crews)
    for (Job& job : crew.take_waiting()) {
      --at_work;
      waiting.push_back(std::move(job));
    }
  for (auto& [order, jobs] : orders)
    for (Job& job : std::exchange(jobs, {})) waiting.push_back(std::move(job));
  for (const Job& job : waiting) {
    if (job.request.command == cni::Command::kDel)
      drop(job.client);
    else if (const auto found = clients.find(job.client); found != clients.end())
      answer(job.client, found->second, stopping_frame());
  }
  std::vector<uint64_t> reading;
  for (const auto& [key, client] : clients)
    if (client.state == Client::State::kReading) reading.push_back(key);
  for (uint64_t key : reading) drop(key);
}

std::string_view trouble_name(Trouble trouble) {
  constexpr std::string_view names[] = {"threads", "connections", "bytes", "accept", "socket"};
  return names[static_cast<size_t>(trouble)];
}

Server::Server(os::UnixListener listener, Handler handler, ServerOptions options)
    : loop_(std::make_unique<Loop>(std::move(listener), std::move(handler), std::move(options))) {
  const size_t most = loop_->options.workers;
  const auto work = [loop = loop_.get()](Loop::Job job) { loop->work(std::move(job)); };
  const auto no_thread = [loop = loop_.get()](size_t jobs, size_t threads) {
    loop->trouble(Trouble::kThreads,
                  fmt::format("starting a thread failed: {} requests are waiting for {} threads", jobs, threads));
  };
  loop_->crews.try_emplace(Lane::kPods, most, work, no_thread, loop_->options.now);
  loop_->crews.try_emplace(Lane::kAddresses, most, work, no_thread, loop_->options.now);
  loop_->crews.try_emplace(Lane::kQuestions, kMostQuestions, work, no_thread, loop_->options.now);
}
Server::~Server() = default;

Result<Server::End> Server::run(std::stop_token stop) {
  Loop& loop = *loop_;
  TRY(loop.poller.add(loop.listener.fd(), kListenerKey, os::Await::kRead));
  TRY(loop.poller.add(loop.waker.fd(), kWakerKey, os::Await::kRead));
  const std::stop_callback wake(stop, [&loop] { loop.waker.wake(); });
  Clock::time_point end = Clock::time_point::max();
  while (loop.accepting || loop.at_work > 0 || !loop.clients.empty()) {
    if (stop.stop_requested() && loop.accepting) {
      end = loop.options.now() + loop.options.time_to_end;
      loop.begin_stop();
      continue;
    }
    const auto left =
        std::chrono::ceil<milliseconds>(std::min(end, loop.options.now() + kLoopIdle) - loop.options.now());
    if (left <= milliseconds(0)) return End::kCutOff;
    loop.serve(std::min({left, loop.until_next(loop.options.now()), loop.grow_crews()}));
    const auto now = loop.options.now();
    loop.drop_late(now);
    loop.keep_listening(now);
    if (loop.rest_until != Clock::time_point{} && loop.rest_until <= now && loop.accepting) {
      loop.rest_until = {};
      TRY(loop.poller.add(loop.listener.fd(), kListenerKey, os::Await::kRead));
    }
  }
  return End::kDrained;
}

}  // namespace railbed::agent

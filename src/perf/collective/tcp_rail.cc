// SPDX-License-Identifier: Apache-2.0
// One socket to each peer. A segment is its number and size (4 bytes each, in this machine's order, as TcpLink has
// it), then the elements. Data that is not awaited yet stays in the kernel; what is sent goes on while this side waits
// for anything, so that two ranks that send to each other never wait for each other.
#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <random>

#include <poll.h>
#include <unistd.h>

#include "perf/channel/socket.h"
#include "perf/collective/rail_links.h"
#include "perf/stream/free_memory.h"

namespace railbed::perf::collective {
namespace {

constexpr std::chrono::milliseconds kLongestWait{200};
constexpr std::chrono::milliseconds kGreetPatience{1000};
constexpr int kSpins = 50;  // before the processor is given away

struct Head {
  uint32_t number = 0;
  uint32_t bytes = 0;
};
struct Greeting {
  uint64_t cookie = 0;
  uint64_t rank = 0;
};

struct Outgoing {
  Head head;
  std::span<const std::byte> data;
  size_t head_sent = 0;
};

struct TcpPeer {
  uint32_t rank = 0;
  Socket socket;
  std::deque<Outgoing> unsent;
  uint32_t sent = 0;      // segments, which are numbered by it
  uint32_t received = 0;  // segments
};

template <typename T>
std::span<const std::byte> bytes_of(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}

// kCanceled is a stop of this side; a peer that closes is none.
Result<size_t> unless_closed(Result<size_t> moved) {
  if (!moved && moved.error().code == Code::kCanceled) moved.error().code = Code::kIo;
  return moved;
}

class TcpRail : public RailLinks {
 public:
  TcpRail(RailRequest request, const TickClock& clock, std::unique_ptr<Memory> memory, Listener listener)
      : RailLinks(std::move(request), clock), own_memory_(std::move(memory)), listener_(std::move(listener)) {
    memory_ = own_memory_->data();
    std::random_device device;
    cookie_ = uint64_t{device()} << 32 | device();
    for (const uint32_t peer : request_.peers) peers_[peer].rank = peer;
  }

  std::vector<LinkAddress> offers() const override {
    std::vector<LinkAddress> all;
    for (const uint32_t peer : request_.peers)
      all.push_back(
          {.peer = peer, .name = "", .address = {}, .rdma = {}, .tcp = TcpAddress{listener_->port(), cookie_}});
    return all;
  }

  // The higher rank connects to the lower one.
  Result<void> connect(const std::vector<LinkAddress>& links) override {
    const Deadline deadline = request_.limits.after(request_.limits.connect);
    for (auto& [rank, peer] : peers_) {
      const LinkAddress& link = *TRY(link_to(links, rank));
      names_[rank] = link.name;
      if (rank < request_.rank) TRY(call(peer, link, deadline));
    }
    TRY(accept_others(deadline));
    listener_.reset();
    return {};
  }

  Result<void> send(const Op& op, Span segment) override {
    TcpPeer& peer = peers_.at(op.peer);
    peer.unsent.push_back({.head = {peer.sent++, static_cast<uint32_t>(segment.bytes())},
                           .data = std::as_bytes(std::span(elements(op.own) + segment.first, segment.count))});
    TRY(push(peer));
    return {};
  }

  Result<uint64_t> receive(const Op& op, Span segment) override {
    TcpPeer& peer = peers_.at(op.peer);
    Head head;
    uint64_t first = 0;
    TRY(take(peer, std::as_writable_bytes(std::span(&head, 1)), &first));
    if (head.number != peer.received || head.bytes != segment.bytes())
      return fail(Code::kInvalid, "{} sends segment {} of {} bytes, and segment {} of {} bytes was due",
                  name_of_peer(op.peer), head.number, head.bytes, peer.received, segment.bytes());
    ++peer.received;
    TRY(take(peer, std::as_writable_bytes(std::span(elements(op.at) + segment.first, segment.count)), nullptr));
    return clock_.now() - first;
  }

  Result<void> finish_sends() override {
    for (auto& [rank, peer] : peers_) {
      Wait wait(*this, rank, "no data was accepted by");
      while (!peer.unsent.empty())
        if (TRY(push_all()))
          wait.progress();
        else
          TRY(rest(peer, wait));
    }
    return {};
  }

 private:
  Result<void> call(TcpPeer& peer, const LinkAddress& link, Deadline deadline) {
    if (!link.tcp || !link.address)
      return fail(Code::kInvalid, "the coordinator does not send the port of {}", name_of_peer(peer.rank));
    Socket socket = TRY(Socket::connect(link.address->to_string(), static_cast<uint16_t>(link.tcp->port), deadline,
                                        request_.own.address)
                            .context("{}", name_of_peer(peer.rank)));
    TRY(socket.set_no_delay());
    TRY(socket.write_all(bytes_of(Greeting{link.tcp->cookie, request_.rank}), deadline));
    peer.socket = std::move(socket);
    return {};
  }

  const TcpPeer* missing() const {
    for (const auto& [rank, peer] : peers_)
      if (peer.socket.fd() < 0) return &peer;
    return nullptr;
  }

  // Who does not greet as one of the peers is a stranger: no answer, and a second of delay at most.
  Result<void> accept_others(Deadline deadline) {
    while (const TcpPeer* due = missing()) {
      if (request_.stop.stop_requested()) return fail(Code::kCanceled, "stopped");
      if (deadline.passed())
        return fail(Code::kTimeout, "{} did not connect within {} ms", name_of_peer(due->rank),
                    request_.limits.connect.count());
      auto socket = listener_->accept(deadline.or_after(kLongestWait));
      if (!socket && socket.error().code == Code::kTimeout) continue;
      if (!socket) return fail(std::move(socket.error()));
      Greeting greeting;
      const auto read =
          socket->read_all(std::as_writable_bytes(std::span(&greeting, 1)), deadline.or_after(kGreetPatience));
      if (!read || greeting.cookie != cookie_) continue;
      const auto peer = peers_.find(static_cast<uint32_t>(greeting.rank));
      if (peer == peers_.end() || peer->second.socket.fd() >= 0) continue;
      TRY(socket->set_no_delay());
      peer->second.socket = std::move(*socket);
    }
    return {};
  }

  // What the kernel takes now. Whether that was anything.
  Result<bool> push(TcpPeer& peer) {
    bool moved = false;
    while (!peer.unsent.empty()) {
      Outgoing& out = peer.unsent.front();
      const bool heading = out.head_sent < sizeof out.head;
      const auto rest = heading ? bytes_of(out.head).subspan(out.head_sent) : out.data;
      const size_t count =
          TRY(unless_closed(peer.socket.write_now(rest)).context("sending to {}", name_of_peer(peer.rank)));
      if (count == 0) return moved;
      moved = true;
      if (heading)
        out.head_sent += count;
      else
        out.data = out.data.subspan(count);
      if (out.data.empty() && out.head_sent == sizeof out.head) peer.unsent.pop_front();
    }
    return moved;
  }
  Result<bool> push_all() {
    bool moved = false;
    for (auto& [rank, peer] : peers_)
      if (TRY(push(peer))) moved = true;
    return moved;
  }

  // All of `into`, from this peer. `first` gets when the first byte came.
  Result<void> take(TcpPeer& peer, std::span<std::byte> into, uint64_t* first) {
    Wait wait(*this, peer.rank, "no data arrived from");
    for (int spins = 0; !into.empty();) {
      const size_t count =
          TRY(unless_closed(peer.socket.read_now(into)).context("receiving from {}", name_of_peer(peer.rank)));
      if (count > 0 && first != nullptr && *first == 0) *first = clock_.now();
      into = into.subspan(count);
      const bool pushed = TRY(push_all());
      if (count > 0) wait.progress();
      if (count > 0 || pushed)
        spins = 0;
      else if (++spins > kSpins)
        TRY(rest(peer, wait));
    }
    return {};
  }

  // Sleeps until something may move.
  Result<void> rest(const TcpPeer& awaited, Wait& wait) {
    std::vector<pollfd> entries;
    for (const auto& [rank, peer] : peers_) {
      const int events = (&peer == &awaited ? POLLIN : 0) | (peer.unsent.empty() ? 0 : POLLOUT);
      if (events != 0) entries.push_back({.fd = peer.socket.fd(), .events = static_cast<short>(events), .revents = 0});
    }
    const auto most = std::min(kLongestWait, request_.limits.check);
    (void)request_.limits.after(most).poll(entries);
    return wait.in_vain();
  }

  std::unique_ptr<Memory> own_memory_;
  std::optional<Listener> listener_;
  uint64_t cookie_ = 0;
  std::map<uint32_t, TcpPeer> peers_;
};

}  // namespace

Result<std::unique_ptr<RailLinks>> open_tcp_rail(os::Kernel& kernel, RailRequest request, const TickClock& clock) {
  const size_t bytes = request.areas * request.area_bytes;
  TRY(need_memory(kernel.files(), static_cast<int64_t>(bytes)));
  std::unique_ptr<Memory> memory = TRY(get_memory({}, bytes));
  Listener listener = TRY(Listener::open(request.own.address, request.data_port));
  return std::make_unique<TcpRail>(std::move(request), clock, std::move(memory), std::move(listener));
}

}  // namespace railbed::perf::collective

// SPDX-License-Identifier: Apache-2.0
#include "agent/addresses/dhcp.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "agent/addresses/dhcp_lease.h"

namespace railbed::agent {
namespace {

using os::Deadline;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr size_t kMostShown = 8;      // of an offer's routes
constexpr size_t kMostDropped = 256;  // reports that wait
constexpr seconds kDhcpTurnWait{30};
constexpr milliseconds kFirstTry{1000};  // doubled each time
constexpr seconds kLongestTry{16};
constexpr seconds kRenewalTry{4};
constexpr size_t kMostAtOnce = 64;
constexpr seconds kLongestSleep{3600};
const IpAddress kNoAddress{};
const IpAddress kBroadcast = IpAddress::from_v4(0xffffffff);

os::UdpPacket to_server(const ipam::DhcpPacket& packet, const IpAddress& from, const IpAddress& to) {
  return {.source = from,
          .destination = to,
          .source_port = ipam::kDhcpClientPort,
          .destination_port = ipam::kDhcpServerPort,
          .payload = ipam::to_bytes(packet)};
}

struct Answer {
  ipam::DhcpPacket packet;
  std::string bytes;
  MacAddress from;
};

// The next answer to this exchange; nullopt when none arrived in time.
Result<std::optional<Answer>> next_answer(os::PacketSocket& socket, uint32_t exchange, Deadline deadline) {
  while (true) {
    Result<os::UdpPacket> got = socket.receive(deadline);
    if (!got.has_value() && got.error().code == Code::kTimeout) return std::optional<Answer>{};
    if (!got.has_value()) return fail(std::move(got.error()));
    Result<ipam::DhcpPacket> packet = ipam::read_dhcp(got->payload);
    if (!packet.has_value() || !packet->from_server || packet->exchange != exchange || packet->mac != socket.mac())
      continue;
    return std::optional(Answer{std::move(*packet), std::move(got->payload), got->source_mac});
  }
}

std::string reason_of(const ipam::DhcpPacket& nak) {
  auto said = nak.options.find(ipam::dhcp_option::kMessage);
  std::string text;
  if (said != nak.options.end())
    for (char c : said->second.substr(0, 100)) text += c >= ' ' && c <= '~' ? c : '?';
  return text.empty() ? "the server refused" : fmt::format("the server refused: \"{}\"", text);
}

}  // namespace

struct Dhcp::Impl {
  Impl(Engine& the_engine, os::PacketPort& the_packets) : engine(the_engine), packets(the_packets) {}

  os::Clock& clock() { return engine.kernel().clock(); }

  void note_dropped(const ipam::Owner& owner, const ipam::DhcpLease& lease, const std::vector<Route>& routes) {
    if (routes.empty()) return;
    std::string text =
        fmt::format("DHCP server {} offered routes that are not inside ipam.routes; dropped: ", lease.server);
    for (size_t i = 0; i < std::min(routes.size(), kMostShown); ++i)
      text += fmt::format("{}{}", i == 0 ? "" : ", ", routes[i].destination);
    if (routes.size() > kMostShown) text += fmt::format(" and {} more", routes.size() - kMostShown);
    const std::lock_guard lock(mutex);
    if (dropped.size() < kMostDropped) dropped.emplace_back(owner, std::move(text));
  }

  uint32_t exchange_number() {
    std::lock_guard lock(mutex);
    return static_cast<uint32_t>(random());
  }

  // Repeats DISCOVER and REQUEST until an acknowledgement arrives.
  Result<KeptLease> ask(os::PacketSocket& socket, KeptLease wanted, Deadline deadline) {
    std::string reason = "no server answered";
    for (milliseconds pause = kFirstTry; clock().now() < deadline;
         pause = std::min<milliseconds>(pause * 2, kLongestTry)) {
      const uint32_t exchange = exchange_number();
      // A random part separates this client from others that begin at the same moment, such as the pod's other
      // interfaces.
      Deadline until = std::min(deadline, clock().now() + pause + milliseconds(exchange % 500));
      TRY(socket.send(to_server(ipam::discover(wanted.client, exchange), kNoAddress, kBroadcast), os::kToAll));
      std::optional<ipam::DhcpPacket> offer;
      while (auto answer = TRY(next_answer(socket, exchange, until))) {
        if (answer->packet.type() != ipam::DhcpType::kOffer) continue;
        Result<ipam::DhcpLease> fits = ipam::lease_of(answer->packet);
        if (fits.has_value()) {
          offer = std::move(answer->packet);
          break;
        }
        reason = fits.error().message;
      }
      if (!offer.has_value()) continue;
      wanted.since = clock().now();
      until = std::min(deadline, wanted.since + pause + kRenewalTry);
      TRY(socket.send(to_server(ipam::request(wanted.client, exchange, *offer), kNoAddress, kBroadcast), os::kToAll));
      while (auto answer = TRY(next_answer(socket, exchange, until))) {
        if (answer->packet.type() == ipam::DhcpType::kNak) {
          reason = reason_of(answer->packet);
          // The usual reason is that another client was faster; the next offer has another address.
          pause = kFirstTry / 2;
          clock().wait_until(std::min(deadline, clock().now() + pause));
          break;
        }
        if (answer->packet.type() != ipam::DhcpType::kAck) continue;
        wanted.lease = TRY(ipam::lease_of(answer->packet));
        wanted.ack = std::move(answer->bytes);
        wanted.server_mac = answer->from;
        return wanted;
      }
    }
    return fail(Error{.code = Code::kTimeout,
                      .message = fmt::format("interface {} got no DHCP lease: {}", wanted.owner.interface, reason),
                      .hint = "is there a DHCP server in that network, and does it serve this VLAN?"});
  }

  Result<void> set_up(const std::string& netns_path, const std::string& name, bool up) {
    auto netns = TRY(engine.kernel().netns().open(netns_path));
    auto links = TRY(engine.kernel().netns().links(*netns));
    IfName interface = TRY(IfName::parse(name));
    os::Link link = TRY(links->find(interface, os::WithVfs::kNo));
    if (link.up == up) return {};
    return links->change(link.index, {.up = up});
  }

  Result<void> keep(const KeptLease& lease) {
    Engine::Turn turn = TRY(engine.turn(kDhcpTurnWait));
    return turn.store().put_note(lease_key(lease.owner), to_note(lease));
  }
  // Takes a turn, so that a renewal in progress cannot write the note again in between.
  Result<void> forget(const ipam::Owner& owner) {
    Engine::Turn turn = TRY(engine.turn(kDhcpTurnWait));
    TRY(turn.store().forget_note(lease_key(owner)));
    std::lock_guard lock(mutex);
    leases.erase(owner);
    return {};
  }
  // A lease that was released during its renewal must not come back; the same holds for put_back() below.
  Result<void> keep_renewed(const KeptLease& lease) {
    Engine::Turn turn = TRY(engine.turn(kDhcpTurnWait));
    if (!still_has(lease)) return {};
    return turn.store().put_note(lease_key(lease.owner), to_note(lease));
  }
  bool still_has(const KeptLease& lease) {
    std::lock_guard lock(mutex);
    auto found = leases.find(lease.owner);
    return found != leases.end() && found->second.lease.client == lease.client;
  }

  // Only if the lease was not released during its renewal.
  void put_back(const KeptLease& lease, Deadline next, bool over) {
    std::lock_guard lock(mutex);
    auto found = leases.find(lease.owner);
    if (found == leases.end() || found->second.lease.client != lease.client) return;
    found->second = {lease, next, over};
  }

  // Takes the interface down, because its address must not be used any more.
  void expire(const KeptLease& lease) {
    [[maybe_unused]] auto down = set_up(lease.netns_path, lease.owner.interface, false);
    put_back(lease, Deadline::max(), true);
  }

  void drop(const KeptLease& lease) {
    if (!still_has(lease)) return;  // a new ADD of the same owner has another lease
    [[maybe_unused]] auto forgotten = forget(lease.owner);
    std::lock_guard lock(mutex);
    leases.erase(lease.owner);
  }

  struct Renewal {
    KeptLease lease;
    std::unique_ptr<os::PacketSocket> socket;
    uint32_t exchange = 0;
    Deadline sent;
  };

  std::optional<Renewal> begin_renewal(const KeptLease& lease) {
    Deadline now = clock().now();
    if (lease.end().has_value() && *lease.end() <= now) {
      expire(lease);
      return std::nullopt;
    }
    auto socket = packets.open(lease.netns_path, lease.owner.interface, ipam::kDhcpClientPort);
    if (!socket.has_value() && socket.error().code == Code::kNotFound) {
      drop(lease);  // the interface was removed without a DEL
      return std::nullopt;
    }
    Renewal renewal{.lease = lease, .exchange = exchange_number(), .sent = now};
    bool sent = false;
    if (socket.has_value()) {
      renewal.socket = std::move(*socket);
      const bool any = lease.rebind_at() <= now;
      const IpAddress& mine = lease.lease.address.address;
      sent = renewal.socket
                 ->send(to_server(ipam::renewal(lease.client, renewal.exchange, mine), mine,
                                  any ? kBroadcast : lease.lease.server),
                        any ? os::kToAll : lease.server_mac)
                 .has_value();
    }
    if (sent) return renewal;
    put_back(lease, lease.ask_after(now), false);
    return std::nullopt;
  }

  // True when the renewal has ended, with or without success.
  bool end_renewal(Renewal& renewal) {
    Result<std::optional<Answer>> answer = next_answer(*renewal.socket, renewal.exchange, clock().now());
    if (!answer.has_value() || !answer->has_value()) return false;
    ipam::DhcpPacket& packet = (*answer)->packet;
    if (packet.type() == ipam::DhcpType::kNak) {
      expire(renewal.lease);
      return true;
    }
    Result<ipam::DhcpLease> lease = ipam::lease_of(packet);
    if (packet.type() != ipam::DhcpType::kAck || !lease.has_value()) return false;
    if (lease->address.address != renewal.lease.lease.address.address) {
      expire(renewal.lease);  // the server gave another address: ours is lost
      return true;
    }
    KeptLease renewed = renewal.lease;
    renewed.lease = std::move(*lease);
    renewed.ack = std::move((*answer)->bytes);
    renewed.server_mac = (*answer)->from;
    renewed.since = renewal.sent;
    [[maybe_unused]] auto kept = keep_renewed(renewed);  // on failure only: a restarted agent renews too early
    put_back(renewed, renewed.ask_after(renewal.sent), false);
    return true;
  }

  std::vector<KeptLease> due(Deadline now) {
    std::lock_guard lock(mutex);
    std::vector<KeptLease> some;
    for (const auto& [owner, entry] : leases)
      if (!entry.over && entry.next <= now && some.size() < kMostAtOnce) some.push_back(entry.lease);
    return some;
  }

  Deadline next_due() {
    std::lock_guard lock(mutex);
    Deadline next = Deadline::max();
    for (const auto& [owner, entry] : leases)
      if (!entry.over) next = std::min(next, entry.next);
    return next;
  }

  // Sends all requests that are due, then waits for all answers together.
  Deadline work() {
    std::vector<Renewal> renewals;
    for (const KeptLease& lease : due(clock().now()))
      if (auto renewal = begin_renewal(lease)) renewals.push_back(std::move(*renewal));
    const Deadline until = clock().now() + kRenewalTry;
    while (true) {
      std::erase_if(renewals, [&](Renewal& one) { return end_renewal(one); });
      if (renewals.empty() || clock().now() >= until || stopping()) break;
      std::vector<os::PacketSocket*> sockets;
      for (const Renewal& one : renewals) sockets.push_back(one.socket.get());
      packets.wait(sockets, std::min(until, clock().now() + seconds(1)));
    }
    for (const Renewal& one : renewals) put_back(one.lease, one.lease.ask_after(clock().now()), false);
    return next_due();
  }

  bool stopping() {
    std::lock_guard lock(mutex);
    return stop;
  }

  void run() {
    while (!stopping()) {
      // By the kernel's clock, which is not the one that wait_until() looks at where the kernel is a fake.
      const Deadline next = work();
      const auto rest = std::min<Deadline::duration>(next - clock().now(), kLongestSleep);
      std::unique_lock lock(mutex);
      asleep = true;
      woken.wait_for(lock, rest, [&] { return stop || changed; });
      asleep = false;
      changed = false;
    }
  }

  struct Entry {
    KeptLease lease;
    Deadline next;      // when to ask
    bool over = false;  // expired: the interface is down
  };
  void put(KeptLease lease) {
    std::lock_guard lock(mutex);
    Deadline next = lease.renew_at();
    ipam::Owner owner = lease.owner;
    leases.insert_or_assign(owner, Entry{std::move(lease), next, false});
    changed = true;
    woken.notify_all();
  }
  std::optional<Entry> find(const ipam::Owner& owner) {
    std::lock_guard lock(mutex);
    auto found = leases.find(owner);
    return found == leases.end() ? std::nullopt : std::optional(found->second);
  }

  Engine& engine;
  os::PacketPort& packets;
  std::mutex mutex;
  std::vector<std::pair<ipam::Owner, std::string>> dropped;
  std::condition_variable woken;
  std::map<ipam::Owner, Entry> leases;
  std::mt19937 random{std::random_device{}()};
  bool changed = false;
  bool asleep = false;
  bool stop = false;
  std::thread thread;
};

Dhcp::Dhcp(Engine& engine, os::PacketPort& packets) : impl_(std::make_unique<Impl>(engine, packets)) {}

Dhcp::~Dhcp() {
  stop();
}

Result<void> Dhcp::restore() {
  Engine::Turn turn = TRY(impl_->engine.turn(kDhcpTurnWait));
  for (const auto& [key, note] : TRY(turn.store().notes(kLeaseNotes))) {
    Result<KeptLease> lease = read_lease(key, note);
    if (!lease.has_value()) return fail(std::move(lease.error()));
    impl_->put(std::move(*lease));
  }
  return {};
}

Result<void> Dhcp::start() {
  TRY(restore());
  impl_->thread = std::thread([this] { impl_->run(); });
  return {};
}

void Dhcp::stop() {
  {
    std::lock_guard lock(impl_->mutex);
    impl_->stop = true;
  }
  impl_->woken.notify_all();
  if (impl_->thread.joinable()) impl_->thread.join();
}

Deadline Dhcp::work() {
  return impl_->work();
}

bool Dhcp::asleep() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->asleep;
}

Result<cni::AddResult> Dhcp::acquire(const Request& request, Deadline deadline) {
  if (auto has = impl_->find(request.owner); has.has_value() && !has->over)
    return result_of(has->lease.lease, request.ipam, request.owner.interface);
  KeptLease wanted{.owner = request.owner, .netns_path = request.netns_path};
  wanted.client =
      TRY(read_client(request.ipam, request.cni_args).context("network {}: ipam type dhcp", request.network));
  wanted.client.id = ipam::dhcp_client_id(request.container_id, request.network, request.owner.interface);
  TRY(impl_->set_up(request.netns_path, request.owner.interface, true).context("network {}", request.network));
  auto socket = TRY(impl_->packets.open(request.netns_path, request.owner.interface, ipam::kDhcpClientPort)
                        .context("network {}", request.network));
  wanted.client.mac = socket->mac();
  KeptLease lease = TRY(impl_->ask(*socket, std::move(wanted), deadline).context("network {}", request.network));
  Result<void> kept = impl_->keep(lease);
  if (!kept.has_value()) {
    const IpAddress& mine = lease.lease.address.address;
    auto given_back = ipam::release(lease.client, impl_->exchange_number(), mine, lease.lease.server);
    [[maybe_unused]] auto sent = socket->send(to_server(given_back, mine, lease.lease.server), lease.server_mac);
    return fail(std::move(kept.error()));
  }
  cni::AddResult result = result_of(lease.lease, request.ipam, request.owner.interface);
  impl_->note_dropped(request.owner, lease.lease,
                      routes_of(lease.lease, request.ipam, request.owner.interface).dropped);
  impl_->put(std::move(lease));
  return result;
}

std::vector<std::pair<ipam::Owner, std::string>> Dhcp::take_dropped() {
  const std::lock_guard lock(impl_->mutex);
  return std::exchange(impl_->dropped, {});
}

// The server first: a process killed in between repeats the whole DEL, and a second release is harmless.
Result<void> Dhcp::release(const ipam::Owner& owner) {
  auto entry = impl_->find(owner);
  if (!entry.has_value()) return {};
  const KeptLease& lease = entry->lease;
  auto socket = impl_->packets.open(lease.netns_path, owner.interface, ipam::kDhcpClientPort);
  if (socket.has_value() && !entry->over) {
    const IpAddress& mine = lease.lease.address.address;
    auto given_back = ipam::release(lease.client, impl_->exchange_number(), mine, lease.lease.server);
    [[maybe_unused]] auto sent = (*socket)->send(to_server(given_back, mine, lease.lease.server), lease.server_mac);
  }
  return impl_->forget(owner);
}

bool Dhcp::has(const ipam::Owner& owner) const {
  return impl_->find(owner).has_value();
}

Result<void> Dhcp::check(const ipam::Owner& owner) {
  auto entry = impl_->find(owner);
  if (!entry.has_value())
    return fail(Code::kNotFound, "interface {} of {} has no DHCP lease", owner.interface, owner.pod);
  auto end = entry->lease.end();
  if (entry->over || (end.has_value() && *end <= impl_->clock().now()))
    return fail(Code::kNotFound, "the DHCP lease of {} for interface {} of {} has ended",
                entry->lease.lease.address.address, owner.interface, owner.pod);
  return {};
}

}  // namespace railbed::agent

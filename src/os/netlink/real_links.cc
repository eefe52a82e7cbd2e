// SPDX-License-Identifier: Apache-2.0
#include "os/netlink/real_links.h"

#include <algorithm>
#include <cerrno>
#include <unordered_map>

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "os/netlink/address_codec.h"
#include "os/netlink/link_codec.h"
#include "os/netlink/netlink_socket.h"
#include "os/ports/link_text.h"
#include "os/ports/netns.h"

namespace railbed::os {
namespace {

// What the kernel takes in one system call; its answers have room in the socket's buffer even if it refuses all.
constexpr size_t kStepsAtOnce = 128;

// Which all settings of a VF fit into, some 200 bytes each.
constexpr size_t kVfsAtOnce = 32;

class RealLinks : public LinkPort {
 public:
  RealLinks(NetlinkSocket socket, SenderThreads* threads) : socket_(std::move(socket)), threads_(threads) {}

  Result<std::vector<Link>> list(WithVfs vfs) override {
    auto request = encode_list_links(vfs);
    std::vector<Link> links;
    for (const NetlinkMessage& message : TRY(ask(request, [] { return "RTM_GETLINK"; })))
      if (auto link = decode_link(message)) links.push_back(std::move(*link));
    seen_.clear();
    for (const Link& link : links) seen_.emplace(link.index.value, identity(link));
    return links;
  }
  Result<Link> find(const IfName& name, WithVfs vfs) override {
    auto request = encode_find_link(name, vfs);
    return find_with(request, "RTM_GETLINK " + name.value);
  }
  Result<Link> find(IfIndex index, WithVfs vfs) override {
    auto request = encode_find_link(index, vfs);
    return find_with(request, fmt::format("RTM_GETLINK interface {}", index));
  }

  Result<void> change(IfIndex link, const LinkChange& change) override {
    if (change.netns != nullptr) return move(link, change);
    seen_.erase(link.value);
    auto request = encode_change_link(link, change);
    TRY(ask(request, [&] { return what(LinkSetting{link, change}); }));
    return {};
  }

  // All settings go in one message. When the kernel refuses it, they are tried one by one, so that the error names the
  // setting that this driver does not support.
  Result<void> change_vf(IfIndex pf, VfIndex vf, const VfChange& change) override {
    if (change.empty()) return {};
    auto request = encode_change_vf(pf, vf, change);
    if (socket_.ask(request)) return {};
    for (const auto& [words, one] : single_changes(change)) {
      auto single = encode_change_vf(pf, vf, one);
      TRY(ask(single, [&] { return fmt::format("RTM_SETLINK {} vf {} {}", name_of(pf), vf, words); }));
    }
    return {};
  }

  Result<void> change_vfs(IfIndex pf, std::span<const VfSetting> settings) {
    while (!settings.empty()) {
      const auto now = settings.first(std::min(kVfsAtOnce, settings.size()));
      settings = settings.subspan(now.size());
      auto request = encode_change_vfs(pf, now);
      TRY(ask(request, [&] { return fmt::format("RTM_SETLINK {} with {} VFs", name_of(pf), now.size()); }));
    }
    return {};
  }

  Result<void> create(const NewLink& link) override {
    auto request = encode_create_link(link);
    TRY(ask(request, [&] { return what(link); }));
    return {};
  }
  Result<void> remove(IfIndex link) override {
    auto request = encode_remove_link(link);
    return remove_with(request, {&link, 1}, [&] { return "RTM_DELLINK " + name_of(link); });
  }
  Result<void> remove_group(uint32_t group, std::span<const IfIndex> members) override {
    if (group == 0) return fail(Code::kInvalid, "RTM_DELLINK group 0: that is every interface without a group");
    auto request = encode_remove_group(group);
    return remove_with(request, members, [&] { return fmt::format("RTM_DELLINK group {}", group); });
  }

  Result<std::vector<LinkAddress>> addresses() override {
    auto request = encode_list_addresses();
    std::vector<LinkAddress> all;
    for (const NetlinkMessage& message : TRY(ask(request, [] { return "RTM_GETADDR"; })))
      if (auto address = decode_address(message)) all.push_back(*address);
    return all;
  }
  Result<void> add_address(const LinkAddress& address) override {
    auto request = encode_add_address(address);
    TRY(ask(request, [&] { return what(address); }));
    return {};
  }
  Result<void> remove_address(const LinkAddress& address) override {
    auto request = encode_remove_address(address);
    TRY(ask(request, [&] { return fmt::format("RTM_DELADDR {} {}", name_of(address.link), address.prefix); }));
    return {};
  }

  Result<std::vector<Route>> routes() override { return routes_of(Tables::kMain); }
  Result<std::vector<Route>> all_routes() override { return routes_of(Tables::kAll); }
  Result<void> add_route(const Route& route) override {
    auto request = encode_add_route(route);
    TRY(ask(request, [&] { return what(route); }));
    return {};
  }
  Result<void> remove_route(const Route& route) override {
    auto request = encode_remove_route(route);
    TRY(ask(request, [&] { return fmt::format("RTM_DELROUTE {} {}", name_of(route.link), describe(route)); }));
    return {};
  }

  Result<Advertised> advertised() override {
    Advertised found;
    auto addresses = encode_list_addresses();
    for (const NetlinkMessage& message : TRY(ask(addresses, [] { return "RTM_GETADDR"; })))
      if (is_advertised_address(message))
        if (auto address = decode_address(message)) found.addresses.push_back(*address);
    auto routes = encode_list_routes(IpFamily::kV6);
    auto messages = ask(routes, [] { return "RTM_GETROUTE"; });
    if (!messages && (messages.error().code == Code::kUnsupported || messages.error().code == Code::kNotFound))
      return found;
    for (const NetlinkMessage& message : TRY(std::move(messages)))
      if (is_advertised_route(message)) std::ranges::move(decode_routes(message), std::back_inserter(found.routes));
    return found;
  }

  Result<std::vector<Rule>> rules() override {
    std::vector<Rule> all;
    for (IpFamily family : {IpFamily::kV4, IpFamily::kV6}) {
      auto request = encode_list_rules(family);
      auto messages = ask(request, [] { return "RTM_GETRULE"; });
      if (!messages && family == IpFamily::kV6 && messages.error().code == Code::kUnsupported) continue;
      for (const NetlinkMessage& message : TRY(std::move(messages)))
        if (auto rule = decode_rule(message)) all.push_back(*rule);
    }
    return all;
  }
  Result<void> add_rule(const Rule& rule) override {
    auto request = encode_add_rule(rule);
    TRY(ask(request, [&] { return "RTM_NEWRULE " + describe(rule); }));
    return {};
  }
  Result<void> remove_rule(const Rule& rule) override {
    auto request = encode_remove_rule(rule);
    TRY(ask(request, [&] { return "RTM_DELRULE " + describe(rule); }));
    return {};
  }

  Result<void> carry_out(const std::vector<LinkStep>& steps, size_t& at) override {
    for (size_t begin = 0; begin < steps.size(); begin += kStepsAtOnce) {
      const size_t end = std::min(begin + kStepsAtOnce, steps.size());
      NetlinkBatch batch;
      for (at = begin; at < end; ++at) batch.add(TRY(encode(steps[at])));
      auto done = socket_.ask_all(batch);
      if (done) continue;
      at = begin + done.error().at;
      return fail(netlink_error(done.error().why, what(steps[at])));
    }
    return {};
  }

  Result<NamespaceNumber> namespace_number() override {
    uint64_t value = 0;
    socklen_t size = sizeof value;
    if (::getsockopt(socket_.fd(), SOL_SOCKET, SO_NETNS_COOKIE, &value, &size) == 0)
      return NamespaceNumber{.number = value};
    if (errno != ENOPROTOOPT) return fail(system_error(errno, "getsockopt SO_NETNS_COOKIE"));
    const Descriptor own(::ioctl(socket_.fd(), SIOCGSKNS));
    if (!own) return fail(system_error(errno, "ioctl SIOCGSKNS"));
    struct stat file{};
    if (::fstat(own.get(), &file) != 0) return fail(system_error(errno, "fstat of a socket's namespace"));
    return NamespaceNumber{.number = file.st_ino, .of_file = true};
  }

 private:
  Result<std::vector<Route>> routes_of(Tables which) {
    std::vector<Route> all;
    for (IpFamily family : {IpFamily::kV4, IpFamily::kV6}) {
      auto request = encode_list_routes(family, which);
      auto messages = ask(request, [] { return "RTM_GETROUTE"; });
      if (!messages && family == IpFamily::kV6 && messages.error().code == Code::kUnsupported) continue;
      // A namespace that never had an address has no table yet.
      if (!messages && messages.error().code == Code::kNotFound) continue;
      for (const NetlinkMessage& message : TRY(std::move(messages)))
        for (Route& route : which == Tables::kMain ? decode_routes(message) : decode_all_routes(message))
          all.push_back(std::move(route));
    }
    return all;
  }

  Result<NetlinkRequest> encode(const LinkStep& step) {
    if (const auto* link = std::get_if<NewLink>(&step)) return encode_create_link(*link);
    if (const auto* address = std::get_if<LinkAddress>(&step)) return encode_add_address(*address);
    if (const auto* route = std::get_if<Route>(&step)) return encode_add_route(*route);
    const auto& [link, change] = std::get<LinkSetting>(step);
    if (change.netns != nullptr) return fail(Code::kInternal, "{}: a move among several changes", what(step));
    seen_.erase(link.value);
    return encode_change_link(link, change);
  }
  // For errors.
  std::string what(const LinkStep& step) {
    if (const auto* link = std::get_if<NewLink>(&step)) return "RTM_NEWLINK " + describe(*link);
    if (const auto* address = std::get_if<LinkAddress>(&step))
      return fmt::format("RTM_NEWADDR {} {}", name_of(address->link), address->prefix);
    if (const auto* route = std::get_if<Route>(&step))
      return fmt::format("RTM_NEWROUTE {} {}", name_of(route->link), describe(*route));
    const auto& [link, change] = std::get<LinkSetting>(step);
    return fmt::format("RTM_NEWLINK {}{}", name_of(link), describe(change));
  }

  // The properties that identify an interface in any namespace.
  struct Seen {
    IfName name;
    std::string kind;
    std::vector<uint8_t> hw_address;
    friend bool operator==(const Seen&, const Seen&) = default;
  };
  static Seen identity(const Link& link) { return {link.name, link.kind, link.hw_address}; }

  // `what` is called only when there is an error to describe.
  template <typename What>
  Result<std::vector<NetlinkMessage>> ask(NetlinkRequest& request, const What& what) {
    auto messages = socket_.ask(request);
    if (!messages) return fail(netlink_error(messages.error(), what()));
    return std::move(*messages);
  }

  template <typename What>
  Result<void> remove_with(NetlinkRequest& request, std::span<const IfIndex> links, const What& what) {
    if (threads_ == nullptr || links.empty()) {
      TRY(ask(request, what));
      return {};
    }
    std::vector<IfIndex> left(links.begin(), links.end());
    auto removed = socket_.ask_until(request, *threads_, RTNLGRP_LINK, [&left](const NetlinkMessage& message) {
      if (const std::optional<IfIndex> gone = decode_gone(message)) std::erase(left, *gone);
      return left.empty();
    });
    if (removed) return {};
    if (removed.error().sys_errno != ENOBUFS) return fail(netlink_error(removed.error(), what()));
    // What was announced and answered could not be heard. A second request shows that nothing is left, or why not.
    auto again = socket_.ask(request);
    if (again || again.error().sys_errno == ENODEV) return {};
    return fail(netlink_error(again.error(), what()));
  }

  // The kernel (up to 6.18 at least) moves first, under the old name where that is free, and renames afterwards: when
  // the new name is taken it returns EEXIST and leaves the interface in the target. Then this function brings it back.
  // The properties that identify it there come from the last list() or find() if there was one, which saves a request
  // for each interface of a pod.
  Result<void> move(IfIndex index, const LinkChange& change) {
    auto listed = seen_.find(index.value);
    Seen link = listed != seen_.end() ? listed->second : identity(TRY(find(index, WithVfs::kNo)));
    seen_.erase(index.value);
    auto request = encode_change_link(index, change);
    auto moved = socket_.ask(request);
    if (moved) return {};
    Error error = netlink_error(moved.error(), fmt::format("RTM_NEWLINK {}{}", link.name, describe(change)));
    if (moved.error().sys_errno == ENODEV) return fail(std::move(error));  // it was no longer here
    if (auto still = find(index, WithVfs::kNo); !still && still.error().code == Code::kNotFound)
      if (auto back = bring_back(link, *change.netns); !back)
        error.hint = fmt::format("it is in {} now: {}", change.netns->path(), back.error().story());
    return fail(std::move(error));
  }

  Result<void> bring_back(const Seen& link, const Netns& from) {
    int home = ::ioctl(socket_.fd(), SIOCGSKNS);
    if (home < 0) return fail(system_error(errno, "SIOCGSKNS"));
    Netns own(home, "its own namespace");
    auto there = TRY(real_links(&from));
    Link stray = TRY(there->find(link.name, WithVfs::kNo));
    if (identity(stray) != link) return fail(Code::kConflict, "another interface is called {} there", link.name);
    TRY(there->change(stray.index, {.name = link.name, .netns = &own}));
    return {};
  }

  Result<Link> find_with(NetlinkRequest& request, const std::string& what) {
    for (const NetlinkMessage& message : TRY(ask(request, [&] { return what; })))
      if (auto link = decode_link(message)) {
        seen_.insert_or_assign(link->index.value, identity(*link));
        return std::move(*link);
      }
    return fail(system_error(ENODEV, what));
  }

  std::string name_of(IfIndex index) {
    auto request = encode_find_link(index, WithVfs::kNo);
    if (auto messages = socket_.ask(request))
      for (const NetlinkMessage& message : *messages)
        if (auto link = decode_link(message)) return link->name.value;
    return fmt::format("interface {}", index);
  }

  NetlinkSocket socket_;
  SenderThreads* threads_;  // null: none
  std::unordered_map<int, Seen>
      seen_;  // by index; from the last list() and later find(), without interfaces changed since
};

}  // namespace

Result<void> change_vfs(LinkPort& links, IfIndex pf, const std::vector<VfSetting>& settings) {
  if (auto* real = dynamic_cast<RealLinks*>(&links)) return real->change_vfs(pf, settings);
  for (const VfSetting& one : settings) TRY(links.change_vf(pf, one.vf, one.change));
  return {};
}

Result<std::unique_ptr<LinkPort>> real_links(const Netns* inside, SenderThreads* threads) {
  NetlinkSocket socket = TRY(NetlinkSocket::open(NETLINK_ROUTE, inside));
  return std::make_unique<RealLinks>(std::move(socket), threads);
}

}  // namespace railbed::os

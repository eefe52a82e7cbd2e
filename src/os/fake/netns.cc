// SPDX-License-Identifier: Apache-2.0
// Namespaces of the fake kernel. A Netns holds the reading end of a pipe; the writing end, kept here, shows when it is
// closed, as the kernel would notice.
#include <algorithm>
#include <cerrno>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "os/fake/state.h"

namespace railbed::os {

std::string default_sysctl(const std::string& key) {
  const bool of_ipv6 = key.starts_with("net/ipv6/conf/");
  return of_ipv6 && (key.ends_with("/accept_ra") || key.ends_with("/autoconf")) ? "1" : "0";
}

std::string FakeState::sysctl(NsId ns, const std::string& key) {
  const auto& all = namespaces[ns].sysctls;
  const auto found = all.find(key);
  return found == all.end() ? default_sysctl(key) : found->second;
}

FakeNs* FakeState::ns_by_name(const std::string& name) {
  for (auto& [id, ns] : namespaces)
    if (!ns.gone && id != kInitialNs && ns.name == name) return &ns;
  return nullptr;
}

FakeNs& FakeState::add_ns(const std::string& name) {
  NsId id = next_ns_++;
  FakeNs& ns = namespaces[id] = FakeNs{.id = id, .name = name};
  Link loopback{.name = IfName{"lo"}, .hw_address = std::vector<uint8_t>(6, 0), .arp_type = 772, .mtu = 65536};
  loopback.up = true;
  add_netdev({.ns = id, .link = loopback});
  return ns;
}

void FakeState::reap_namespaces() {
  std::vector<NsId> free;
  for (auto& [id, ns] : namespaces) {
    if (id == kInitialNs || ns.gone) continue;
    std::erase_if(ns.watched_pipes, [](int pipe) {
      pollfd watched{.fd = pipe, .events = 0, .revents = 0};
      if (::poll(&watched, 1, 0) <= 0 || (watched.revents & POLLERR) == 0) return false;
      ::close(pipe);
      return true;
    });
    if (ns.name.empty() && ns.watched_pipes.empty() && ns.ports.expired() && !ns.ending && !ns.hidden)
      free.push_back(id);
  }
  for (NsId id : free) {
    namespaces[id].ending = true;
    namespaces[id].nsid.reset();  // as in cleanup_net(): first the number, then what is inside
    later(netns_delay, [this, id] { end_ns(namespaces[id]); });
  }
}

// The lowest that is free, as the kernel's idr_alloc().
int FakeState::give_nsid(FakeNs& ns) {
  std::set<int> taken;
  for (const auto& [id, one] : namespaces)
    if (one.nsid.has_value()) taken.insert(*one.nsid);
  int number = 0;
  while (taken.contains(number)) ++number;
  ns.nsid = number;
  return number;
}

// As in default_device_exit_net(): physical interfaces return to the initial namespace, as "dev<index>" when their name
// is taken.
void FakeState::end_ns(FakeNs& ns) {
  if (ns.gone) return;
  ns.gone = true;
  ns.hidden = false;
  ns.nsid.reset();
  ns.name.clear();
  for (int pipe : ns.watched_pipes) ::close(pipe);
  ns.watched_pipes.clear();
  std::vector<NetdevId> inside;
  for (const auto& [id, one] : netdevs)
    if (one.ns == ns.id) inside.push_back(id);
  for (NetdevId id : inside) {
    FakeNetdev* one = netdev(id);
    if (one == nullptr) continue;  // was removed with another one
    if (!one->link.kind.empty() || one->link.name.value == "lo") {
      remove_netdev(id);
      continue;
    }
    std::string name = one->link.name.value;
    if (netdev_by_name(kInitialNs, name) != nullptr) name = fmt::format("dev{}", one->link.index);
    move_netdev(*one, kInitialNs, name);
  }
  for (FakeRdma& one : rdma)
    if (one.ns == ns.id) one.ns = kInitialNs;
}

namespace {

class FakeNetnsPort : public NetnsPort {
 public:
  explicit FakeNetnsPort(std::shared_ptr<FakeState> state) : state_(std::move(state)) {}

  Result<void> create(const std::string& name) override {
    TRY(check_name(name));
    std::string what = "create network namespace " + path_of(name);
    return state_->change("netns create " + name, what, [&]() -> Result<void> {
      if (state_->ns_by_name(name) != nullptr) return fail(system_error(EEXIST, what));
      state_->add_ns(name);
      return {};
    });
  }
  Result<void> remove(const std::string& name) override {
    TRY(check_name(name));
    std::string what = "remove network namespace " + path_of(name);
    return state_->change("netns remove " + name, what, [&]() -> Result<void> {
      FakeNs* ns = state_->ns_by_name(name);
      if (ns == nullptr) return fail(system_error(ENOENT, what));
      ns->name.clear();
      state_->reap_namespaces();
      return {};
    });
  }
  Result<std::vector<std::string>> names() override {
    auto lock = state_->look();
    std::vector<std::string> all;
    for (const auto& [id, ns] : state_->namespaces)
      if (!ns.gone && !ns.name.empty()) all.push_back(ns.name);
    std::ranges::sort(all);
    return all;
  }
  std::string path_of(const std::string& name) const override { return "/run/netns/" + name; }

  Result<std::unique_ptr<Netns>> take(int, const std::string& path) override {
    return fail(Code::kUnsupported, "no descriptors are passed for {} here", path);
  }
  Result<std::unique_ptr<Netns>> again(const Netns& netns) override {
    auto lock = state_->look();
    return opened(state_->namespaces[TRY(inside(netns))], netns.path());
  }
  Result<std::unique_ptr<Netns>> open_at(const std::string& path) override {
    auto lock = state_->look();
    if (auto refused = state_->refused_netns.find(path); refused != state_->refused_netns.end() && refused->second != 0)
      return fail(system_error(refused->second, "open network namespace " + path));
    constexpr std::string_view kFolder = "/run/netns/";
    FakeNs* ns = path.starts_with(kFolder) ? state_->ns_by_name(path.substr(kFolder.size())) : nullptr;
    if (ns == nullptr || ns->name.empty()) return fail(system_error(ENOENT, "open network namespace " + path));
    return opened(*ns, path);
  }
  Result<std::unique_ptr<Netns>> open_own() override {
    auto lock = state_->look();
    int fd = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (fd < 0) return fail(system_error(errno, "open /dev/null"));
    state_->open_netns[fd] = kInitialNs;
    return std::make_unique<Netns>(fd, "/proc/thread-self/ns/net");
  }

  // All processes of the fake machine are in its first namespace.
  Result<bool> is_own(const std::string& path) override {
    if (path.starts_with("/proc/") && path.ends_with("/ns/net")) return true;
    TRY(open(path));
    return false;
  }

  Result<bool> leads_to(const std::string& path, const Netns& netns) override {
    auto lock = state_->look();
    auto that = open_at(path);
    if (!that.has_value() && that.error().code == Code::kNotFound) return false;
    const std::unique_ptr<Netns> there = TRY(std::move(that));
    return TRY(inside(*there)) == TRY(inside(netns));
  }

  Result<NetnsIdentity> identity(const Netns& netns) override {
    auto lock = state_->look();
    return NetnsIdentity{.number = static_cast<uint64_t>(TRY(inside(netns))) + 1};
  }
  Result<uint64_t> file_number(const Netns& netns) override {
    auto lock = state_->look();
    return static_cast<uint64_t>(TRY(inside(netns))) + 1'000;
  }
  Result<Nsid> number(const Netns& netns) override {
    auto lock = state_->look();
    FakeNs& ns = state_->namespaces[TRY(inside(netns))];
    return Nsid{ns.nsid.has_value() ? *ns.nsid : state_->give_nsid(ns)};
  }
  Result<std::optional<Nsid>> number_if_any(const Netns& netns) override {
    auto lock = state_->look();
    const FakeNs& ns = state_->namespaces[TRY(inside(netns))];
    return ns.nsid.has_value() ? std::optional(Nsid{*ns.nsid}) : std::nullopt;
  }
  Result<std::set<Nsid>> numbers() override {
    auto lock = state_->look();
    std::set<Nsid> all;
    for (const auto& [id, ns] : state_->namespaces)
      if (ns.nsid.has_value()) all.insert(Nsid{*ns.nsid});
    return all;
  }
  Result<bool> knows_others(const Netns& netns) override {
    auto lock = state_->look();
    return std::ranges::any_of(state_->namespaces[TRY(inside(netns))].moved_to, [&](NsId id) {
      return id != kInitialNs && !state_->namespaces[id].gone && !state_->namespaces[id].ending;
    });
  }
  Result<bool> is_of_initial_user(const Netns& netns) override {
    auto lock = state_->look();
    return !state_->namespaces[TRY(inside(netns))].of_other_user;
  }
  Result<void> visit(const std::vector<std::string>&, const Visit& visit) override {
    std::vector<NsId> found;
    {
      auto lock = state_->look();
      for (const auto& [id, ns] : state_->namespaces)
        if (!ns.gone && !ns.ending && !ns.hidden) found.push_back(id);
    }
    for (const NsId id : found) {
      std::unique_ptr<Netns> netns;
      if (id == kInitialNs) {
        netns = TRY(open_own());
      } else {
        auto lock = state_->look();
        FakeNs& ns = state_->namespaces[id];
        if (ns.gone || ns.ending) continue;
        if (const auto refused = state_->refused_netns.find(path_of(ns.name));
            refused != state_->refused_netns.end() && refused->second != 0)
          return fail(system_error(refused->second, "open network namespace " + path_of(ns.name)));
        netns = TRY(opened(ns, ns.name.empty() ? fmt::format("/proc/{}/ns/net", 1000 + id) : path_of(ns.name)));
      }
      if (!TRY(visit(std::move(netns), {.number = static_cast<uint64_t>(id) + 1}))) break;
    }
    return {};
  }

  Result<std::unique_ptr<LinkPort>> links(const Netns& netns) override {
    auto lock = state_->look();
    return fake_links(state_, TRY(inside(netns)));
  }
  Result<std::unique_ptr<RdmaPort>> rdma(const Netns& netns) override {
    auto lock = state_->look();
    return fake_rdma(state_, TRY(inside(netns)));
  }

  Result<std::string> sysctl(const Netns& netns, const std::string& key) override {
    TRY(check_key(key));
    auto lock = state_->look();
    return value_of(TRY(inside(netns)), key, fmt::format("read /proc/sys/{} in {}", key, netns.path()));
  }
  using NetnsPort::set_sysctls;
  Result<void> set_sysctls(const Netns& netns, const Sysctls& settings, const Sysctls& if_there, size_t& at) override {
    Sysctls all = settings;
    all.insert(all.end(), if_there.begin(), if_there.end());
    for (at = 0; at < all.size(); ++at) TRY(check_key(all[at].first));
    for (at = 0; at < all.size(); ++at) {
      const auto& [key, value] = all[at];
      auto now = sysctl(netns, key);
      if (now.has_value() && *now == value) continue;
      if (!now.has_value() && now.error().sys_errno == ENOENT && at >= settings.size()) continue;
      TRY(set_one(netns, key, value));
    }
    return {};
  }

 private:
  Result<std::unique_ptr<Netns>> opened(FakeNs& ns, const std::string& path) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return fail(system_error(errno, "pipe"));
    ns.watched_pipes.push_back(ends[1]);
    state_->open_netns[ends[0]] = ns.id;
    return std::make_unique<Netns>(ends[0], path);
  }
  static Result<void> check_key(const std::string& key) {
    if (key.starts_with("net/") && key.find("..") == std::string::npos) return {};
    return fail(Code::kInvalid, "sysctl {}: only keys below net/ belong to a network namespace", key);
  }
  Result<std::string> value_of(NsId ns, const std::string& key, const std::string& what) {
    if (!is_there(ns, key)) return fail(system_error(ENOENT, what));
    return state_->sysctl(ns, key);
  }
  Result<void> set_one(const Netns& netns, const std::string& key, const std::string& value) {
    std::string what = fmt::format("write \"{}\" to /proc/sys/{} in {}", value, key, netns.path());
    return state_->change(fmt::format("sysctl {} {} in {}", key, value, netns.path()), what, [&]() -> Result<void> {
      NsId ns = TRY(inside(netns));
      if (!is_there(ns, key)) return fail(system_error(ENOENT, what));
      state_->namespaces[ns].sysctls[key] = value;
      if (value == default_sysctl(key)) state_->namespaces[ns].sysctls.erase(key);
      return {};
    });
  }

  static Result<void> check_name(const std::string& name) {
    if (name.empty() || name.size() > 255 || name == "." || name == ".." || name.find('/') != std::string::npos)
      return fail(Code::kInvalid, "\"{}\" cannot name a network namespace: 1 to 255 bytes without '/'", name);
    return {};
  }
  Result<NsId> inside(const Netns& netns) {
    auto found = state_->open_netns.find(netns.fd());
    if (found == state_->open_netns.end() || state_->namespaces[found->second].gone)
      return fail(system_error(EINVAL, "setns " + netns.path()));
    return found->second;
  }
  // The keys of an interface exist only while it does, those of IPv6 only from the least MTU on that IPv6 has.
  bool is_there(NsId ns, const std::string& key) {
    if (state_->namespaces[ns].of_other_user && state_->hidden_sysctls.contains(key)) return false;
    if (key.starts_with("net/ipv6/") && !state_->machine.ipv6) return false;
    for (std::string_view prefix : {"net/ipv4/conf/", "net/ipv6/conf/", "net/ipv4/neigh/", "net/ipv6/neigh/"}) {
      if (!key.starts_with(prefix)) continue;
      std::string name = key.substr(prefix.size());
      name.resize(std::min(name.find('/'), name.size()));
      if (name == "all" || name == "default") return true;
      const FakeNetdev* netdev = state_->netdev_by_name(ns, name);
      return netdev != nullptr && (!key.starts_with("net/ipv6/") || netdev->link.mtu >= kLeastIpv6Mtu);
    }
    return true;
  }

  std::shared_ptr<FakeState> state_;
};

}  // namespace

std::unique_ptr<NetnsPort> fake_netns(std::shared_ptr<FakeState> state) {
  return std::make_unique<FakeNetnsPort>(std::move(state));
}

}  // namespace railbed::os

// SPDX-License-Identifier: Apache-2.0
#include "agent/leftovers/in_use.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <sstream>

namespace railbed::agent {
namespace {

// Keys of notes. A namespace's path may have blanks, so it comes last.
constexpr const char* kNamespaces = "in use: namespaces";  // cookies, with blanks between them
constexpr const char* kInUseNotes = "in use ";             // and "<address> <cookie>": "<interface> <path>"

bool is_of_one_link(const IpAddress& address) {
  if (address.family == IpFamily::kV4)
    return address.bytes[0] == 127 || (address.bytes[0] == 169 && address.bytes[1] == 254);
  static const IpAddress loopback = *IpAddress::parse("::1");
  return address == loopback || (address.bytes[0] == 0xfe && (address.bytes[1] & 0xc0) == 0x80);
}

// A namespace that ended meanwhile has nothing.
template <typename T>
bool ended(const Result<T>& result) {
  return !result.has_value() && result.error().code == Code::kNotFound;
}

Result<std::vector<NodeAddress>> addresses_at(os::Kernel& kernel, const std::string& path,
                                              std::set<uint64_t>* seen = nullptr) {
  std::vector<NodeAddress> found;
  auto netns = kernel.netns().open(path);
  if (ended(netns)) return found;
  std::unique_ptr<os::Netns> space = TRY(std::move(netns).context("looking into {}", path));
  std::unique_ptr<os::LinkPort> links = TRY(kernel.netns().links(*space).context("looking into {}", path));
  const uint64_t cookie = links->cookie();
  if (seen != nullptr && cookie != 0 && !seen->insert(cookie).second) return found;
  std::map<IfIndex, std::string> names;
  for (const os::Link& link : TRY(links->list(os::WithVfs::kNo).context("looking into {}", path)))
    names[link.index] = link.name.value;
  for (const os::LinkAddress& one : TRY(links->addresses().context("looking into {}", path)))
    if (!is_of_one_link(one.prefix.address))
      found.push_back({.address = one.prefix.address, .netns = path, .cookie = cookie, .interface = names[one.link]});
  return found;
}

// A path to each namespace that is not this process's own; namespaces with a name may be there twice.
Result<std::vector<std::string>> paths_of_namespaces(os::Kernel& kernel) {
  std::vector<std::string> paths;
  for (const std::string& name : TRY(kernel.netns().names())) paths.push_back(kernel.netns().path_of(name));
  std::set<std::string> seen;  // "net:[4026531840]"
  if (auto own = kernel.files().read_link("/proc/self/ns/net"); own.has_value()) seen.insert(*own);
  Result<std::vector<std::string>> processes = kernel.files().list("/proc");
  if (ended(processes)) return paths;
  for (const std::string& pid : TRY(std::move(processes))) {
    if (pid.find_first_not_of("0123456789") != std::string::npos) continue;
    const std::string path = "/proc/" + pid + "/ns/net";
    Result<std::string> which = kernel.files().read_link(path);
    if (which.has_value() && seen.insert(*which).second) paths.push_back(path);
  }
  return paths;
}

std::string key_of(const NodeAddress& one) {
  return fmt::format("{}{} {}", kInUseNotes, one.address, one.cookie);
}

std::optional<NodeAddress> read_note(std::string_view key, const std::string& text) {
  key.remove_prefix(std::string_view(kInUseNotes).size());
  const size_t between = key.find(' ');
  const size_t blank = text.find(' ');
  Result<IpAddress> address = IpAddress::parse(key.substr(0, between));
  if (!address.has_value() || between == std::string_view::npos || blank == std::string::npos) return std::nullopt;
  NodeAddress one{.address = *address, .netns = text.substr(blank + 1), .interface = text.substr(0, blank)};
  std::from_chars(key.data() + between + 1, key.data() + key.size(), one.cookie);
  return one;
}

void tell(ipam::Allocator& addresses, const std::set<NodeAddress>& set_aside) {
  std::map<IpAddress, ipam::Owner> in_use;
  for (const NodeAddress& one : set_aside) in_use[one.address] = {"in namespace " + one.netns, one.interface};
  addresses.set_in_use(std::move(in_use));
}

}  // namespace

Result<std::set<uint64_t>> namespaces_of_before(state::Store& store) {
  std::set<uint64_t> cookies;
  std::istringstream text(TRY(store.note(kNamespaces)).value_or(""));
  for (uint64_t cookie = 0; text >> cookie;) cookies.insert(cookie);
  return cookies;
}

Result<NodeAddresses> node_addresses(os::Kernel& kernel) {
  NodeAddresses found;
  std::set<uint64_t>& seen = found.namespaces;
  auto own = TRY(kernel.netns().open_own());
  std::unique_ptr<os::LinkPort> own_links = TRY(kernel.netns().links(*own));
  const uint64_t own_cookie = own_links->cookie();
  seen.insert(own_cookie);
  for (const std::string& path : TRY(paths_of_namespaces(kernel)))
    for (NodeAddress& one : TRY(addresses_at(kernel, path, &seen))) found.all.push_back(std::move(one));
  seen.erase(own_cookie);
  return found;
}

Result<void> InUse::find(Engine::Turn& turn) {
  std::set<IpAddress> leased;
  for (const state::AddressLease& lease : TRY(turn.store().all_leases())) leased.insert(lease.address);
  const NodeAddresses found = TRY(node_addresses(turn.kernel()));
  auto transaction = TRY(state::Transaction::begin(turn.store()));
  for (const NodeAddress& one : found.all)
    if (!leased.contains(one.address)) TRY(turn.store().put_note(key_of(one), one.interface + " " + one.netns));
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  TRY(turn.store().put_note(kNamespaces, fmt::format("{}", fmt::join(found.namespaces, " "))));
  TRY(turn.store().put_note(kLooked, std::to_string(std::chrono::duration_cast<std::chrono::seconds>(now).count())));
  return transaction.commit();
}

Result<void> InUse::load(Engine::Turn& turn) {
  if (!TRY(turn.store().note(kLooked)).has_value()) TRY(find(turn));
  set_aside_.clear();
  for (const auto& [key, text] : TRY(turn.store().notes(kInUseNotes)))
    if (auto one = read_note(key, text)) set_aside_.insert(*std::move(one));
  return {};
}

Result<size_t> InUse::start() {
  Engine::Turn turn = TRY(engine_.turn(kTurnWait));
  Result<void> loaded = load(turn);
  if (!loaded.has_value()) {
    Error why = loaded.error();
    why.code = Code::kBusy;  // it is tried again
    why.context.push_back("no addresses are given out, since those that pods have are not known");
    why.hint = "the agent looks again every few seconds";
    turn.addresses().refuse(why);
    return fail(std::move(loaded.error()));
  }
  started_ = true;
  turn.addresses().refuse(std::nullopt);
  tell(turn.addresses(), set_aside_);
  return set_aside_.size();
}

Result<void> InUse::refresh() {
  if (!started_) TRY(start());
  if (set_aside_.empty()) return {};
  os::Kernel& kernel = engine_.kernel();
  std::set<std::string> paths;
  for (const NodeAddress& one : set_aside_) paths.insert(one.netns);
  using There = std::pair<uint64_t, IpAddress>;
  std::set<There> there;
  bool all_open = true;
  for (const std::string& path : paths) {
    all_open = all_open && kernel.netns().open(path).has_value();
    for (const NodeAddress& one : TRY(addresses_at(kernel, path))) there.emplace(one.cookie, one.address);
  }
  // The namespace may live on without that name or process.
  if (!all_open)
    for (const NodeAddress& one : TRY(node_addresses(kernel)).all) there.emplace(one.cookie, one.address);
  std::vector<NodeAddress> gone;
  for (const NodeAddress& one : set_aside_)
    if (!there.contains({one.cookie, one.address})) gone.push_back(one);
  if (gone.empty()) return {};
  Engine::Turn turn = TRY(engine_.turn(kTurnWait));
  auto transaction = TRY(state::Transaction::begin(turn.store()));
  for (const NodeAddress& one : gone) TRY(turn.store().forget_note(key_of(one)));
  TRY(transaction.commit());
  for (const NodeAddress& one : gone) set_aside_.erase(one);
  tell(turn.addresses(), set_aside_);
  return {};
}

}  // namespace railbed::agent

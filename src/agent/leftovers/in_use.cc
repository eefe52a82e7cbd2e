// SPDX-License-Identifier: Apache-2.0
#include "agent/leftovers/in_use.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <sstream>

#include "attach/namespaces.h"

namespace railbed::agent {
namespace {

// Keys of notes. A namespace's path may have blanks, so it comes last.
constexpr const char* kLooking = "in use: looking";        // there from start() to the end of look()
constexpr const char* kNamespaces = "in use: namespaces";  // numbers, with blanks between them
// And "<address> <number of the namespace>": "<interface> <path>", and in a second line the nsid. Where only a file
// says so, its path is the end of the key and a third line.
constexpr const char* kInUseNotes = "in use ";

bool is_of_one_link(const IpAddress& address) {
  if (address.family == IpFamily::kV4)
    return address.bytes[0] == 127 || (address.bytes[0] == 169 && address.bytes[1] == 254);
  static const IpAddress loopback = *IpAddress::parse("::1");
  return address == loopback || (address.bytes[0] == 0xfe && (address.bytes[1] & 0xc0) == 0x80);
}

Result<std::vector<NodeAddress>> addresses_in(os::Kernel& kernel, const os::Netns& netns,
                                              const os::NetnsIdentity& who) {
  std::vector<NodeAddress> found;
  std::unique_ptr<os::LinkPort> links = TRY(kernel.netns().links(netns));
  std::map<IfIndex, std::string> names;
  for (const os::Link& link : TRY(links->list(os::WithVfs::kNo))) names[link.index] = link.name.value;
  for (const os::LinkAddress& one : TRY(links->addresses()))
    if (!is_of_one_link(one.prefix.address))
      found.push_back({.address = one.prefix.address,
                       .netns = netns.path(),
                       .namespace_number = who.number,
                       .interface = names[one.link],
                       .nsid = std::nullopt,
                       .file = ""});
  if (found.empty()) return found;
  const Result<os::Nsid> nsid = kernel.netns().number(netns);
  if (!nsid.has_value() && nsid.error().code != Code::kUnsupported) return fail(Error(nsid.error()));
  for (NodeAddress& one : found)
    if (nsid.has_value()) one.nsid = *nsid;
  return found;
}

// When the machine was started, in seconds since 1970; 0 where that is not known.
int64_t booted_seconds(os::Kernel& kernel) {
  const Result<std::string> text = kernel.files().read("/proc/stat");
  constexpr std::string_view kKey = "\nbtime ";
  const size_t at = text.has_value() ? text->find(kKey) : std::string::npos;
  int64_t seconds = 0;
  if (at != std::string::npos) std::from_chars(text->data() + at + kKey.size(), text->data() + text->size(), seconds);
  return seconds;
}
// How far the time of a file and that of the boot may be apart the wrong way, since clocks are set.
constexpr int64_t kClockMayBeOff = 600;

// What was written of a namespace that is at its path lasts as long as the namespace, as what an interface shows.
Result<void> tie_to(os::Kernel& kernel, const os::Netns& netns, std::vector<NodeAddress>& written) {
  const os::NetnsIdentity who = TRY(kernel.netns().identity(netns));
  const Result<os::Nsid> nsid = kernel.netns().number(netns);
  if (!nsid.has_value() && nsid.error().code != Code::kUnsupported) return fail(Error(nsid.error()));
  for (NodeAddress& one : written) {
    one.namespace_number = who.number;
    one.file.clear();
    if (nsid.has_value()) one.nsid = *nsid;
  }
  return {};
}

// A pod may add addresses to its interfaces, as many as it likes.
void count_in(std::vector<NodeAddress> of_one, NodeAddresses& found) {
  std::map<std::string, size_t> of_interface;
  size_t counted = 0;
  for (NodeAddress& one : of_one) {
    if (++of_interface[one.interface] > kMostOfInterface || ++counted > kMostOfNamespace) {
      found.odd.push_back(one.netns);
      return;
    }
    found.all.push_back(std::move(one));
  }
}

std::string key_of(const NodeAddress& one) {
  return fmt::format("{}{} {}{}{}", kInUseNotes, one.address, one.namespace_number, one.file.empty() ? "" : " ",
                     one.file);
}

std::string text_of(const NodeAddress& one) {
  std::string text = one.interface + " " + one.netns;
  if (one.nsid.has_value()) text += fmt::format("\n{}", one.nsid->value);
  if (!one.file.empty()) text += "\n\n" + one.file;
  return text;
}

std::optional<NodeAddress> read_note(std::string_view key, std::string_view text) {
  const size_t line = std::min(text.find('\n'), text.size());
  std::string_view second = text.substr(std::min(line + 1, text.size()));
  const size_t second_line = std::min(second.find('\n'), second.size());
  const std::string_view third = second.substr(std::min(second_line + 1, second.size()));
  second = second.substr(0, second_line);
  text = text.substr(0, line);
  key.remove_prefix(std::string_view(kInUseNotes).size());
  const size_t between = key.find(' ');
  const size_t blank = text.find(' ');
  Result<IpAddress> address = IpAddress::parse(key.substr(0, between));
  if (!address.has_value() || between == std::string_view::npos || blank == std::string_view::npos) return std::nullopt;
  NodeAddress one{.address = *address,
                  .netns = std::string(text.substr(blank + 1)),
                  .interface = std::string(text.substr(0, blank)),
                  .nsid = std::nullopt,
                  .file = std::string(third)};
  std::from_chars(key.data() + between + 1, key.data() + key.size(), one.namespace_number);
  if (os::Nsid nsid; std::from_chars(second.data(), second.data() + second.size(), nsid.value).ec == std::errc{})
    one.nsid = nsid;
  return one;
}

void tell(ipam::Allocator& addresses, const std::set<NodeAddress>& set_aside) {
  std::map<IpAddress, ipam::Owner> in_use;
  for (const NodeAddress& one : set_aside) in_use[one.address] = {"in namespace " + one.netns, one.interface};
  addresses.set_in_use(std::move(in_use));
}

// Addresses with the namespaces of the pods that have leases of them. Another namespace that has the address, too, is
// of a pod that a state which was rolled back does not know.
using Leased = std::set<std::pair<IpAddress, uint64_t>>;
Result<Leased> leased_in(state::Store& store) {
  std::multimap<std::string, uint64_t> namespaces;
  for (const state::Attachment& record : TRY(store.attachments()))
    if (const auto who = attach::netns_ref_of(record).identity) namespaces.emplace(record.pod, who->number);
  Leased leased;
  for (const state::AddressLease& lease : TRY(store.all_leases()))
    for (auto [at, end] = namespaces.equal_range(lease.pod); at != end; ++at) leased.emplace(lease.address, at->second);
  return leased;
}

}  // namespace

Result<std::optional<std::set<uint64_t>>> namespaces_of_before(state::Store& store) {
  if (TRY(store.note(kLooking)).has_value()) return std::nullopt;
  std::set<uint64_t> numbers;
  std::istringstream text(TRY(store.note(kNamespaces)).value_or(""));
  for (uint64_t number = 0; text >> number;) numbers.insert(number);
  return numbers;
}

Result<NodeAddresses> node_addresses(os::Kernel& kernel) {
  NodeAddresses found;
  const auto own = TRY(kernel.netns().open_own());
  const os::NetnsIdentity own_identity = TRY(kernel.netns().identity(*own));
  const auto look_into = [&](std::unique_ptr<os::Netns> netns, const os::NetnsIdentity& who) -> Result<bool> {
    if (who == own_identity) return true;
    Result<std::vector<NodeAddress>> there = addresses_in(kernel, *netns, who);
    count_in(TRY(std::move(there).context("reading {}", netns->path())), found);
    found.namespaces.insert(who.number);
    return true;
  };
  TRY(kernel.netns().visit({}, look_into));
  return found;
}

Result<void> add_written(os::Kernel& kernel, const std::vector<WrittenAddress>& written, NodeAddresses& found) {
  const auto own = TRY(kernel.netns().open_own());
  const int64_t booted = booted_seconds(kernel);
  std::map<std::string, std::vector<NodeAddress>> by_path;
  for (const WrittenAddress& one : written)
    if (!is_of_one_link(one.address))
      by_path[one.netns].push_back({.address = one.address,
                                    .netns = one.netns,
                                    .interface = one.interface,
                                    .nsid = std::nullopt,
                                    .file = one.written_seconds < booted - kClockMayBeOff ? "" : one.file});
  for (auto& [path, of_one] : by_path) {
    std::unique_ptr<os::Netns> netns;
    if (auto opened = kernel.netns().open(path); opened.has_value()) netns = *std::move(opened);
    if (netns != nullptr && TRY(kernel.netns().leads_to(path, *own))) continue;
    if (netns != nullptr) TRY(tie_to(kernel, *netns, of_one));
    std::erase_if(of_one, [](const NodeAddress& one) { return one.namespace_number == 0 && one.file.empty(); });
    count_in(std::move(of_one), found);
  }
  return {};
}

Result<void> release_in_use(Engine::Turn& turn, const std::string& path, const std::string& interface) {
  const std::vector<state::Store::Note> notes = TRY(turn.store().notes(kInUseNotes));
  if (notes.empty() || path.empty()) return {};
  auto opened = turn.kernel().netns().open(path);
  const bool is_there = opened.has_value() || opened.error().code != Code::kNotFound;
  uint64_t number = 0;
  if (is_there) {
    const std::unique_ptr<os::Netns> netns = TRY(std::move(opened));
    number = TRY(turn.kernel().netns().identity(*netns)).number;
  }
  // What only a file says is of the attachment at that path: this DEL is its end.
  const auto is_meant = [&](const NodeAddress& one) {
    if (!interface.empty() && one.interface != interface) return false;
    return one.file.empty() ? is_there && one.namespace_number == number : one.netns == path;
  };
  auto transaction = TRY(state::Transaction::begin(turn.store()));
  std::set<NodeAddress> left;
  for (const auto& [key, text] : notes) {
    std::optional<NodeAddress> one = read_note(key, text);
    if (!one.has_value()) continue;
    if (is_meant(*one))
      TRY(turn.store().forget_note(key));
    else
      left.insert(*std::move(one));
  }
  TRY(transaction.commit());
  tell(turn.addresses(), left);  // the next pod may want it at once
  return {};
}

// Outside of turns: a namespace may be slow to answer, and pods that need no address of a pool come and go meanwhile.
// What these pods got by then has a lease.
Result<void> InUse::find() {
  const std::vector<WrittenAddress> written =
      TRY(written_addresses(disk_, pods_).context("reading which addresses the runtime's containers have"));
  NodeAddresses found = TRY(node_addresses(engine_.kernel()));
  TRY(add_written(engine_.kernel(), written, found));
  Engine::Turn turn = TRY(engine_.turn(kTurnWait));
  const Leased leased = TRY(leased_in(turn.store()));
  auto transaction = TRY(state::Transaction::begin(turn.store()));
  for (const NodeAddress& one : found.all)
    if (!leased.contains({one.address, one.namespace_number})) TRY(turn.store().put_note(key_of(one), text_of(one)));
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  TRY(turn.store().put_note(kNamespaces, fmt::format("{}", fmt::join(found.namespaces, " "))));
  TRY(turn.store().put_note(kLooked, std::to_string(std::chrono::duration_cast<std::chrono::seconds>(now).count())));
  TRY(turn.store().forget_note(state::kLostItsEnd));
  TRY(turn.store().forget_note(kLooking));
  odd_ = std::move(found.odd);
  return transaction.commit();
}

Result<void> InUse::read(Engine::Turn& turn) {
  set_aside_.clear();
  for (const auto& [key, text] : TRY(turn.store().notes(kInUseNotes)))
    if (auto one = read_note(key, text)) set_aside_.insert(*std::move(one));
  return {};
}

void InUse::refuse(Engine::Turn& turn, Error why) {
  why.code = Code::kBusy;  // it is tried again
  why.context.push_back("no addresses are allocated, because the addresses in use are unknown");
  turn.addresses().refuse(std::move(why));
}

Result<bool> InUse::start() {
  Engine::Turn turn = TRY(engine_.turn(kTurnWait));
  const bool lost = TRY(turn.store().note(state::kLostItsEnd)).has_value();
  if (lost || !TRY(turn.store().note(kLooked)).has_value()) {
    TRY(turn.store().put_note(kLooking, "1"));
    refuse(turn, {.message = "searching the network namespaces of this machine for addresses in use",
                  .hint = "this takes seconds after the state was lost; the runtime will retry the pod"});
    return false;
  }
  TRY(begin(turn));
  return true;
}

Result<void> InUse::begin(Engine::Turn& turn) {
  TRY(read(turn));
  turn.addresses().refuse(std::nullopt);
  tell(turn.addresses(), set_aside_);
  started_ = true;  // last: from now on the other thread uses them
  return {};
}

Result<size_t> InUse::look() {
  if (started_) return set_aside_.size();
  Result<void> found = find();
  Engine::Turn turn = TRY(engine_.turn(kTurnWait));
  if (!found.has_value()) {
    Error why = found.error();
    why.hint = "the agent retries every few seconds";
    refuse(turn, std::move(why));
    return fail(std::move(found.error()));
  }
  TRY(begin(turn));
  return set_aside_.size();
}

// Of an earlier version, whose notes have no nsid: it is asked for while the namespace is where it was.
Result<void> InUse::number_old(Engine::Turn& turn) {
  os::NetnsPort& netns = turn.kernel().netns();
  for (const NodeAddress& one : std::set(set_aside_)) {
    if (one.nsid.has_value() || !one.file.empty()) continue;
    auto opened = netns.open(one.netns);
    if (!opened.has_value() || TRY(netns.identity(**opened)).number != one.namespace_number) continue;
    const Result<os::Nsid> nsid = netns.number(**opened);
    if (!nsid.has_value()) continue;
    NodeAddress with = one;
    with.nsid = *nsid;
    TRY(turn.store().put_note(key_of(with), text_of(with)));
    set_aside_.erase(one);
    set_aside_.insert(std::move(with));
  }
  return {};
}

Result<bool> InUse::is_still_used(const NodeAddress& one, const std::set<os::Nsid>& given) {
  if (one.file.empty()) return !one.nsid.has_value() || given.contains(*one.nsid);
  const Result<os::FileStamp> there = disk_.stamp(one.file);
  if (!there.has_value() && there.error().code != Code::kNotFound) return fail(Error(there.error()));
  return there.has_value();
}

Result<void> InUse::refresh() {
  if (!started_ || set_aside_.empty()) return {};
  const std::set<os::Nsid> given = TRY(engine_.kernel().netns().numbers());
  Engine::Turn turn = TRY(engine_.turn(kTurnWait));
  auto transaction = TRY(state::Transaction::begin(turn.store()));
  TRY(read(turn));  // a DEL may have given some back
  TRY(number_old(turn));
  for (const NodeAddress& one : std::set(set_aside_)) {
    if (TRY(is_still_used(one, given))) continue;
    TRY(turn.store().forget_note(key_of(one)));
    set_aside_.erase(one);
  }
  TRY(transaction.commit());
  tell(turn.addresses(), set_aside_);
  return {};
}

}  // namespace railbed::agent

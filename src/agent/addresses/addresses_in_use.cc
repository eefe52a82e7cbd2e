// SPDX-License-Identifier: Apache-2.0
#include "agent/addresses/addresses_in_use.h"

#include <algorithm>
#include <charconv>
#include <sstream>

namespace railbed::agent {
namespace {

// Keys of notes begin with this. A namespace's path may have blanks, so it comes last.
// "<address> <number of the namespace>": "<interface> <path>", and in a second line the nsid. Where only a file
// says so, its path is the end of the key and a third line.
constexpr const char* kInUseNotes = "in use ";

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

}  // namespace

bool is_of_one_link(const IpAddress& address) {
  if (address.family == IpFamily::kV4)
    return address.bytes[0] == 127 || (address.bytes[0] == 169 && address.bytes[1] == 254);
  static const IpAddress loopback = *IpAddress::parse("::1");
  return address == loopback || (address.bytes[0] == 0xfe && (address.bytes[1] & 0xc0) == 0x80);
}

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
  reserve_in_use(turn.addresses(), left);  // the next pod may want it at once
  return {};
}

Result<void> put_in_use(state::Store& store, const NodeAddress& one) {
  return store.put_note(key_of(one), text_of(one));
}

Result<void> forget_in_use(state::Store& store, const NodeAddress& one) {
  return store.forget_note(key_of(one));
}

Result<std::set<NodeAddress>> read_in_use(state::Store& store) {
  std::set<NodeAddress> all;
  for (const auto& [key, text] : TRY(store.notes(kInUseNotes)))
    if (auto one = read_note(key, text)) all.insert(*std::move(one));
  return all;
}

void reserve_in_use(ipam::Allocator& addresses, const std::set<NodeAddress>& set_aside) {
  std::map<IpAddress, ipam::Owner> in_use;
  for (const NodeAddress& one : set_aside) in_use[one.address] = {"in namespace " + one.netns, one.interface};
  addresses.set_in_use(std::move(in_use));
}

}  // namespace railbed::agent

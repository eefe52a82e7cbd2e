// SPDX-License-Identifier: Apache-2.0
#include "attach/record.h"

#include <algorithm>

#include "attach/json_fields.h"
#include "base/hex.h"
#include "doc/json.h"
#include "doc/record.h"

namespace railbed::attach {
namespace {

constexpr std::string_view kWayWords[] = {"move", "make", "vfio", "existing"};
constexpr std::string_view kMacvlanModeWords[] = {"bridge", "private", "vepa", "passthru"};
constexpr std::string_view kIpvlanModeWords[] = {"l2", "l3", "l3s"};
constexpr std::string_view kOrphanedByWords[] = {"namespace", "hidden", "vfio"};
constexpr std::string_view kRdmaUndoWords[] = {"none", "move-back", "remove-soft"};
static_assert(std::size(kWayWords) == 1 + static_cast<size_t>(Way::kExisting));
static_assert(std::size(kMacvlanModeWords) == 1 + static_cast<size_t>(os::MacvlanMode::kPassthru));
static_assert(std::size(kIpvlanModeWords) == 1 + static_cast<size_t>(os::IpvlanMode::kL3s));
static_assert(std::size(kOrphanedByWords) == 1 + static_cast<size_t>(OrphanedBy::kVfio));
static_assert(std::size(kRdmaUndoWords) == 1 + static_cast<size_t>(RdmaUndo::kRemoveSoft));
static_assert(std::size(kVlanProtoWords) == 1 + static_cast<size_t>(os::VlanProto::k8021ad));
static_assert(std::size(kLinkStateWords) == 1 + static_cast<size_t>(os::VfLinkState::kDisable));

using Pairs = std::vector<std::pair<std::string, std::string>>;

std::vector<std::string> pairs(const Pairs& sysctls) {
  std::vector<std::string> texts;
  for (const auto& [key, value] : sysctls) texts.push_back(key + "=" + value);
  return texts;
}
// The names of sysctls contain no '='.
Pairs unpaired(const std::vector<std::string>& texts) {
  Pairs sysctls;
  for (const std::string& text : texts) {
    size_t place = std::min(text.find('='), text.size());
    sysctls.emplace_back(text.substr(0, place), text.substr(std::min(place + 1, text.size())));
  }
  return sysctls;
}

// The kernel gives files of namespaces numbers from here (PROC_DYNAMIC_FIRST) to the last one of 32 bits.
constexpr uint64_t kFirstFileNumber = 0xf000'0000;
constexpr uint64_t kLastFileNumber = 0xffff'ffff;

// Earlier versions wrote a file's number as "netns", too. No other number gets that high: it counts the
// namespaces since the boot.
bool is_of_file(uint64_t number) {
  return number >= kFirstFileNumber && number <= kLastFileNumber;
}

template <typename Io, typename T>
void hex_member(Io& io, std::string_view key, T& bytes) {
  if constexpr (Io::kWrites) {
    put_text(io.object(), key, hex_text(bytes));
  } else {
    std::string text;
    io.from().read(key, text);
    if (auto read = bytes_of_hex(text); read.has_value())
      bytes = std::move(*read);
    else
      io.from().wrong(key, fmt::format("\"{}\" is not a hardware address", text));
  }
}

template <typename Io, typename T>
void sysctls_member(Io& io, T& sysctls) {
  if constexpr (Io::kWrites) {
    put_texts(io.object(), "sysctls", pairs(sysctls));
  } else {
    std::vector<std::string> texts;
    io.from().read("sysctls", texts);
    sysctls = unpaired(texts);
  }
}

void take_netns(doc::Fields& from, std::optional<os::NetnsIdentity>& netns, std::optional<os::Nsid>& nsid) {
  for (const auto& [key, of_file] : {std::pair("netns", false), std::pair("netnsFile", true)}) {
    std::string text;
    from.read(key, text);
    if (const uint64_t number = std::strtoull(text.c_str(), nullptr, 16); number != 0)
      netns = os::NetnsIdentity{.number = number, .of_file = of_file || is_of_file(number)};
  }
  std::optional<int> number;
  from.read("nsid", number);
  if (number.has_value()) nsid = os::Nsid{*number};
}

constexpr auto kAddressMembers = [](auto& io, auto& one) {
  needed(io, "address", one.address);
  io.some("gateway", one.gateway);
  io.some("pool", one.pool);
};

}  // namespace

template <typename Io, doc::Is<SourceRouting> T>
void fields(Io& io, T& routing) {
  io.some("table", routing.table);
  io.some("gateways", routing.gateways);
  io.some("sourceHints", routing.source_hints);
}

template <typename Io, doc::Is<InterfaceSpec> T>
void fields(Io& io, T& spec) {
  io.some("interface", spec.interface);
  io.some("network", spec.network);
  io.some("type", spec.type);
  io.some("resource", spec.resource);
  number_or_word(io, "way", spec.way, kWayWords);
  io.some("device", spec.device);
  io.some("hostLink", spec.host_link);
  io.some("hostMac", spec.host_mac);
  number_or_word(io, "macvlanMode", spec.macvlan_mode, kMacvlanModeWords);
  number_or_word(io, "ipvlanMode", spec.ipvlan_mode, kIpvlanModeWords);
  vf_settings_member(io, "vfSettings", spec.vf_settings);
  io.some("mac", spec.mac);
  if constexpr (Io::kWrites)
    put_number(io.object(), "mtu", spec.mtu.value_or(0));
  else
    io.from().read("mtu", spec.mtu);
  io.some("kernelPath", spec.kernel_path);
  io.some("auxiliary", spec.auxiliary);
  io.some("masterInPod", spec.master_in_pod);
  io.some("standsAlone", spec.without_parent);
  io.some("broadcastQueue", spec.broadcast_queue);
  io.some("promisc", spec.promiscuous);
  io.some("allmulti", spec.all_multicast);
  io.some("txQueue", spec.tx_queue);
  sysctls_member(io, spec.sysctls);
  io.some("sourceRouting", spec.source_routing);
  if (has_part(io, "vrf", spec.vrf)) {
    io.some("vrf", spec.vrf->name);
    io.some("vrfTable", spec.vrf->table);
  }
  io.some("rdmaIsolated", spec.rdma_isolated);
  io.some("rdma", spec.rdma);
  io.some("rdmaRequired", spec.rdma_required);
  io.some("softRdma", spec.soft_rdma);
  io.each("addresses", spec.addresses, kAddressMembers);
  io.each("routes", spec.routes, kRouteMembers);
}

template <typename Io, doc::Is<InPod> T>
void fields(Io& io, T& in_pod) {
  io.some("index", in_pod.index);
  io.some("parent", in_pod.parent);
  io.some("parentNetnsId", in_pod.parent_netns_id);
}

template <typename Io, doc::Is<Before> T>
void fields(Io& io, T& before) {
  number_or_word(io, "way", before.way, kWayWords);
  io.some("device", before.device);
  io.some("pf", before.pf);
  io.some("vf", before.vf);
  vf_settings_member(io, "vfSettings", before.vf_settings);
  io.some("rebind", before.rebind);
  io.some("driver", before.driver);
  io.some("name", before.name);
  io.some("index", before.index);
  io.some("kind", before.kind);
  io.some("parent", before.parent);
  hex_member(io, "hwAddress", before.hw_address);
  hex_member(io, "permanentAddress", before.permanent_address);
  io.some("parentIndex", before.parent_index);
  io.some("inPod", before.in_pod);
  io.some("newMac", before.new_mac);
  io.some("mtu", before.mtu);
  io.some("up", before.up);
  io.some("addresses", before.addresses);
  io.each("routes", before.routes, kRouteMembers);
  io.some("group", before.group);
  io.some("withoutAdvertisements", before.without_advertisements);
  io.some("promisc", before.promiscuous);
  io.some("allmulti", before.all_multicast);
  io.some("txQueue", before.tx_queue);
  sysctls_member(io, before.sysctls);
  if constexpr (Io::kWrites)
    put_netns(io.object(), before.netns, before.nsid);
  else
    take_netns(io.from(), before.netns, before.nsid);
  io.some("orphanedAt", before.orphaned_at_s);
  number_or_word(io, "orphanedBy", before.orphaned_by, kOrphanedByWords);
  io.some("vfioGroup", before.vfio_group);
  io.each("rules", before.rules, kRuleMembers);
  io.each("tableRoutes", before.table_routes, kRouteMembers);
  io.some("vrf", before.vrf);
  io.some("vrfTable", before.vrf_table);
  io.some("rdma", before.rdma);
  number_or_word(io, "rdmaUndo", before.rdma_undo, kRdmaUndoWords);
}

namespace {
constexpr uint32_t kGroupsOfPods = 0x40000000u;
constexpr uint32_t kNumberBits = 0x3fffffffu;
}  // namespace

uint32_t LinkGroup::of_pod(const std::string& pod) {
  return kGroupsOfPods | (static_cast<uint32_t>(std::hash<std::string>{}(pod)) & kNumberBits);
}

bool LinkGroup::is_of_a_pod(uint32_t group) {
  return (group & ~kNumberBits) == kGroupsOfPods;
}

// A number of a file has a key of its own: versions that know "netns" only take it for a number that is never given
// again.
void put_netns(doc::Value& object, const std::optional<os::NetnsIdentity>& netns, const std::optional<os::Nsid>& nsid) {
  if (netns.has_value()) put_text(object, netns->of_file ? "netnsFile" : "netns", fmt::format("{:x}", netns->number));
  if (nsid.has_value()) object.set("nsid", nsid->value);
}

Result<std::string> with_netns(std::string_view undo, const std::optional<os::NetnsIdentity>& netns,
                               const std::optional<os::Nsid>& nsid) {
  const size_t end = std::min(undo.find('\n'), undo.size());
  doc::Value object = TRY(parse_object(std::string(undo.substr(0, end))));
  put_netns(object, netns, nsid);
  return doc::to_json(object).append(undo.substr(end));
}

std::string undo_text(const InterfaceSpec& spec, const Before& before) {
  return doc::to_json(doc::record_value(before)) + "\n" + doc::to_json(doc::record_value(spec));
}

std::string undo_text(std::string_view undo, const Before& before) {
  return doc::to_json(doc::record_value(before)).append(undo.substr(std::min(undo.find('\n'), undo.size())));
}

Result<Before> before_of(const state::Attachment& record) {
  return read_recorded<Before>(record.undo.substr(0, record.undo.find('\n')));
}

std::optional<OrphanedBy> orphaned_by(const state::Attachment& record) {
  const Result<Before> before = before_of(record);
  if (!before.has_value() || !before->orphaned_at_s.has_value()) return std::nullopt;
  return before->orphaned_by;
}

bool is_orphan(const state::Attachment& record) {
  return orphaned_by(record).has_value();
}

OrphanReason orphan_reason(const state::Attachment& record, const Before& before) {
  switch (before.orphaned_by) {
    case OrphanedBy::kHidden:
      return {.why = fmt::format("the pod has moved it from network namespace {} to another one", record.netns),
              .until = "that namespace ends"};
    case OrphanedBy::kVfio:
      if (before.vfio_group.empty())
        return {.why = "it is bound to vfio, and it is unknown whether a virtual machine uses it",
                .until = "it is bound to another driver"};
      return {.why = fmt::format("{} is open: a virtual machine may still use {}", before.vfio_group, record.device),
              .until = fmt::format("no process has {} open", before.vfio_group)};
    case OrphanedBy::kNamespace:
      break;
  }
  return {.why = fmt::format("network namespace {} was not found, but still exists", record.netns),
          .until = "the last process, mount or socket of that namespace ends"};
}

OrphanReason orphan_reason(const state::Attachment& record) {
  return orphan_reason(record, before_of(record).value_or(Before{}));
}

Result<InterfaceSpec> spec_of(const state::Attachment& record) {
  const size_t end = record.undo.find('\n');
  if (end == std::string::npos) return InterfaceSpec{};
  return read_recorded<InterfaceSpec>(record.undo.substr(end + 1));
}

namespace {

// The recorded words of fields that people know under others.
constexpr std::pair<std::string_view, std::string_view> kWords[] = {{"mtu", "MTU"},
                                                                    {"mac", "MAC"},
                                                                    {"hostLink", "host interface"},
                                                                    {"hostMac", "host MAC"},
                                                                    {"macvlanMode", "mode"},
                                                                    {"ipvlanMode", "mode"},
                                                                    {"vfSettings", "VF setting"},
                                                                    {"softRdma", "soft RDMA"},
                                                                    {"rdma", "RDMA"},
                                                                    {"promisc", "promiscuous"}};

std::string words_for(const std::string& key) {
  for (const auto& [recorded, words] : kWords)
    if (recorded == key) return std::string(words);
  return key;
}

std::string text_of(const doc::Value* value) {
  if (value == nullptr || value->is_null()) return "none";
  if (const std::string* text = value->as_string()) return *text;
  if (const doc::Value::Array* items = value->as_array()) {
    std::vector<std::string> texts;
    for (const doc::Value& one : *items) {
      const doc::Value* address = one.find("address");
      texts.push_back(text_of(address != nullptr ? address : &one));
    }
    return texts.empty() ? "none" : fmt::format("{}", fmt::join(texts, ", "));
  }
  return doc::to_json(*value);
}

// Enumerations of a spec; of those that are written only where they are not the first, the first is absent.
struct RecordedChoice {
  std::string_view key;
  std::span<const std::string_view> words;
  bool first_is_absent = true;
};
constexpr RecordedChoice kRecordedChoices[] = {{"way", kWayWords},
                                               {"macvlanMode", kMacvlanModeWords},
                                               {"ipvlanMode", kIpvlanModeWords},
                                               {"proto", kVlanProtoWords, false},
                                               {"link_state", kLinkStateWords, false}};

const RecordedChoice* recorded_choice(std::string_view key) {
  const auto* found = std::ranges::find(kRecordedChoices, key, &RecordedChoice::key);
  return found == std::end(kRecordedChoices) ? nullptr : found;
}

// As this version writes it: numbers instead of words.
void use_numbers(doc::Value& value) {
  doc::Value::Object* members = value.as_object();
  if (members == nullptr) return;
  for (doc::Value::Member& member : *members) {
    const RecordedChoice* choice = recorded_choice(member.key);
    if (choice == nullptr || !member.value.is_string())
      use_numbers(member.value);
    else if (const auto number = number_of_word(*member.value.as_string(), choice->words))
      member.value = *number;
  }
  std::erase_if(*members, [](const doc::Value::Member& member) {
    const RecordedChoice* choice = recorded_choice(member.key);
    return choice != nullptr && choice->first_is_absent && member.value == doc::Value(0);
  });
}

// The order of members says nothing.
void sort_by_key(doc::Value& value) {
  if (doc::Value::Object* members = value.as_object()) {
    std::ranges::sort(*members, {}, &doc::Value::Member::key);
    for (doc::Value::Member& member : *members) sort_by_key(member.value);
  } else if (doc::Value::Array* items = value.as_array()) {
    for (doc::Value& item : *items) sort_by_key(item);
  }
}

// Of numbers that are 0 and texts that are empty nothing is recorded. Settings that differ are reported.
void add_difference(const std::string& words, const doc::Value* was, const doc::Value* is,
                    std::vector<std::string>& texts) {
  if (was != nullptr && is != nullptr && was->is_object() && is->is_object()) {
    for (const doc::Value::Member& member : *is->as_object())
      add_difference(words + " " + member.key, was->find(member.key), &member.value, texts);
    for (const doc::Value::Member& member : *was->as_object())
      if (is->find(member.key) == nullptr) add_difference(words + " " + member.key, &member.value, nullptr, texts);
    return;
  }
  const bool both_there = was != nullptr && is != nullptr;
  if (both_there ? *was == *is : was == is) return;
  texts.push_back(fmt::format("{} {} instead of {}", words, text_of(is), text_of(was)));
}

}  // namespace

std::vector<std::string> differences(const state::Attachment& record, const InterfaceSpec& spec,
                                     CompareAddresses addresses) {
  if (same_spec(record, spec)) return {};
  const size_t end = record.undo.find('\n');
  auto recorded = end == std::string::npos ? Result<doc::Value>(fail(Code::kInvalid, "no spec"))
                                           : parse_object(record.undo.substr(end + 1));
  if (!recorded) return {"an earlier version attached it"};
  use_numbers(*recorded);
  const doc::Value wanted = doc::record_value(spec);
  std::vector<std::string> texts;
  const auto is_compared = [&](std::string_view key) {
    return addresses == CompareAddresses::kYes || (key != "addresses" && key != "routes");
  };
  for (const doc::Value::Member& member : *wanted.as_object())
    if (is_compared(member.key))
      add_difference(words_for(member.key), recorded->find(member.key), &member.value, texts);
  for (const doc::Value::Member& member : *recorded->as_object())
    if (is_compared(member.key) && wanted.find(member.key) == nullptr)
      add_difference(words_for(member.key), &member.value, nullptr, texts);
  // It is attached again for a difference that has no words.
  if (texts.empty() && addresses == CompareAddresses::kYes) texts.emplace_back("an earlier version attached it");
  return texts;
}

bool same_spec(const state::Attachment& record, const InterfaceSpec& spec) {
  const size_t end = record.undo.find('\n');
  if (end == std::string::npos) return false;
  doc::Value wanted = doc::record_value(spec);
  if (std::string_view(record.undo).substr(end + 1) == doc::to_json(wanted)) return true;
  Result<doc::Value> recorded = parse_object(record.undo.substr(end + 1));
  if (!recorded.has_value()) return false;
  use_numbers(*recorded);
  sort_by_key(*recorded);
  sort_by_key(wanted);
  return *recorded == wanted;
}

}  // namespace railbed::attach

// SPDX-License-Identifier: Apache-2.0
#include "attach/record.h"

#include <algorithm>

#include "attach/json_fields.h"
#include "doc/json.h"

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

std::string hex(const std::vector<uint8_t>& bytes) {
  return fmt::format("{:02x}", fmt::join(bytes, ""));
}

Result<std::vector<uint8_t>> bytes_of(const std::string& text) {
  std::vector<uint8_t> bytes;
  for (size_t i = 0; i + 1 < text.size(); i += 2) {
    unsigned byte = 0;
    if (sscanf(text.substr(i, 2).c_str(), "%2x", &byte) != 1)
      return fail(Code::kInvalid, "\"{}\" is not a hardware address", text);
    bytes.push_back(static_cast<uint8_t>(byte));
  }
  return bytes;
}

doc::Value addresses_value(const std::vector<ipam::Assigned>& addresses) {
  doc::Value array = doc::Value::array();
  for (const ipam::Assigned& one : addresses) {
    doc::Value item = doc::Value::object();
    put_text(item, "address", one.address.to_string());
    put_parsed(item, "gateway", one.gateway);
    put_text(item, "pool", one.pool);
    array.push(std::move(item));
  }
  return array;
}

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

doc::Value routing_value(const SourceRouting& routing) {
  doc::Value object = doc::Value::object();
  put_optional(object, "table", routing.table);
  std::vector<std::string> gateways;
  for (const IpAddress& one : routing.gateways) gateways.push_back(one.to_string());
  put_texts(object, "gateways", gateways);
  put_flag(object, "sourceHints", routing.source_hints);
  return object;
}

doc::Value spec_value(const InterfaceSpec& spec) {
  doc::Value object = doc::Value::object();
  put_text(object, "interface", spec.interface);
  put_text(object, "network", spec.network);
  put_text(object, "type", spec.type);
  put_text(object, "resource", spec.resource);
  put_number(object, "way", static_cast<int>(spec.way));
  put_parsed(object, "device", spec.device);
  put_text(object, "hostLink", spec.host_link);
  put_parsed(object, "hostMac", spec.host_mac);
  put_number(object, "macvlanMode", static_cast<int>(spec.macvlan_mode));
  put_number(object, "ipvlanMode", static_cast<int>(spec.ipvlan_mode));
  put_vf_settings(object, "vfSettings", spec.vf_settings);
  put_parsed(object, "mac", spec.mac);
  put_number(object, "mtu", spec.mtu.value_or(0));
  put_text(object, "kernelPath", spec.kernel_path);
  put_text(object, "auxiliary", spec.auxiliary);
  put_flag(object, "masterInPod", spec.master_in_pod);
  put_flag(object, "standsAlone", spec.stands_alone);
  put_optional(object, "broadcastQueue", spec.broadcast_queue);
  put_optional(object, "promisc", spec.promiscuous);
  put_optional(object, "allmulti", spec.all_multicast);
  put_optional(object, "txQueue", spec.tx_queue);
  put_texts(object, "sysctls", pairs(spec.sysctls));
  if (spec.source_routing.has_value()) object.set("sourceRouting", routing_value(*spec.source_routing));
  if (spec.vrf.has_value()) {
    put_text(object, "vrf", spec.vrf->name);
    put_number(object, "vrfTable", spec.vrf->table);
  }
  put_flag(object, "rdmaIsolated", spec.rdma_isolated);
  put_flag(object, "rdma", spec.rdma);
  put_flag(object, "rdmaRequired", spec.rdma_required);
  put_flag(object, "softRdma", spec.soft_rdma);
  if (!spec.addresses.empty()) object.set("addresses", addresses_value(spec.addresses));
  put_routes(object, "routes", spec.routes);
  return object;
}

doc::Value in_pod_value(const InPod& in_pod) {
  doc::Value object = doc::Value::object();
  put_number(object, "index", in_pod.index);
  put_number(object, "parent", in_pod.parent);
  put_optional(object, "parentNetnsId", in_pod.parent_netns_id);
  return object;
}

InPod in_pod_of(const doc::Value& object) {
  return {.index = number_in(object, "index"),
          .parent = number_in(object, "parent"),
          .parent_netns_id = optional_number(object, "parentNetnsId")};
}

// The kernel gives files of namespaces numbers from here (PROC_DYNAMIC_FIRST) to the last one of 32 bits.
constexpr uint64_t kFirstFileNumber = 0xf000'0000;
constexpr uint64_t kLastFileNumber = 0xffff'ffff;

// Earlier versions wrote a file's number as "netns", too. No other number gets that high: it counts the
// namespaces since the boot.
bool is_of_file(uint64_t number) {
  return number >= kFirstFileNumber && number <= kLastFileNumber;
}

void take_netns(const doc::Value& object, Before& before) {
  for (const auto& [key, of_file] : {std::pair("netns", false), std::pair("netnsFile", true)})
    if (const uint64_t number = std::strtoull(text_in(object, key).c_str(), nullptr, 16); number != 0)
      before.netns = os::NetnsIdentity{.number = number, .of_file = of_file || is_of_file(number)};
  if (const std::optional<int> nsid = optional_number(object, "nsid")) before.nsid = os::Nsid{*nsid};
  if (const doc::Value* at = object.find("orphanedAt"); at != nullptr && at->as_int() != nullptr)
    before.orphaned_at_s = *at->as_int();
  before.orphaned_by = choice_in<OrphanedBy>(object, "orphanedBy", kOrphanedByWords);
  before.vfio_group = text_in(object, "vfioGroup");
}

doc::Value before_value(const Before& before) {
  doc::Value object = doc::Value::object();
  put_number(object, "way", static_cast<int>(before.way));
  put_parsed(object, "device", before.device);
  put_parsed(object, "pf", before.pf);
  if (before.vf.has_value()) object.set("vf", before.vf->value);
  put_vf_settings(object, "vfSettings", before.vf_settings);
  put_text(object, "rebind", before.rebind);
  put_text(object, "driver", before.driver);
  put_text(object, "name", before.name);
  put_number(object, "index", before.index);
  put_text(object, "kind", before.kind);
  put_text(object, "parent", before.parent);
  put_text(object, "hwAddress", hex(before.hw_address));
  put_text(object, "permanentAddress", hex(before.permanent_address));
  put_number(object, "parentIndex", before.parent_index);
  if (before.in_pod.has_value()) object.set("inPod", in_pod_value(*before.in_pod));
  put_parsed(object, "newMac", before.new_mac);
  put_number(object, "mtu", before.mtu);
  put_flag(object, "up", before.up);
  put_prefixes(object, "addresses", before.addresses);
  put_routes(object, "routes", before.routes);
  put_number(object, "group", before.group);
  put_flag(object, "withoutAdvertisements", before.without_advertisements);
  put_optional(object, "promisc", before.promiscuous);
  put_optional(object, "allmulti", before.all_multicast);
  put_optional(object, "txQueue", before.tx_queue);
  put_texts(object, "sysctls", pairs(before.sysctls));
  put_netns(object, before.netns, before.nsid);
  if (before.orphaned_at_s.has_value()) object.set("orphanedAt", *before.orphaned_at_s);
  put_number(object, "orphanedBy", static_cast<int>(before.orphaned_by));
  put_text(object, "vfioGroup", before.vfio_group);
  put_rules(object, "rules", before.rules);
  put_routes(object, "tableRoutes", before.table_routes);
  put_text(object, "vrf", before.vrf);
  put_number(object, "vrfTable", before.vrf_table);
  put_texts(object, "rdma", before.rdma);
  put_number(object, "rdmaUndo", static_cast<int>(before.rdma_undo));
  return object;
}

}  // namespace

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
  return doc::to_json(before_value(before)) + "\n" + doc::to_json(spec_value(spec));
}

std::string undo_text(std::string_view undo, const Before& before) {
  return doc::to_json(before_value(before)).append(undo.substr(std::min(undo.find('\n'), undo.size())));
}

Result<Before> before_of(const state::Attachment& record) {
  const doc::Value object = TRY(parse_object(record.undo.substr(0, record.undo.find('\n'))));
  Before before{.way = choice_in<Way>(object, "way", kWayWords)};
  before.device = TRY(parsed_in<PciAddress>(object, "device"));
  before.pf = TRY(parsed_in<PciAddress>(object, "pf"));
  if (object.find("vf") != nullptr) before.vf = VfIndex{number_in(object, "vf")};
  before.vf_settings = TRY(vf_settings_in(object, "vfSettings"));
  before.rebind = text_in(object, "rebind");
  before.driver = text_in(object, "driver");
  before.name = text_in(object, "name");
  before.index = number_in(object, "index");
  before.kind = text_in(object, "kind");
  before.parent = text_in(object, "parent");
  before.hw_address = TRY(bytes_of(text_in(object, "hwAddress")));
  before.permanent_address = TRY(bytes_of(text_in(object, "permanentAddress")));
  before.parent_index = number_in(object, "parentIndex");
  if (const doc::Value* in_pod = object_in(object, "inPod")) before.in_pod = in_pod_of(*in_pod);
  before.new_mac = TRY(parsed_in<MacAddress>(object, "newMac"));
  before.mtu = number_in(object, "mtu");
  before.up = flag_in(object, "up");
  before.addresses = TRY(prefixes_in(object, "addresses"));
  before.routes = TRY(routes_in(object, "routes"));
  before.group = static_cast<uint32_t>(number_in(object, "group"));
  before.without_advertisements = flag_in(object, "withoutAdvertisements");
  before.promiscuous = optional_flag(object, "promisc");
  before.all_multicast = optional_flag(object, "allmulti");
  before.tx_queue = optional_number(object, "txQueue");
  before.sysctls = unpaired(texts_in(object, "sysctls"));
  take_netns(object, before);
  before.rules = TRY(rules_in(object, "rules"));
  before.table_routes = TRY(routes_in(object, "tableRoutes"));
  before.vrf = text_in(object, "vrf");
  before.vrf_table = number_in(object, "vrfTable");
  before.rdma = texts_in(object, "rdma");
  before.rdma_undo = choice_in<RdmaUndo>(object, "rdmaUndo", kRdmaUndoWords);
  return before;
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

Result<VisibleSettings> visible_settings_of(const state::Attachment& record) {
  size_t end = record.undo.find('\n');
  if (end == std::string::npos) return VisibleSettings{};
  const doc::Value object = TRY(parse_object(record.undo.substr(end + 1)));
  return VisibleSettings{.mac = TRY(parsed_in<MacAddress>(object, "mac")),
                         .mtu = number_in(object, "mtu"),
                         .promiscuous = optional_flag(object, "promisc"),
                         .all_multicast = optional_flag(object, "allmulti"),
                         .tx_queue = optional_number(object, "txQueue"),
                         .sysctls = unpaired(texts_in(object, "sysctls")),
                         .rdma_required = flag_in(object, "rdmaRequired")};
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

// Of numbers that are 0 and texts that are empty nothing is recorded. Of settings those are told that differ.
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
  const doc::Value wanted = spec_value(spec);
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
  doc::Value wanted = spec_value(spec);
  if (std::string_view(record.undo).substr(end + 1) == doc::to_json(wanted)) return true;
  Result<doc::Value> recorded = parse_object(record.undo.substr(end + 1));
  if (!recorded.has_value()) return false;
  use_numbers(*recorded);
  sort_by_key(*recorded);
  sort_by_key(wanted);
  return *recorded == wanted;
}

}  // namespace railbed::attach

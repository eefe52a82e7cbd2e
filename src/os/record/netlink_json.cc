// SPDX-License-Identifier: Apache-2.0
#include "os/record/netlink_json.h"

#include <cstring>

#include <linux/netlink.h>

#include "base/hex.h"
#include "doc/fields.h"
#include "doc/text.h"

namespace railbed::os {
namespace {

using doc::Fields;
using doc::Value;

constexpr int kVersion = 1;

constexpr std::string_view kProtos[] = {"802.1q", "802.1ad"};
constexpr std::string_view kLinkStates[] = {"auto", "enable", "disable"};
constexpr std::string_view kEswitchModes[] = {"legacy", "switchdev"};
constexpr std::string_view kNetnsModes[] = {"shared", "exclusive"};

template <typename T>
std::string_view name_in(std::span<const std::string_view> names, T choice) {
  return names[static_cast<size_t>(choice)];
}

std::string printable(std::string_view text) {
  std::string result;
  while (const std::optional<size_t> invalid = doc::first_invalid_utf8(text)) {
    result.append(text.substr(0, *invalid)).append("?");
    text.remove_prefix(*invalid + 1);
  }
  return result.append(text);
}

void put(Value& object, std::string_view key, const std::string& text) {
  if (!text.empty()) object.set(key, Value(printable(text)));
}
void put(Value& object, std::string_view key, std::string_view text) {
  put(object, key, std::string(text));
}
void put(Value& object, std::string_view key, bool on) {
  if (on) object.set(key, Value(true));
}
template <std::integral T>
void put(Value& object, std::string_view key, T number) {
  if (number != 0) object.set(key, Value(static_cast<int64_t>(number)));
}
// Writes an optional value: absent is not the same as zero (false, empty).
template <typename T>
void put(Value& object, std::string_view key, const std::optional<T>& value) {
  if (!value) return;
  if constexpr (HasToString<T>)
    object.set(key, Value(value->to_string()));
  else if constexpr (std::is_same_v<T, bool>)
    object.set(key, Value(*value));
  else
    object.set(key, Value(static_cast<int64_t>(*value)));
}

std::string pairs(const std::vector<uint8_t>& bytes) {
  std::string text;
  for (uint8_t byte : bytes) text += fmt::format("{}{:02x}", text.empty() ? "" : ":", byte);
  return text;
}

// "02:00:…" of any length; nullopt for other texts.
std::optional<std::vector<uint8_t>> parse_pairs(std::string_view text) {
  std::vector<uint8_t> bytes;
  for (size_t at = 0; at < text.size(); at += 3) {
    if (at + 2 > text.size() || (at + 2 < text.size() && text[at + 2] != ':') || at + 3 == text.size())
      return std::nullopt;
    int high = hex_digit(text[at]);
    int low = hex_digit(text[at + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    bytes.push_back(static_cast<uint8_t>(high << 4 | low));
  }
  return bytes;
}

// "2c00…", of at least the length of netlink's header; nullopt for other texts.
std::optional<NetlinkMessage> parse_message(std::string_view text) {
  nlmsghdr header{};
  auto bytes = bytes_of_hex(text);
  if (!bytes || bytes->size() < sizeof header) return std::nullopt;
  NetlinkMessage message;
  message.bytes = std::move(*bytes);
  std::memcpy(&header, message.bytes.data(), sizeof header);
  message.type = header.nlmsg_type;
  return message;
}

Value to_value(const VfInfo& vf) {
  Value value = Value::object();
  value.set("index", Value(vf.index.value));
  put(value, "mac", vf.mac);
  put(value, "vlan", vf.vlan);
  put(value, "qos", vf.qos);
  if (vf.proto != VlanProto::k8021q) put(value, "proto", name_in(kProtos, vf.proto));
  put(value, "spoofCheck", vf.spoof_check);
  put(value, "trust", vf.trust);
  put(value, "queryRss", vf.query_rss);
  if (vf.link_state) put(value, "linkState", name_in(kLinkStates, *vf.link_state));
  put(value, "minTxRate", vf.min_tx_rate_mbps);
  put(value, "maxTxRate", vf.max_tx_rate_mbps);
  put(value, "nodeGuid", vf.node_guid);
  put(value, "portGuid", vf.port_guid);
  return value;
}

Value to_value(const Link& link) {
  Value value = Value::object();
  value.set("index", Value(link.index.value));
  put(value, "name", link.name.value);
  for (const std::string& name : link.alt_names) {
    if (value.find("altNames") == nullptr) value.set("altNames", Value::array());
    value.find("altNames")->push(Value(printable(name)));
  }
  put(value, "alias", link.alias);
  put(value, "kind", link.kind);
  put(value, "address", pairs(link.hw_address));
  put(value, "permanentAddress", pairs(link.permanent_address));
  value.set("arpType", Value(link.arp_type));
  put(value, "mtu", link.mtu);
  put(value, "up", link.up);
  put(value, "lowerUp", link.lower_up);
  put(value, "operState", link.oper_state);
  put(value, "parent", link.parent.value);
  put(value, "parentElsewhere", link.parent_elsewhere);
  put(value, "master", link.master.value);
  put(value, "parentBus", link.parent_bus);
  put(value, "parentDevice", link.parent_device);
  put(value, "group", link.group);
  put(value, "numVfs", link.num_vfs);
  for (const VfInfo& vf : link.vfs) {
    if (value.find("vfs") == nullptr) value.set("vfs", Value::array());
    value.find("vfs")->push(to_value(vf));
  }
  return value;
}

Value to_value(const Route& route) {
  Value value = Value::object();
  if (!route.is_default()) value.set("to", Value(route.destination.to_string()));
  value.set("family", Value(static_cast<int>(route.family())));
  put(value, "via", route.gateway);
  put(value, "link", route.link.value);
  put(value, "metric", route.metric);
  put(value, "table", route.table);
  put(value, "mtu", route.mtu);
  put(value, "advmss", route.advmss);
  put(value, "scope", route.scope);
  return value;
}

Value to_value(const Rule& rule) {
  Value value = Value::object();
  value.set("from", Value(rule.source.to_string()));
  put(value, "table", rule.table);
  put(value, "priority", rule.priority);
  return value;
}

void read_vf(Fields& fields, VfInfo& vf) {
  fields.read("index", vf.index);
  fields.read("mac", vf.mac);
  fields.read("vlan", vf.vlan);
  fields.read("qos", vf.qos);
  fields.choose("proto", kProtos, vf.proto);
  fields.read("spoofCheck", vf.spoof_check);
  fields.read("trust", vf.trust);
  fields.read("queryRss", vf.query_rss);
  fields.choose("linkState", kLinkStates, vf.link_state);
  fields.read("minTxRate", vf.min_tx_rate_mbps);
  fields.read("maxTxRate", vf.max_tx_rate_mbps);
  fields.read("nodeGuid", vf.node_guid);
  fields.read("portGuid", vf.port_guid);
}

void read_pairs(Fields& fields, std::string_view key, std::vector<uint8_t>& bytes) {
  std::string text;
  fields.read(key, text);
  if (auto parsed = parse_pairs(text))
    bytes = std::move(*parsed);
  else
    fields.wrong(key, fmt::format("\"{}\" is not a hardware address (\"02:00:…\")", text));
}

void read_link(Fields& fields, Link& link) {
  fields.read("index", link.index);
  // Not as an IfName: whatever the kernel called it is what was recorded.
  fields.read("name", link.name.value);
  fields.read("altNames", link.alt_names);
  fields.read("alias", link.alias);
  fields.read("kind", link.kind);
  read_pairs(fields, "address", link.hw_address);
  read_pairs(fields, "permanentAddress", link.permanent_address);
  fields.read("arpType", link.arp_type);
  fields.read("mtu", link.mtu);
  fields.read("up", link.up);
  fields.read("lowerUp", link.lower_up);
  fields.read("operState", link.oper_state);
  fields.read("parent", link.parent);
  fields.read("parentElsewhere", link.parent_elsewhere);
  fields.read("master", link.master);
  fields.read("parentBus", link.parent_bus);
  fields.read("parentDevice", link.parent_device);
  fields.read("group", link.group);
  fields.read("numVfs", link.num_vfs);
  fields.each("vfs", link.vfs, read_vf);
}

void read_link_address(Fields& fields, LinkAddress& address) {
  fields.read("link", address.link);
  fields.read("prefix", address.prefix);
}

void read_route(Fields& fields, Route& route) {
  int family = 4;
  std::optional<IpPrefix> destination;
  fields.read("to", destination);
  fields.read("family", family);
  route.destination = destination.value_or(Route::everywhere(family == 6 ? IpFamily::kV6 : IpFamily::kV4));
  fields.read("via", route.gateway);
  fields.read("link", route.link);
  fields.read("metric", route.metric);
  fields.read("table", route.table);
  fields.read("mtu", route.mtu);
  fields.read("advmss", route.advmss);
  fields.read("scope", route.scope);
}

void read_rule(Fields& fields, Rule& rule) {
  fields.read("from", rule.source);
  fields.read("table", rule.table);
  fields.read("priority", rule.priority);
}

void read_port(Fields& fields, RdmaLinkPort& port) {
  fields.read("number", port.number);
  fields.read("netdev", port.netdev);
  fields.read("netdevName", port.netdev_name);
  fields.read("state", port.state);
  fields.read("physicalState", port.physical_state);
  fields.read("lid", port.lid);
  fields.read("smLid", port.sm_lid);
  std::optional<Guid> prefix;  // a subnet prefix has the same spellings
  fields.read("subnetPrefix", prefix);
  if (prefix) port.subnet_prefix = prefix->value;
}

void read_device(Fields& fields, RdmaLink& device) {
  fields.read("index", device.index);
  fields.read("name", device.name);
  fields.read("firmware", device.firmware);
  fields.read("nodeGuid", device.node_guid);
  fields.read("systemImageGuid", device.system_image_guid);
  fields.read("protocol", device.protocol);
  fields.each("ports", device.ports, read_port);
}

// {"errno": 24, "message": "socket NETLINK_GENERIC: EMFILE (Too many open files)"}
void read_unreachable(Fields& fields, Error& error) {
  int sys_errno = 0;
  std::string message;
  fields.read("errno", sys_errno);
  fields.read("message", message);
  error = system_error(sys_errno, message);
  if (!message.empty()) error.message = message;
  if (error.code == Code::kUnsupported) error.code = Code::kDenied;  // what a machine lacks is not recorded
}

// Ends at the first mistake: looking up its place costs a pass over all keys.
void read_family(Fields& fields, const Value::Object& questions, NetlinkAnswers::ByQuestion& answers) {
  constexpr std::string_view kWrong = "is not a netlink message (at least 16 bytes, as \"2c00…\")";
  for (const Value::Member& each : questions) {
    std::vector<std::string> texts;
    fields.read(each.key, texts);
    std::optional<NetlinkMessage> question = parse_message(each.key);
    if (!question) {
      fields.wrong(each.key, fmt::format("the key {}", kWrong));
      return;
    }
    if (each.value.is_null()) continue;
    std::vector<NetlinkMessage>& answer = answers[std::move(question->bytes)];
    for (const std::string& text : texts) {
      std::optional<NetlinkMessage> message = parse_message(text);
      if (!message) {
        fields.wrong(each.key, fmt::format("\"{}\" {}", text, kWrong));
        return;
      }
      answer.push_back(std::move(*message));
    }
  }
}

}  // namespace

Value to_value(const RecordedLinks& recorded) {
  Value value = Value::object();
  value.set("version", Value(kVersion));
  Value& links = value.set("links", Value::array());
  for (const Link& link : recorded.links) links.push(to_value(link));
  Value& addresses = value.set("addresses", Value::array());
  for (const LinkAddress& address : recorded.addresses) {
    Value& one = addresses.push(Value::object());
    one.set("link", Value(address.link.value));
    one.set("prefix", Value(address.prefix.to_string()));
  }
  Value& routes = value.set("routes", Value::array());
  for (const Route& route : recorded.routes) routes.push(to_value(route));
  if (!recorded.rules) return value;
  Value& rules = value.set("rules", Value::array());
  for (const Rule& rule : *recorded.rules) rules.push(to_value(rule));
  return value;
}

Result<RecordedLinks> read_links(const Value& value) {
  RecordedLinks recorded;
  doc::Diagnostics found;
  Fields fields(value, "", doc::kNoFamily, found);
  fields.each("links", recorded.links, read_link);
  fields.each("addresses", recorded.addresses, read_link_address);
  fields.each("routes", recorded.routes, read_route);
  const Value* rules = value.find("rules");
  if (rules != nullptr && !rules->is_null()) fields.each("rules", recorded.rules.emplace(), read_rule);
  TRY(doc::first_error(found));
  return recorded;
}

Value to_value(const RecordedRdma& recorded) {
  Value value = Value::object();
  value.set("version", Value(kVersion));
  if (recorded.mode) put(value, "netnsMode", name_in(kNetnsModes, *recorded.mode));
  Value& devices = value.set("devices", Value::array());
  for (const RdmaLink& link : recorded.devices) {
    Value& device = devices.push(Value::object());
    device.set("index", Value(static_cast<int64_t>(link.index)));
    put(device, "name", link.name);
    put(device, "firmware", link.firmware);
    put(device, "nodeGuid", std::optional(link.node_guid));
    put(device, "systemImageGuid", std::optional(link.system_image_guid));
    put(device, "protocol", link.protocol);
    Value& ports = device.set("ports", Value::array());
    for (const RdmaLinkPort& each : link.ports) {
      Value& port = ports.push(Value::object());
      port.set("number", Value(each.number));
      put(port, "netdev", each.netdev.value);
      put(port, "netdevName", each.netdev_name);
      put(port, "state", each.state);
      put(port, "physicalState", each.physical_state);
      put(port, "lid", each.lid);
      put(port, "smLid", each.sm_lid);
      // As text, because JSON's integers end at 2^63.
      if (each.subnet_prefix) put(port, "subnetPrefix", fmt::format("{:#018x}", *each.subnet_prefix));
    }
  }
  return value;
}

Result<RecordedRdma> read_rdma(const Value& value) {
  RecordedRdma recorded;
  doc::Diagnostics found;
  Fields fields(value, "", doc::kNoFamily, found);
  fields.choose("netnsMode", kNetnsModes, recorded.mode);
  fields.each("devices", recorded.devices, read_device);
  TRY(doc::first_error(found));
  return recorded;
}

Value to_value(const RecordedHost& recorded) {
  Value value = Value::object();
  value.set("version", Value(kVersion));
  put(value, "name", recorded.name);
  put(value, "kernelRelease", recorded.kernel_release);
  put(value, "bootId", recorded.boot_id);
  Value& all = value.set("devlink", Value::array());
  for (const auto& [pci, devlink] : recorded.devlink) {
    Value& one = all.push(Value::object());
    one.set("pci", Value(pci.to_string()));
    if (devlink.mode) put(one, "eswitchMode", name_in(kEswitchModes, *devlink.mode));
    put(one, "firmware", devlink.firmware);
  }
  return value;
}

Result<RecordedHost> read_host(const Value& value) {
  RecordedHost recorded;
  doc::Diagnostics found;
  Fields fields(value, "", doc::kNoFamily, found);
  fields.read("name", recorded.name);
  fields.read("kernelRelease", recorded.kernel_release);
  fields.read("bootId", recorded.boot_id);
  fields.each("devlink", [&](Fields& one) {
    PciAddress pci;
    RecordedHost::Devlink devlink;
    one.read("pci", pci);
    one.choose("eswitchMode", kEswitchModes, devlink.mode);
    one.read("firmware", devlink.firmware);
    recorded.devlink[pci] = devlink;
  });
  TRY(doc::first_error(found));
  return recorded;
}

Value to_value(const NetlinkAnswers& recorded) {
  Value value = Value::object();
  value.set("version", Value(kVersion));
  for (const auto& [family, answers] : recorded.by_family) {
    Value& questions = value.set(row_of(family).name, Value::object());
    for (const auto& [question, messages] : answers) {
      Value& answer = questions.set(hex_text(question), Value::array());
      for (const NetlinkMessage& message : messages) answer.push(Value(hex_text(message.bytes)));
    }
  }
  for (const auto& [family, error] : recorded.unreachable) {
    if (value.find("unreachable") == nullptr) value.set("unreachable", Value::object());
    Value& one = value.find("unreachable")->set(row_of(family).name, Value::object());
    one.set("errno", Value(error.sys_errno));
    put(one, "message", error.story());
  }
  return value;
}

Result<NetlinkAnswers> read_answers(const Value& value) {
  NetlinkAnswers recorded;
  doc::Diagnostics found;
  Fields fields(value, "", doc::kNoFamily, found);
  for (size_t i = 0; i < std::size(kNetlinkFamilies); ++i) {
    const auto family = static_cast<NetlinkFamily>(i);
    const std::string_view name = row_of(family).name;
    NetlinkAnswers::ByQuestion answers;
    fields.inside(name, [&](Fields& questions) { read_family(questions, *value.find(name)->as_object(), answers); });
    if (!answers.empty()) recorded.by_family[family] = std::move(answers);
  }
  fields.inside("unreachable", [&](Fields& families) {
    for (size_t i = 0; i < std::size(kNetlinkFamilies); ++i)
      families.inside(kNetlinkFamilies[i].name,
                      [&](Fields& one) { read_unreachable(one, recorded.unreachable[static_cast<NetlinkFamily>(i)]); });
  });
  TRY(doc::first_error(found));
  return recorded;
}

}  // namespace railbed::os

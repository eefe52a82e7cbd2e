// SPDX-License-Identifier: Apache-2.0
#include "perf/mesh/mesh_setup.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string_view>

#include "doc/fields.h"
#include "doc/text.h"
#include "doc/yaml.h"

namespace railbed::perf::mesh {
namespace {

using doc::Fields;

constexpr size_t kMaxText_bytes = 64;

struct RailText {
  std::optional<IpAddress> address;
  std::string device;
  std::string leaf;
};
struct HostText {
  std::string name;
  std::string control;
  uint16_t port = 0;
  std::vector<RailText> rails;
};
struct SetupText {
  std::vector<std::string> rails;
  std::vector<HostText> hosts;
};

std::string what_to_write() {
  return "docs/mesh.md shows a file; a host needs a name and an address for each of its rails";
}

void read_nic(Fields& fields, RailText& rail) {
  fields.read("address", rail.address, {.bytes = kMaxText_bytes});
  fields.read("device", rail.device, {.bytes = kMaxText_bytes});
  fields.read("leaf", rail.leaf, {.bytes = kMaxNameBytes});
  if (!rail.address && (!rail.device.empty() || !rail.leaf.empty()))
    fields.wrong("address", "a NIC needs one, where the others measure with it");
  fields.finish();
}

void read_host(Fields& fields, HostText& host, uint16_t port) {
  host.port = port;
  fields.need("name", host.name, {.bytes = kMaxNameBytes});
  fields.read("control", host.control, {.bytes = kMaxNameBytes});
  fields.read("port", host.port, {.min = 1, .max = 65535});
  fields.require("rails");
  fields.each("rails", host.rails, read_nic, kMaxRails);
  fields.finish();
}

SetupText read_setup(Fields& fields) {
  SetupText setup;
  uint16_t port = HostAddress{}.port;
  fields.read("port", port, {.min = 1, .max = 65535});
  fields.read("rails", setup.rails, {.bytes = kMaxNameBytes, .entries = kMaxRails});
  fields.require("hosts");
  fields.each("hosts", setup.hosts, [port](Fields& from, HostText& host) { read_host(from, host, port); }, kMaxHosts);
  fields.finish();
  return setup;
}

// The number of a leaf, by its name.
class Leaves {
 public:
  explicit Leaves(std::vector<std::string>& names) : names_(names) {}
  Result<uint16_t> number(const std::string& name) {
    if (const auto known = numbers_.find(name); known != numbers_.end()) return known->second;
    if (names_.size() == kMaxLeaves) return fail(Code::kInvalid, "more than {} leaves", kMaxLeaves);
    const auto number = static_cast<uint16_t>(names_.size());
    numbers_[name] = number;
    names_.push_back(name);
    return number;
  }

 private:
  std::vector<std::string>& names_;
  std::map<std::string, uint16_t> numbers_;
};

Result<void> add_host(const HostText& host, size_t rails, Leaves& leaves, MeshSetup& setup) {
  if (host.rails.size() != rails)
    return fail(Code::kInvalid, "host {} has {} rails, and the mesh has {}; write {{}} for one without a NIC",
                doc::printable(host.name), host.rails.size(), rails);
  Endpoint& endpoint = setup.fabric.endpoints.emplace_back();
  endpoint.host = host.name;
  HostAddress& address = setup.hosts.emplace_back();
  address.control = host.control;
  address.port = host.port;
  for (uint32_t rail = 0; rail < rails; ++rail) {
    const RailText& text = host.rails[rail];
    RailPort& port = endpoint.ports.emplace_back();
    port.there = text.address.has_value();
    address.rails.emplace_back();
    if (!port.there) continue;
    if (!text.leaf.empty()) port.leaf = TRY(leaves.number(text.leaf));
    address.rails.back() = OwnRail{.rail = rail, .address = *text.address, .device = text.device};
    if (address.control.empty()) address.control = text.address->to_string();
  }
  return {};
}

Result<MeshSetup> made_of(const SetupText& text) {
  MeshSetup setup;
  setup.fabric.rails = text.rails;
  const size_t rails = !text.rails.empty() ? text.rails.size() : text.hosts.empty() ? 0 : text.hosts[0].rails.size();
  while (setup.fabric.rails.size() < rails)
    setup.fabric.rails.push_back(fmt::format("rail{}", setup.fabric.rails.size()));
  Leaves leaves(setup.fabric.leaves);
  for (const HostText& host : text.hosts) TRY(add_host(host, rails, leaves, setup));
  TRY(validate(setup.fabric));
  return setup;
}

Result<HostText> host_of_word(std::string_view word, uint16_t port) {
  HostText host{.port = port};
  const size_t equals = word.find('=');
  if (equals != std::string_view::npos) host.name = word.substr(0, equals);
  std::string_view left = equals == std::string_view::npos ? word : word.substr(equals + 1);
  for (;;) {
    const size_t comma = std::min(left.find(','), left.size());
    RailText& rail = host.rails.emplace_back();
    if (comma > 0) rail.address = TRY(IpAddress::parse(left.substr(0, comma)).context("endpoint {}", word));
    if (host.name.empty() && rail.address) host.name = rail.address->to_string();
    if (comma == left.size()) break;
    left.remove_prefix(comma + 1);
  }
  return host;
}

}  // namespace

Result<MeshSetup> setup_of_file(const std::string& name, const std::string& text) {
  doc::Diagnostics found;
  const auto documents = doc::parse_yaml(std::make_shared<doc::Source>(doc::Source{name, text}), found);
  TRY(doc::first_error(found).hint(what_to_write()));
  if (documents.size() != 1)
    return fail(Error{.code = Code::kInvalid,
                      .message = fmt::format("{}: {} documents where one was expected", name, documents.size()),
                      .hint = what_to_write()});
  Fields fields(documents.front(), "", doc::kNoFamily, found);
  const SetupText setup = read_setup(fields);
  TRY(doc::first_error(found).hint(what_to_write()));
  return made_of(setup).context("{}", name).hint(what_to_write());
}

Result<MeshSetup> setup_of_words(const std::vector<std::string>& words, uint16_t port) {
  SetupText setup;
  for (const std::string& word : words)
    setup.hosts.push_back(TRY(host_of_word(word, port).hint("an endpoint is NAME=ADDRESS,… with an address per rail")));
  return made_of(setup);
}

}  // namespace railbed::perf::mesh

// SPDX-License-Identifier: Apache-2.0
//
// What a range hands out where the manifest leaves it open is what the reference plugins hand out: host-local
// from the first to the last host address, and never the gateway, which is the first address unless set
// otherwise; whereabouts from the first to the last host address. Whereabouts itself hands out its gateway
// when it lies in the range; here it is left out, because two machines with one address help no one.
#include "api/ipam.h"

#include <algorithm>

#include "api/ipam_parse.h"
#include "api/ipam_range.h"
#include "api/objects.h"
#include "doc/fields.h"

namespace railbed::api {

using doc::Value;

namespace {

using schema::CniKey;
using schema::CniRole;
using schema::CniType;

constexpr doc::Family kIpamFamily{"RB-IPAM"};

class IpamReader {
 public:
  IpamReader(const Value& block, doc::Family family, doc::Diagnostics& out)
      : block_(block), family_(family), out_(out), fields_(block, "ipam", family, out) {}

  IpamConfig read(IpamType type) {
    config_.type = type;
    config_.span = block_.span;
    fields_.ignore({"type"});
    switch (type) {
      case IpamType::kHostLocal:
        read_host_local();
        break;
      case IpamType::kStatic:
        read_addresses();
        break;
      case IpamType::kWhereabouts:
        read_whereabouts();
        break;
      case IpamType::kDhcp:
      case IpamType::kNone:
        break;
    }
    ignore_others();
    read_routes();
    fields_.object("dns");
    fields_.finish({{"isRdma", "is a field of SriovNetworkNodePolicy", ""},
                    {"mtu", "is a field of the plugin, not of its ipam", ""}});
    return std::move(config_);
  }

 private:
  const CniType& row() const { return *std::ranges::find(schema::cni_types(), config_.type, &CniType::ipam); }

  // Keys of the type that nothing here needs.
  void ignore_others() {
    for (const CniKey& key : row().keys) fields_.ignore({key.name});
  }

  // [] and [[]]
  static bool is_hollow(const Value& value) {
    const Value::Array* items = value.as_array();
    return items != nullptr && std::ranges::all_of(*items, is_hollow);
  }

  // No range was read. A key that holds something wrong has been reported; where none of them is there, what stands in
  // their place is named. `foreign`: what another type has instead.
  void require_range(const std::vector<std::string_view>& foreign, std::string message) {
    const std::span<const std::string_view> keys = row().one_of;
    const auto is_there = [&](std::string_view key) { return fields_.has(key); };
    const auto holds_something = [&](std::string_view key) { return is_there(key) && !is_hollow(*block_.find(key)); };
    if (std::ranges::any_of(keys, holds_something)) return;
    if (std::ranges::any_of(keys, is_there))
      fields_.error(6, block_.span, std::move(message));
    else
      fields_.require_one_of({keys.begin(), keys.end()}, foreign, std::move(message));
  }

  void read_host_local() {
    if (block_.find("subnet") != nullptr || block_.find("rangeStart") != nullptr) {
      if (auto range = read_range(fields_, block_, config_.type)) config_.range_sets.push_back({*range});
    }
    if (const Value::Array* sets = fields_.list("ranges"))
      for (const Value& set : *sets) read_range_set(set);
    if (config_.range_sets.empty() && block_.find("subnet") == nullptr)
      require_range({"range", "ipRanges"}, "ipam needs \"subnet\" or \"ranges\"");
  }

  void read_range_set(const Value& set) {
    const Value::Array* ranges = set.as_array();
    if (ranges == nullptr) {
      if (!family_.compared)
        fields_.error(4, set.span, "ipam.ranges must be a list of lists of ranges")
            .with_fix("\"ranges\": [[{\"subnet\": …}]]");
      return;
    }
    std::vector<IpamRange> read;
    for (const Value& item : *ranges) {
      doc::Fields fields(item, "ipam.ranges", family_, out_);
      if (auto range = read_range(fields, item, config_.type)) read.push_back(*std::move(range));
      fields.finish();
    }
    if (!read.empty()) config_.range_sets.push_back(std::move(read));
  }

  void read_addresses() {
    const Value::Array* addresses = fields_.list("addresses");
    if (addresses == nullptr) return;
    for (const Value& item : *addresses) {
      doc::Fields fields(item, "ipam.addresses", family_, out_);
      fields.require("address");
      const auto text = fields.text("address");
      IpamConfig::Fixed fixed{.gateway = read_address(fields, "gateway")};
      if (auto prefix = text.present ? parse_prefix(fields, text, "address") : std::nullopt) {
        fixed.address = *prefix;
        config_.fixed.push_back(fixed);
      }
      fields.ignore({"version"});
      fields.finish();
    }
  }

  void read_whereabouts() {
    config_.network_name = fields_.text("network_name").value;
    read_addresses();
    const bool top = block_.find("range") != nullptr;
    if (top) {
      if (auto range = read_range(fields_, block_, config_.type)) {
        read_exclusions(fields_, *range);
        config_.range_sets.push_back({*std::move(range)});
      }
    }
    const auto gateway = top ? std::nullopt : read_address(fields_, "gateway");
    if (const Value::Array* ranges = fields_.list("ipRanges"))
      for (const Value& item : *ranges) read_ip_range(item, gateway);
    if (!top && config_.range_sets.empty() && config_.fixed.empty() && block_.find("ipRanges") == nullptr)
      require_range({"subnet", "ranges"}, "ipam needs \"range\" or \"ipRanges\"");
  }

  void read_ip_range(const Value& item, const std::optional<IpAddress>& gateway) {
    doc::Fields fields(item, "ipam.ipRanges", family_, out_);
    if (auto range = read_range(fields, item, config_.type)) {
      if (gateway && !range->gateway && range->subnet.contains(*gateway)) {
        range->gateway = gateway;
        exclude_gateway(*range, config_.type);
      }
      read_exclusions(fields, *range);
      config_.range_sets.push_back({*std::move(range)});
    }
    fields.ignore({"exclude"});
    fields.finish();
  }

  // "exclude" has prefixes or single addresses.
  void read_exclusions(doc::Fields& fields, IpamRange& range) {
    const Value::Array* list = fields.list("exclude");
    if (list == nullptr) return;
    for (const Value& item : *list) {
      const auto text = fields.text_of(item, fields.path_of("exclude"));
      if (!item.is_string()) continue;
      if (auto single = IpAddress::parse(text.value)) {
        range.excluded.push_back({*single, single->bits()});
      } else if (auto prefix = parse_prefix(fields, text, "exclude")) {
        if (!prefix->overlaps(range.subnet))
          fields
              .warning(5, item.span,
                       fmt::format("{}: {} does not touch {}", fields.path_of("exclude"), *prefix, range.subnet))
              .that_fails_where_applied();
        range.excluded.push_back({prefix->network(), prefix->length});
      }
    }
  }

  void read_routes() {
    const Value::Array* routes = fields_.list("routes");
    if (routes == nullptr) return;
    for (const Value& item : *routes) {
      doc::Fields fields(item, "ipam.routes", family_, out_);
      fields.require("dst");
      const auto text = fields.text("dst");
      Route route{.gateway = read_address(fields, "gw")};
      const auto number = [&](std::string_view key, int max) -> std::optional<int> {
        const auto field = fields.integer(key, 0, max);
        return field.present ? std::optional(*field) : std::nullopt;
      };
      route.mtu = number("mtu", 65535);
      route.advmss = number("advmss", 65535);
      route.metric = number("priority", INT32_MAX);
      route.table = number("table", INT32_MAX);
      route.scope = number("scope", 255);
      fields.finish({{"metric", "is called 'priority' in a CNI route", ""}});
      const auto destination = text.present ? parse_prefix(fields, text, "dst") : std::nullopt;
      if (!destination) continue;
      route.destination = *destination;
      if (route.gateway && route.gateway->family != destination->address.family)
        fields.error(5, item.span,
                     fmt::format("ipam.routes: the gateway {} and the destination {} are of two families",
                                 *route.gateway, *destination));
      else
        config_.routes.push_back(route);
    }
  }

  const Value& block_;
  const doc::Family family_;
  doc::Diagnostics& out_;
  doc::Fields fields_;
  IpamConfig config_;
};

// The type of a block that has one; empty and reported when it has none.
std::string type_of(const Value& block, doc::Diagnostics& out) {
  doc::Fields fields(block, "ipam", kIpamFamily, out);
  if (!block.is_object()) return "";
  fields.require("type");
  return fields.text("type").value;
}

bool is_none(const Value& block) {
  return block.is_object() && block.as_object()->empty();
}

}  // namespace

std::optional<IpamType> ipam_type(std::string_view name) {
  const CniType* type = schema::find_cni_type(name);
  return type != nullptr && type->ipam != IpamType::kNone ? std::optional(type->ipam) : std::nullopt;
}

namespace {

// Third-party plugins are no mistake; a name that is near to a known one is.
void report_unknown(const std::string& name, const doc::Span& span, doc::Diagnostics& out) {
  std::vector<std::string_view> names;
  for (const CniType& type : schema::cni_types())
    if (type.ipam != IpamType::kNone) names.push_back(type.name);
  const std::string near = doc::nearest(name, names);
  auto& reported =
      out.error("RB-IPAM-001", span,
                fmt::format("ipam type \"{}\" is not built into railbed ({})", name, fmt::join(names, ", ")))
          .of(doc::Layer::kEmbedded)
          .with_fix(near.empty() ? "" : fmt::format("did you mean \"{}\"?", near))
          .about_field("ipam.type");
  if (near.empty()) reported.for_one_machine();
}

}  // namespace

std::optional<IpamConfig> parse_ipam(const Value& block, doc::Diagnostics& diagnostics) {
  if (is_none(block)) return IpamConfig{.span = block.span};
  doc::Diagnostics found;
  std::optional<IpamConfig> config;
  const std::string name = type_of(block, found);
  const auto type = ipam_type(name);
  if (type)
    config = IpamReader(block, kIpamFamily, found).read(*type);
  else if (!name.empty())
    report_unknown(name, block.find("type")->span, found);
  if (found.has_errors()) config.reset();
  diagnostics.append(std::move(found));
  return config;
}

void check_ipam(const Value& block, doc::Diagnostics& diagnostics) {
  const Value* type = block.find("type");
  const std::string* name = type ? type->as_string() : nullptr;
  if (name == nullptr) return;
  if (const auto ours = ipam_type(*name)) {
    IpamReader(block, kIpamFamily.after_schema(), diagnostics).read(*ours);
    return;
  }
  if (const CniType* known = schema::find_cni_type(*name); known != nullptr && known->role == CniRole::kIpam)
    diagnostics
        .warning("RB-IPAM-009", type->span, fmt::format("ipam type \"{}\" is known but not built into railbed", *name))
        .of(doc::Layer::kEmbedded)
        .for_one_machine();
}

Result<IpamConfig> read_ipam(const NetworkConfig& config, const std::string& network) {
  return read_ipam(config.plugins.empty() ? nullptr : config.plugins.front().config.find("ipam"), network);
}

Result<IpamConfig> read_ipam(const Value* block, const std::string& network) {
  if (block == nullptr || block->is_null()) return IpamConfig{};
  doc::Diagnostics diagnostics;
  std::optional<IpamConfig> config = parse_ipam(*block, diagnostics);
  if (config.has_value()) return *std::move(config);
  std::string why;
  for (const doc::Diagnostic& one : diagnostics.all())
    if (one.severity == doc::Severity::kError)
      why += fmt::format("{}{}{}", why.empty() ? "" : "; ", one.span.known() ? one.span.to_string() + ": " : "",
                         one.message);
  return fail(Code::kInvalid, "network {}: its ipam block is wrong: {}", network, why);
}

}  // namespace railbed::api

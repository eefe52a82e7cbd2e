// SPDX-License-Identifier: Apache-2.0
// What the webhook of nv-ipam refuses in an IPPool or a CIDRPool.
#include <map>
#include <optional>
#include <string>

#include "base/ip.h"
#include "base/object_names.h"
#include "check/rules/lookups.h"
#include "check/rules/refused.h"

namespace railbed::check {
namespace {

using doc::Value;

// The pool and its addresses, with what reports about it.
struct PoolView {
  const Document& document;
  IpPrefix subnet;
  Findings& out;

  doc::Diagnostic& refused(const doc::Span& place, const std::string& what) const {
    return out.error(place, fmt::format("{}: {}: nv-ipam refuses it", document.label(), what));
  }
};

// How many addresses nv-ipam counts in a subnet; nullopt where it is more than any number of the manifest.
std::optional<int64_t> address_count(const IpPrefix& subnet) {
  const int bits = subnet.address.bits() - subnet.length;
  if (bits > 40) return std::nullopt;
  const int64_t all = int64_t{1} << bits;
  if (bits < 2) return all;
  return subnet.address.family == IpFamily::kV4 ? all - 2 : all - 1;
}

// Calls `visit` with each object of a list.
template <typename Visit>
void each_entry(const Document& document, std::string_view path, Visit visit) {
  const Value* list = at(document.value, path);
  if (list == nullptr || !list->is_array()) return;
  for (const Value& entry : *list->as_array())
    if (entry.is_object()) visit(entry);
}

// Whether the text is there and will be this one.
bool is_final(std::string_view text) {
  return !text.empty() && !is_filled_in_later(text);
}

void excluded_addresses(const PoolView& pool) {
  each_entry(pool.document, "spec.exclusions", [&](const Value& entry) {
    std::optional<IpAddress> ends[2];
    constexpr std::string_view kEnds[] = {"startIP", "endIP"};
    for (size_t i = 0; i < std::size(kEnds); ++i) {
      const std::string_view text = text_at(entry, kEnds[i]);
      const auto address = IpAddress::parse(text);
      if (!is_final(text)) continue;
      if (address) ends[i] = *address;
      if (address && pool.subnet.contains(*address)) continue;
      pool.refused(entry.find(kEnds[i])->span,
                   address ? fmt::format("{} {} is not in {}", kEnds[i], text, pool.subnet.to_string())
                           : fmt::format("{} {} is no address", kEnds[i], text))
          .with_fix(fmt::format("an address of {}", pool.subnet.to_string()));
    }
    if (ends[0] && ends[1] && ends[0]->family == ends[1]->family && *ends[1] < *ends[0])
      pool.refused(entry.find("endIP")->span, fmt::format("the exclusion ends at {}, before it begins at {}",
                                                          ends[1]->to_string(), ends[0]->to_string()))
          .with_fix("the lower address as startIP");
  });
}

void pool_routes(const PoolView& pool) {
  const bool default_gateway = flag_at(pool.document.value, "spec.defaultGateway").value_or(false);
  each_entry(pool.document, "spec.routes", [&](const Value& entry) {
    const std::string_view text = text_at(entry, "dst");
    if (!is_final(text)) return;
    const doc::Span& place = entry.find("dst")->span;
    const auto destination = IpPrefix::parse(text);
    if (!destination)
      pool.refused(place, fmt::format("the destination {} has no prefix length, or is no address", text))
          .with_fix("an address with its prefix length, 10.0.0.0/8");
    else if (destination->address.family != pool.subnet.address.family)
      pool.refused(place, fmt::format("the route to {} is not of the family of {}", text, pool.subnet.to_string()))
          .with_fix("a route of the same family");
    else if (default_gateway && destination->length == 0)
      pool.refused(place, fmt::format("the route to {} is the default route, which defaultGateway sets already", text))
          .with_fix("only one of them");
  });
}

void ip_pool_contradicts_itself(const PoolView& pool) {
  const Value& value = pool.document.value;
  const Value* block = at(value, "spec.perNodeBlockSize");
  const auto wanted = integer_at(value, "spec.perNodeBlockSize");
  const auto there = address_count(pool.subnet);
  if (block != nullptr && wanted && there && *wanted > *there)
    pool.refused(block->span, fmt::format("each node gets a block of {} addresses, and {} has {} for pods", *wanted,
                                          pool.subnet.to_string(), *there))
        .with_fix("a smaller perNodeBlockSize, or a larger subnet");
  const Value* gateway = at(value, "spec.gateway");
  const auto address = IpAddress::parse(text_at(value, "spec.gateway"));
  if (gateway != nullptr && address && !pool.subnet.contains(*address))
    pool.refused(gateway->span,
                 fmt::format("the gateway {} is not in the subnet {}", address->to_string(), pool.subnet.to_string()))
        .with_fix(fmt::format("an address of {}", pool.subnet.to_string()));
}

// The gateway is an address of each node's part: the index counts from the part's first address.
void gateway_index(const PoolView& pool, int node_length) {
  const Value& value = pool.document.value;
  const Value* place = at(value, "spec.gatewayIndex");
  const auto index = integer_at(value, "spec.gatewayIndex");
  if (place == nullptr || !index || *index < 0) return;  // RB-API-005
  const IpPrefix part{pool.subnet.network(), node_length};
  const auto there = address_count(part);
  if (!there) return;
  const bool small = part.address.bits() - node_length < 2;  // all of its addresses are for use
  const int64_t first = small ? 0 : 1;
  const int64_t last = small ? *there - 1 : *there;
  if (*index >= first && *index <= last) return;
  pool.refused(place->span, fmt::format("gatewayIndex {} is no address of a node's /{} (it has {} to {})", *index,
                                        node_length, first, last))
      .with_fix(fmt::format("gatewayIndex: {}", first));
}

void needs_a_gateway(const PoolView& pool) {
  if (at(pool.document.value, "spec.gatewayIndex") != nullptr) return;
  const Value* gateway = at(pool.document.value, "spec.defaultGateway");
  if (gateway != nullptr && flag_at(pool.document.value, "spec.defaultGateway").value_or(false))
    pool.refused(gateway->span, "defaultGateway needs a gateway, and there is no gatewayIndex")
        .with_fix("gatewayIndex: 1");
  const Value* routes = at(pool.document.value, "spec.routes");
  if (routes != nullptr && routes->is_array() && !routes->as_array()->empty())
    pool.refused(key_span(pool.document.value, "spec.routes"), "routes need a gateway, and there is no gatewayIndex")
        .with_fix("gatewayIndex: 1");
}

// What is wrong with the part of one node; empty: nothing.
std::string wrong_part(const PoolView& pool, const IpPrefix& part, int node_length) {
  if (part.address != part.network()) return "has bits behind its length";
  if (!pool.subnet.contains(part.address)) return fmt::format("is not in {}", pool.subnet.to_string());
  if (part.length != node_length) return fmt::format("is not a /{}, as perNodeNetworkPrefix says", node_length);
  return "";
}

void static_parts(const PoolView& pool, int node_length) {
  std::map<std::string, const Value*, std::less<>> first_places;
  each_entry(pool.document, "spec.staticAllocations", [&](const Value& entry) {
    for (const std::string_view key : {"nodeName", "prefix"}) {
      const std::string_view text = text_at(entry, key);
      if (!is_final(text)) continue;
      const auto [first, fresh] = first_places.emplace(fmt::format("{} {}", key, text), entry.find(key));
      if (!fresh)
        pool.refused(entry.find(key)->span, fmt::format("two staticAllocations have the {} {}", key, text))
            .note(first->second->span, "the first one")
            .with_fix("one for each node");
    }
    const std::string_view text = text_at(entry, "prefix");
    const auto part = IpPrefix::parse(text);
    if (!part || !is_final(text)) return;
    const std::string wrong = wrong_part(pool, *part, node_length);
    if (!wrong.empty()) {
      pool.refused(entry.find("prefix")->span, fmt::format("the prefix {} {}", text, wrong))
          .with_fix(fmt::format("a /{} of {}", node_length, pool.subnet.to_string()));
      return;
    }
    const auto gateway = IpAddress::parse(text_at(entry, "gateway"));
    if (gateway && !part->contains(*gateway))
      pool.refused(entry.find("gateway")->span,
                   fmt::format("the gateway {} is not in the node's {}", gateway->to_string(), text))
          .with_fix(fmt::format("an address of {}", text));
  });
}

void cidr_pool_contradicts_itself(const PoolView& pool) {
  const Value* cidr = at(pool.document.value, "spec.cidr");
  if (pool.subnet.address != pool.subnet.network()) {
    const std::string right = IpPrefix{pool.subnet.network(), pool.subnet.length}.to_string();
    pool.refused(cidr->span, fmt::format("the cidr {} has bits behind its length", pool.subnet.to_string()))
        .with_fix("cidr: " + right);
    return;
  }
  needs_a_gateway(pool);
  const Value* value = at(pool.document.value, "spec.perNodeNetworkPrefix");
  const auto length = integer_at(pool.document.value, "spec.perNodeNetworkPrefix");
  if (value == nullptr || !length) return;
  if (*length < pool.subnet.length || *length > pool.subnet.address.bits()) {
    pool.refused(value->span,
                 fmt::format("each node gets a /{} of {}, which has none", *length, pool.subnet.to_string()))
        .with_fix(fmt::format("perNodeNetworkPrefix: {} to {}", pool.subnet.length, pool.subnet.address.bits() - 1));
    return;
  }
  gateway_index(pool, static_cast<int>(*length));
  static_parts(pool, static_cast<int>(*length));
}

}  // namespace

void pool_contradicts_itself(const Input& in, Findings& out) {
  for (const Document& document : in.bundle.documents) {
    if (document.group() != "nv-ipam.nvidia.com" || !is_whole_object(document)) continue;
    const bool blocks = document.kind == "IPPool";
    if (!blocks && document.kind != "CIDRPool") continue;
    const auto subnet = IpPrefix::parse(text_at(document.value, blocks ? "spec.subnet" : "spec.cidr"));
    if (!subnet) continue;  // RB-API-006, or a text that is filled in later
    const PoolView pool{document, *subnet, out};
    if (blocks)
      ip_pool_contradicts_itself(pool);
    else
      cidr_pool_contradicts_itself(pool);
    excluded_addresses(pool);
    pool_routes(pool);
  }
}

}  // namespace railbed::check

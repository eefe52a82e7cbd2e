// SPDX-License-Identifier: Apache-2.0
#include "api/ipam_range.h"

namespace railbed::api {

using doc::Value;

std::optional<IpAddress> parse_address(doc::Fields& fields, const doc::Field<std::string>& text, std::string_view key) {
  auto parsed = IpAddress::parse(text.value);
  if (parsed) return *parsed;
  auto& reported = fields.error(5, text.span, fmt::format("{}: {}", fields.path_of(key), parsed.error().message));
  if (const size_t slash = text.value.find('/'); slash != std::string::npos)
    reported.with_fix(fmt::format("write it without the prefix length: \"{}\"", text.value.substr(0, slash)));
  return std::nullopt;
}

std::optional<IpAddress> read_address(doc::Fields& fields, std::string_view key) {
  const auto text = fields.text(key);
  if (!text.present || text.value.empty()) return std::nullopt;
  return parse_address(fields, text, key);
}

std::optional<IpPrefix> parse_prefix(doc::Fields& fields, const doc::Field<std::string>& text, std::string_view key) {
  auto parsed = IpPrefix::parse(text.value);
  if (parsed) return *parsed;
  fields.error(5, text.span, fmt::format("{}: {}", fields.path_of(key), parsed.error().message));
  return std::nullopt;
}

void exclude_gateway(IpamRange& range, IpamType type) {
  if (!range.gateway && type == IpamType::kHostLocal) range.gateway = range.subnet.network().plus(1);
  if (range.gateway && range.addresses.contains(*range.gateway))
    range.excluded.push_back({*range.gateway, range.gateway->bits()});
}

namespace {

// The longest prefix that contains both addresses.
IpPrefix common_prefix(const IpAddress& a, const IpAddress& b) {
  IpPrefix prefix{a, a.bits()};
  while (prefix.length > 0 && !prefix.contains(b)) --prefix.length;
  prefix.address = prefix.network();
  return prefix;
}

// The fields of a range, as one plugin names them.
struct Names {
  std::string_view subnet, first, last, gateway;
};
constexpr Names kHostLocalNames{"subnet", "rangeStart", "rangeEnd", "gateway"};
constexpr Names kWhereaboutsNames{"range", "range_start", "range_end", "gateway"};

class RangeReader {
 public:
  RangeReader(doc::Fields& fields, IpamType type)
      : fields_(fields), type_(type), names_(type == IpamType::kHostLocal ? kHostLocalNames : kWhereaboutsNames) {}

  std::optional<IpamRange> read(const Value& object) {
    fields_.require(names_.subnet);
    const auto text = fields_.text(names_.subnet);
    const auto first = read_address(fields_, names_.first);
    const auto last = read_address(fields_, names_.last);
    const auto gateway = read_address(fields_, names_.gateway);
    if (!text.present) return std::nullopt;
    const auto written = subnet_of(text, names_.subnet);
    if (!written) return std::nullopt;
    IpamRange range{.subnet = written->subnet, .gateway = gateway, .span = object.span};
    range.addresses.first = first.value_or(written->first.value_or(IpAddress{}));
    range.addresses.last = last.value_or(written->last.value_or(IpAddress{}));
    const bool has_first = first || written->first;
    const bool has_last = last || written->last;
    if (!check_subnet(range, text, has_first && has_last)) return std::nullopt;
    fill_bounds(range, has_first, has_last);
    if (!check_bounds(range, object, text)) return std::nullopt;
    exclude_gateway(range, type_);
    return range;
  }

 private:
  // whereabouts' "10.0.0.10-10.0.0.20/24", or a plain prefix.
  struct Written {
    IpPrefix subnet;
    std::optional<IpAddress> first, last;
  };
  std::optional<Written> subnet_of(const doc::Field<std::string>& text, std::string_view key) {
    const size_t dash = text.value.find('-');
    if (dash == std::string::npos || type_ != IpamType::kWhereabouts) {
      const auto subnet = parse_prefix(fields_, text, key);
      if (!subnet) return std::nullopt;
      return Written{*subnet, {}, {}};
    }
    doc::Field<std::string> part = text;
    part.value = text.value.substr(0, dash);
    const auto first = parse_address(fields_, part, key);
    part.value = text.value.substr(dash + 1);
    const auto last = parse_prefix(fields_, part, key);
    if (!first || !last) return std::nullopt;
    return Written{{*first, last->length}, *first, last->address};
  }

  bool check_subnet(IpamRange& range, const doc::Field<std::string>& text, bool has_bounds) {
    const IpPrefix& subnet = range.subnet;
    const bool host_bits = subnet.address != subnet.network();
    if (host_bits && type_ == IpamType::kHostLocal) {
      const IpPrefix network{subnet.network(), subnet.length};
      fields_
          .error(5, text.span,
                 fmt::format("{}: {} is not the address of a network", fields_.path_of(names_.subnet), subnet))
          .with_fix(fmt::format("\"{}\": \"{}\"", names_.subnet, network));
      return false;
    }
    range.subnet.address = subnet.network();
    if (subnet.length >= 8) return true;
    auto& reported = fields_.error(
        7, text.span,
        fmt::format("{}: /{} makes 1/{} of all {} addresses neighbours of the pod; traffic to the cluster and the "
                    "internet would go into this network",
                    fields_.path_of(names_.subnet), subnet.length, 1 << subnet.length,
                    subnet.address.family == IpFamily::kV4 ? "IPv4" : "IPv6"));
    if (has_bounds)
      reported.with_fix(fmt::format("\"{}\": \"{}\" holds the addresses that are asked for", names_.subnet,
                                    common_prefix(range.addresses.first, range.addresses.last)));
    return false;
  }

  static void fill_bounds(IpamRange& range, bool has_first, bool has_last) {
    const int host_bits = range.subnet.address.bits() - range.subnet.length;
    const bool roomy = host_bits >= 2;  // room for a network and a broadcast address
    if (!has_first) {
      const IpAddress network = range.subnet.network();
      range.addresses.first = roomy ? network.plus(1).value_or(network) : network;
    }
    if (has_last) return;
    range.addresses.last = range.subnet.last();
    if (!roomy || range.subnet.address.family != IpFamily::kV4) return;
    for (size_t i = 4; i-- > 0;)
      if (range.addresses.last.bytes[i]-- != 0) break;
  }

  bool check_bounds(const IpamRange& range, const Value& object, const doc::Field<std::string>& text) {
    bool right = true;
    const auto outside = [&](const IpAddress& bound, std::string_view key) {
      if (range.subnet.contains(bound)) return;
      const Value* value = object.find(key);
      right = false;
      fields_
          .error(5, value ? value->span : text.span,
                 fmt::format("{}: {} lies outside of {}", fields_.path_of(key), bound, range.subnet))
          .note(text.span, fmt::format("{} is here", names_.subnet));
    };
    outside(range.addresses.first, names_.first);
    outside(range.addresses.last, names_.last);
    if (range.gateway && range.gateway->family != range.subnet.address.family) outside(*range.gateway, names_.gateway);
    if (right && range.addresses.last < range.addresses.first) {
      right = false;
      fields_.error(5, text.span,
                    fmt::format("{}: the range ends at {}, before it begins at {}", fields_.path_of(names_.subnet),
                                range.addresses.last, range.addresses.first));
    }
    return right;
  }

  doc::Fields& fields_;
  IpamType type_;
  const Names& names_;
};

}  // namespace

std::optional<IpamRange> read_range(doc::Fields& fields, const Value& object, IpamType type) {
  return RangeReader(fields, type).read(object);
}

}  // namespace railbed::api

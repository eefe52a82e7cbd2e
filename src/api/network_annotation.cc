// SPDX-License-Identifier: Apache-2.0
//
// Annotation k8s.v1.cni.cncf.io/networks. Short form "ns/name@interface, …", or a JSON list; as in Multus it
// is JSON when any of the characters [ { " is in it.
#include <algorithm>
#include <map>

#include "api/load.h"
#include "api/names.h"
#include "api/network_demands.h"
#include "doc/fields.h"
#include "doc/json.h"
#include "doc/text_places.h"

namespace railbed::api {

using doc::Value;

namespace {

constexpr std::string_view kBlanks = " \t\r\n";
constexpr std::string_view kPath = "networks";

// Narrower than what the kernel takes: the name goes into the environment of executed plugins, some of which are shell
// scripts, and into commands that administrators paste.
bool is_plain_interface_name(std::string_view name) {
  const auto alphanumeric = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  return !name.empty() && name.size() <= 15 && alphanumeric(name.front()) &&
         std::ranges::all_of(name, [&](char c) { return alphanumeric(c) || c == '_' || c == '.' || c == '-'; });
}

class AnnotationReader {
 public:
  AnnotationReader(std::string_view pod_namespace, doc::Diagnostics& out) : pod_namespace_(pod_namespace), out_(out) {}

  std::vector<NetworkSelection> read(const Value& annotation) {
    const std::string* text = annotation.as_string();
    if (text == nullptr) {
      error("RB-ANN-004", annotation.span,
            fmt::format("the networks annotation must be a text, found {}", kind_name(annotation.kind())))
          .that_says(doc::Says::kWrongType);
      return {};
    }
    if (text->find_first_of("[{\"") != std::string::npos)
      read_json(annotation);
    else
      read_short(annotation, *text);
    name_interfaces();
    return std::move(selections_);
  }

 private:
  doc::Diagnostic& error(std::string_view id, const doc::Span& span, std::string message) {
    return out_.error(id, span, std::move(message)).of(doc::Layer::kEmbedded);
  }

  void read_json(const Value& annotation) {
    const auto json = doc::parse_embedded_json(annotation, out_);
    if (!json) return;
    const Value::Array* list = json->as_array();
    if (list == nullptr) {
      error("RB-ANN-004", json->span,
            fmt::format("the networks annotation must be a JSON list, found {}", kind_name(json->kind())))
          .with_fix("put it between [ and ]")
          .that_says(doc::Says::kWrongType);
      return;
    }
    for (const Value& item : *list) read_element(item);
  }

  void read_element(const Value& item) {
    doc::Fields fields(item, std::string(kPath), "RB-ANN", out_);
    if (!item.is_object()) return;
    NetworkSelection selection{.span = item.span};
    fields.require("name");
    selection.name = fields.text("name");
    check_label(selection.name, "networks.name", out_);
    selection.ns = fields.text("namespace");
    if (selection.ns.value.empty()) selection.ns = default_namespace(item.span);
    check_label(selection.ns, "networks.namespace", out_);
    selection.interface = fields.text("interface");
    const auto old_name = fields.text("interfaceRequest");
    if (!selection.interface.present) selection.interface = old_name;
    check_interface(selection.interface);
    read_ips(fields, selection);
    read_addresses(fields, selection);
    read_default_route(fields, selection);
    if (const Value* args = fields.object("cni-args")) selection.cni_args = {*args, true, args->span};
    selection.device_id = fields.text("deviceID");
    if (const Value* bandwidth = fields.object("bandwidth")) selection.bandwidth = {*bandwidth, true, bandwidth->span};
    if (const Value::Array* ports = fields.list("portMappings"))
      selection.port_mappings = {Value(*ports), true, item.find("portMappings")->span};
    const auto claim = fields.text("ipam-claim-reference");
    if (claim.present && !selection.ips.empty())
      fields.error(5, claim.span, "networks.ipam-claim-reference cannot be combined with ips");
    finish_element(fields);
    selections_.push_back(std::move(selection));
  }

  // The fields of an element are those of one definition for all programs; a key beside them does nothing anywhere.
  void finish_element(doc::Fields& fields) {
    const size_t before = out_.all().size();
    fields.finish();
    for (size_t i = before; i < out_.all().size(); ++i) out_.mutable_all()[i].that_fails_where_applied();
  }

  static Field<std::string> absent(std::string value, const doc::Span& span) {
    return {.value = std::move(value), .span = span};
  }
  Field<std::string> default_namespace(const doc::Span& span) const {
    return absent(std::string(pod_namespace_), span);
  }

  void read_ips(doc::Fields& fields, NetworkSelection& selection) {
    const Value::Array* ips = fields.list("ips");
    if (ips == nullptr) return;
    for (const Value& item : *ips) {
      auto text = fields.text_of(item, "networks.ips");
      const bool right = IpAddress::parse(text.value).has_value() || IpPrefix::parse(text.value).has_value();
      if (item.is_string() && !right)
        fields.error(5, item.span, fmt::format("networks.ips: \"{}\" is not an IP address", text.value));
      selection.ips.push_back(std::move(text));
    }
  }

  template <typename T>
  Field<T> parsed(doc::Fields& fields, std::string_view key) {
    const auto text = fields.text(key);
    if (!text.present || text.value.empty()) return {.span = text.span};
    auto value = T::parse(text.value);
    if (value) return {*value, true, text.span};
    fields.error(5, text.span, fmt::format("networks.{}: {}", key, value.error().message));
    return {};
  }

  void read_addresses(doc::Fields& fields, NetworkSelection& selection) {
    selection.mac = parsed<MacAddress>(fields, "mac");
    if (selection.mac.present)
      if (const std::string problem = mac_problem(*selection.mac); !problem.empty())
        fields.error(5, selection.mac.span, fmt::format("networks.mac: {}", problem))
            .with_fix("an address of one interface: its first byte is even (02:…)");
    selection.infiniband_guid = parsed<Guid>(fields, "infiniband-guid");
    if (selection.infiniband_guid.present && selection.infiniband_guid->is_zero())
      fields.error(5, selection.infiniband_guid.span, "networks.infiniband-guid must not be zero");
  }

  void read_default_route(doc::Fields& fields, NetworkSelection& selection) {
    const Value::Array* routes = fields.list("default-route");
    if (routes == nullptr) return;
    for (const Value& item : *routes) {
      const auto text = fields.text_of(item, "networks.default-route");
      auto address = IpAddress::parse(text.value);
      if (address)
        selection.default_route.push_back(*address);
      else if (item.is_string())
        fields.error(5, item.span, fmt::format("networks.default-route: {}", address.error().message));
    }
  }

  void check_interface(const Field<std::string>& interface) {
    if (!interface.present) return;
    if (!is_plain_interface_name(interface.value))
      error(
          "RB-ANN-005", interface.span,
          fmt::format(
              "networks.interface: \"{}\" is not a name that a pod can choose for an interface (a letter or digit, then "
              "up to 14 letters, digits, '_', '.' and '-')",
              interface.value));
    else if (interface.value == "lo" || interface.value == "eth0")
      error("RB-ANN-005", interface.span,
            fmt::format("networks.interface: every pod has a \"{}\" already", interface.value));
  }

  void read_short(const Value& annotation, const std::string& text) {
    const doc::TextPlaces places(annotation);
    if (text.find_first_not_of(kBlanks) == std::string::npos) return;
    for (size_t start = 0; start <= text.size();) {
      const size_t comma = std::min(text.find(',', start), text.size());
      read_short_element(text, start, comma, places);
      start = comma + 1;
    }
  }

  void read_short_element(const std::string& text, size_t start, size_t end, const doc::TextPlaces& places) {
    const auto field = [&](size_t from, size_t to) {
      return Field<std::string>{text.substr(from, to - from), true, places.at(from, to - from)};
    };
    const size_t first = std::min(text.find_first_not_of(kBlanks, start), end);
    size_t last = end;
    while (last > first && kBlanks.find(text[last - 1]) != std::string_view::npos) --last;
    if (first == last) {
      error("RB-ANN-005", places.at(start < text.size() ? start : text.size() - 1, 1),
            "a network's name is missing before or after this ','");
      return;
    }
    NetworkSelection selection{.span = places.at(first, last - first)};
    const size_t at = std::min(text.find('@', first), last);
    const size_t slash = std::min(text.find('/', first), at);
    if (slash < at) {
      selection.ns = field(first, slash);
      selection.name = field(slash + 1, at);
    } else {
      selection.ns = default_namespace(selection.span);
      selection.name = field(first, at);
    }
    check_label(selection.ns, "networks: namespace", out_);
    check_label(selection.name, "networks: name", out_);
    if (at < last) {
      selection.interface = field(at + 1, last);
      check_interface(selection.interface);
    }
    selections_.push_back(std::move(selection));
  }

  // net1, net2, … by position; no name twice.
  void name_interfaces() {
    std::map<std::string, doc::Span> names;
    for (size_t i = 0; i < selections_.size(); ++i) {
      NetworkSelection& selection = selections_[i];
      if (!selection.interface.present) selection.interface = absent(fmt::format("net{}", i + 1), selection.span);
      const auto [first, is_new] = names.emplace(*selection.interface, selection.interface.span);
      if (!is_new)
        error("RB-ANN-005", selection.interface.span,
              fmt::format("two networks of this pod have the interface \"{}\"", *selection.interface))
            .note(first->second, "the other one is here");
    }
  }

  std::string_view pod_namespace_;
  doc::Diagnostics& out_;
  std::vector<NetworkSelection> selections_;
};

}  // namespace

std::vector<NetworkSelection> parse_networks_annotation(const Value& text, std::string_view pod_namespace,
                                                        doc::Diagnostics& diagnostics) {
  return AnnotationReader(pod_namespace, diagnostics).read(text);
}

}  // namespace railbed::api

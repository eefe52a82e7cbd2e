// SPDX-License-Identifier: Apache-2.0
// The result of ADD: interfaces, addresses, routes and DNS of an attachment, in the format of every version.
//
// Why an own type: a chained plugin gets it as prevResult and returns it, changed; members that are not known here are
// kept in `extra`.
// Threading: pure.
// Failure: code 6 (decode) with the member's name.
// Source: CNI specification 1.1.0, "Result Types", and the conversion rules of 0.3.0 to 1.0.0.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/ip.h"
#include "base/route.h"
#include "cni/version.h"
#include "doc/value.h"

namespace railbed::cni {

struct Interface {
  std::string name;
  std::string mac;
  std::string sandbox;  // path of the namespace; empty: on the host
  int mtu = 0;          // since 1.1.0; 0: not given
  std::string socket_path;
  std::string pci_id;
  friend bool operator==(const Interface&, const Interface&) = default;
};

struct Address {
  IpPrefix address;
  std::optional<IpAddress> gateway;
  std::optional<int> interface;  // index into interfaces
  friend bool operator==(const Address&, const Address&) = default;
};

struct Dns {
  std::vector<std::string> nameservers;
  std::string domain;
  std::vector<std::string> search;
  std::vector<std::string> options;
  bool empty() const { return *this == Dns{}; }
  friend bool operator==(const Dns&, const Dns&) = default;
};

struct AddResult {
  std::vector<Interface> interfaces;
  std::vector<Address> addresses;
  std::vector<Route> routes;
  Dns dns;
  doc::Value extra;  // an object with the members that are not known here, or null
  friend bool operator==(const AddResult&, const AddResult&) = default;
};

// For results of any version; `config_version` applies where the result has none of its own.
Result<AddResult> read_result(const doc::Value& result, const std::string& config_version);
Result<AddResult> read_result(const std::string& json, const std::string& config_version);
// In the format of `version`, indented by four blanks as the reference library prints it.
std::string to_json(const AddResult& result, const Version& version);
doc::Value to_value(const AddResult& result, const Version& version);

}  // namespace railbed::cni

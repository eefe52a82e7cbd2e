// SPDX-License-Identifier: Apache-2.0
// Results in every version, frames and plugin inputs are the same after writing and reading.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "cni/config.h"
#include "cni/wire.h"
#include "doc/arbitrary_value.h"
#include "doc/json.h"

namespace railbed::cni {
namespace {

rc::Gen<IpAddress> any_address() {
  return rc::gen::exec([] {
    IpAddress out;
    out.family = *rc::gen::element(IpFamily::kV4, IpFamily::kV6);
    for (int i = 0; i < out.byte_count(); ++i) out.bytes[i] = *rc::gen::arbitrary<uint8_t>();
    return out;
  });
}

std::optional<int> maybe(int low, int high) {
  if (*rc::gen::arbitrary<bool>()) return std::nullopt;
  return *rc::gen::inRange(low, high);
}

IpPrefix prefix() {
  IpPrefix out{*any_address(), 0};
  out.length = *rc::gen::inRange(0, out.address.bits() + 1);
  return out;
}

AddResult arbitrary_result(bool old) {
  AddResult out;
  const auto text = [] { return *doc::arbitrary_text(); };
  for (int i = *rc::gen::inRange(0, 3); i > 0; --i) {
    Interface one{.name = text(), .mac = text(), .sandbox = text()};
    if (!old) {
      one.mtu = *rc::gen::inRange(0, 9001);
      one.socket_path = text();
      one.pci_id = text();
    }
    out.interfaces.push_back(one);
  }
  for (int i = *rc::gen::inRange(0, 3); i > 0; --i) {
    Address one{.address = prefix(), .interface = maybe(0, 5)};
    if (*rc::gen::arbitrary<bool>()) one.gateway = *any_address();
    out.addresses.push_back(one);
  }
  for (int i = *rc::gen::inRange(0, 3); i > 0; --i) {
    Route one{.destination = prefix(), .metric = maybe(1, 9000), .mtu = maybe(1, 9000), .advmss = maybe(1, 9000)};
    one.table = maybe(0, 300);
    one.scope = maybe(0, 255);
    if (*rc::gen::arbitrary<bool>()) one.gateway = *any_address();
    out.routes.push_back(one);
  }
  for (int i = *rc::gen::inRange(0, 3); i > 0; --i) out.dns.search.push_back(text());
  out.dns.domain = text();
  if (*rc::gen::arbitrary<bool>()) out.extra.set("x" + text(), *doc::arbitrary_value(2));
  return out;
}

RC_GTEST_PROP(CniResultProperty, IsReadBackInEveryVersion, ()) {
  const Version version = *supported_version(
      *rc::gen::elementOf(std::vector<std::string_view>(std::begin(kSupportedVersions), std::end(kSupportedVersions))));
  const AddResult result = arbitrary_result(version < Version{1, 0, 0});
  const auto back = read_result(to_json(result, version), "0.1.0");
  RC_ASSERT(back.has_value());
  RC_ASSERT(*back == result);
  RC_ASSERT(to_json(*back, version) == to_json(result, version));
}

RC_GTEST_PROP(CniWireProperty, FramesAreReadBack, ()) {
  WireRequest request{.type = "t" + *rc::gen::container<std::string>(rc::gen::inRange<char>(1, 127)),
                      .config = *rc::gen::arbitrary<std::string>()};
  for (int i = *rc::gen::inRange(0, 4); i > 0; --i)
    request.environment.push_back("CNI_" + *rc::gen::container<std::string>(rc::gen::inRange<char>(1, 127)));
  std::string why;
  const std::string frame = to_frame(request);
  const auto head = read_frame_head(std::string_view(frame).substr(0, kFrameHeadBytes), why);
  RC_ASSERT(head.has_value());
  RC_ASSERT(head->kind == FrameKind::kRequest);
  RC_ASSERT(head->payload_bytes == frame.size() - kFrameHeadBytes);
  RC_ASSERT(read_wire_request(std::string_view(frame).substr(kFrameHeadBytes), why) == request);
  const WireAnswer answer{*rc::gen::arbitrary<uint8_t>(), request.config};
  const std::string back = to_frame(answer);
  RC_ASSERT(read_wire_answer(std::string_view(back).substr(kFrameHeadBytes), why) == answer);
}

RC_GTEST_PROP(CniListProperty, UnknownKeysSurvive, ()) {
  doc::Value plugin = doc::Value::object();
  plugin.set("type", "t");
  plugin.set("odd", *doc::arbitrary_value(2));
  doc::Value list = doc::Value::object();
  list.set("cniVersion", "1.1.0");
  list.set("name", "n");
  list.set("plugins", doc::Value::Array{plugin});
  const auto read = read_list_config(doc::to_json(list));
  RC_ASSERT(read.has_value());
  const AddResult previous = arbitrary_result(false);
  const auto config = read_plugin_config(plugin_input(*read, 0, previous, {}));
  RC_ASSERT(config.has_value());
  RC_ASSERT(*config->object.find("odd") == *plugin.find("odd"));
  RC_ASSERT(config->previous == previous);
}

}  // namespace
}  // namespace railbed::cni

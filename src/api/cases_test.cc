// SPDX-License-Identifier: Apache-2.0
// Every folder of testdata/api: input.yaml is loaded; what is reported, which objects came out and which
// attachment definitions the networks become are compared with expected.txt as a whole. RAILBED_UPDATE=1
// writes expected.txt again; read the difference before you commit it.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "api/attachment.h"
#include "api/load.h"
#include "base/testdata.h"
#include "doc/json.h"
#include "doc/yaml.h"

namespace railbed::api {
namespace {

namespace fs = std::filesystem;

fs::path cases() {
  return testdata() / "api";
}

std::string field(std::string_view name, const auto& value) {
  return value.present ? fmt::format(" {}={}", name, *value) : "";
}

std::string described(const SriovNetworkNodePolicy& p) {
  std::string out = fmt::format("policy {}/{}: resource {}, priority {}, {} VFs", *p.meta.ns, *p.meta.name,
                                *p.resource_name, *p.priority, *p.num_vfs);
  out += fmt::format(", {}{}", *p.device_type == DeviceType::kVfioPci ? "vfio-pci" : "netdevice",
                     *p.is_rdma ? ", rdma" : "");
  if (*p.link_type != WantedLinkType::kAny) out += *p.link_type == WantedLinkType::kInfiniband ? ", IB" : ", ETH";
  if (*p.eswitch_mode == EswitchMode::kSwitchdev) out += ", switchdev";
  out += field("mtu", p.mtu);
  out += "\n ";
  out += field("vendor", p.nic_selector.vendor) + field("device", p.nic_selector.device_id);
  for (const auto& address : p.nic_selector.root_devices) out += fmt::format(" {}", *address);
  for (const auto& pf : p.nic_selector.pf_names)
    out += pf->vfs ? fmt::format(" {}#{}-{}", pf->name, pf->vfs->first, pf->vfs->last) : " " + pf->name;
  return out + field("net", p.nic_selector.net_filter) + "\n";
}

std::string described(const NetworkSelection& s) {
  std::string out = fmt::format("  {} = {}/{} ({})", *s.interface, *s.ns, *s.name, s.span.to_string());
  for (const auto& ip : s.ips) out += " " + *ip;
  out += field("mac", s.mac) + field("guid", s.infiniband_guid) + field("device", s.device_id);
  for (const IpAddress& gateway : s.default_route) out += fmt::format(" via {}", gateway);
  if (s.cni_args.present) out += " args=" + doc::to_json(*s.cni_args);
  return out + "\n";
}

std::string described(const Pod& pod) {
  std::string out = fmt::format("pod {}{}", pod.key(), field("node", pod.node_name));
  for (const auto& [resource, count] : pod.resources) out += fmt::format(" {}={}", resource, count);
  out += "\n";
  for (const NetworkSelection& selection : pod.networks) out += described(selection);
  return out;
}

std::string described(const Objects& objects) {
  std::string out;
  for (const auto& policy : objects.policies) out += described(policy);
  for (const auto& network : objects.networks) out += doc::to_yaml(to_value(render(network)));
  for (const auto& definition : objects.attachments) out += doc::to_yaml(to_value(definition));
  for (const Pod& pod : objects.pods) out += described(pod);
  for (const Node& node : objects.nodes) {
    out += fmt::format("node {}{}", *node.meta.name, *node.soft_rdma ? " soft-rdma" : "");
    for (const auto& [key, value] : node.meta.labels) out += fmt::format(" {}={}", key, value);
    out += "\n";
  }
  for (const auto& [kind, count] : objects.others) out += fmt::format("other {}: {}\n", kind, count);
  return out;
}

class Case : public testing::TestWithParam<std::string> {};

TEST_P(Case, IsReportedAndReadAsExpected) {
  const fs::path folder = cases() / GetParam();
  doc::Diagnostics diagnostics;
  const auto source = std::make_shared<const doc::Source>(doc::Source{"input.yaml", content(folder / "input.yaml")});
  const Objects objects = load({source}, diagnostics);
  diagnostics.sort();
  const std::string reported = render(diagnostics) + "=== objects\n" + described(objects);
  if (std::getenv("RAILBED_UPDATE") != nullptr) std::ofstream(folder / "expected.txt") << reported;
  EXPECT_EQ(reported, content(folder / "expected.txt"));
}

// A definition that railbed wrote is the same after parsing it again.
TEST_P(Case, DefinitionsReadBackTheSame) {
  doc::Diagnostics diagnostics;
  const auto source =
      std::make_shared<const doc::Source>(doc::Source{"input.yaml", content(cases() / GetParam() / "input.yaml")});
  const Objects objects = load({source}, diagnostics);
  for (const SriovNetwork& network : objects.networks) {
    const NetworkAttachmentDefinition definition = render(network);
    doc::Diagnostics again;
    const auto text = std::make_shared<const doc::Source>(doc::Source{"made.yaml", doc::to_yaml(to_value(definition))});
    const auto documents = doc::parse_yaml(text, again);
    ASSERT_EQ(documents.size(), 1u);
    const auto back = parse_attachment(documents[0], again);
    ASSERT_TRUE(back) << doc::render(again) << text->text;
    EXPECT_EQ(back->config, definition.config);
    EXPECT_EQ(back->resource_name.value, definition.resource_name.value);
  }
}

std::vector<std::string> case_names() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(cases())) names.push_back(entry.path().filename());
  std::ranges::sort(names);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Api, Case, testing::ValuesIn(case_names()), [](const auto& param_info) {
  std::string name = param_info.param;
  std::ranges::replace(name, '-', '_');
  return name;
});

}  // namespace
}  // namespace railbed::api

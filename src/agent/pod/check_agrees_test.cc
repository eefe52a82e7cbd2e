// SPDX-License-Identifier: Apache-2.0
// One answer to "would the agent take it?": over generated networks and pods, `check` has an error, or RB-ATT-002,
// exactly where the ADD of the pod is refused on a machine in memory.
#include <algorithm>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "agent/test_requests.h"
#include "check/check.h"
#include "check/findings/output.h"

namespace railbed::agent {
namespace {

std::string any_of(std::vector<std::string> choices) {
  return *rc::gen::elementOf(choices);
}

bool coin() {
  return *rc::gen::arbitrary<bool>();
}

// The ipam block of a macvlan network, with a comma before it.
std::string some_ipam() {
  return any_of({"", R"(,"ipam":{})", R"(,"ipam":{"type":"whereabouts","range":"10.9.0.0/24"})",
                 R"(,"ipam":{"type":"whereabouts","range":"10.9.0.0/24","exclude":["10.9.0.7/32"]})",
                 R"(,"ipam":{"type":"whereabouts","range":"10.9.0.0/24","gateway":"10.9.0.7"})",
                 R"(,"ipam":{"type":"whereabouts","range":"fd00:9::/64"})", R"(,"ipam":{"type":"static"})",
                 R"(,"ipam":{"type":"static","addresses":[{"address":"10.9.0.9/24"}]})"});
}

std::string some_tuning(bool with_mac) {
  std::string members =
      any_of({"", R"(,"sysctl":{"net.ipv4.conf.IFNAME.arp_filter":"1"})", R"(,"sysctl":{"kernel.shmmax":"1"})",
              R"(,"sysctl":{"net.core.rmem_max":"1"})", R"(,"sysctl":{"net.core.somaxconn":"500"})"});
  if (with_mac) members += any_of({R"(,"mac":"02:00:00:00:00:07")", R"(,"mac":"03:00:00:00:00:07")"});
  return R"(,{"type":"tuning","capabilities":{"mac":)" + std::string(coin() ? "true" : "false") + "}" + members + "}";
}

struct Asked {
  std::string config;
  std::string element;  // of the networks annotation
};

Asked some_network(const std::string& name, bool plain) {
  const std::string mac = plain ? "" : any_of({"", "", "02:00:00:00:00:09", "03:00:00:00:00:09", "00:00:00:00:00:00"});
  Asked asked;
  asked.config = R"({"cniVersion":"1.0.0","plugins":[{"type":"macvlan","master":"eth1","capabilities":{"ips":)" +
                 std::string(coin() ? "true" : "false") + "}" +
                 (plain ? R"(,"ipam":{"type":"whereabouts","range":"10.8.0.0/24"})" : some_ipam()) + "}" +
                 (plain ? "" : some_tuning(mac.empty() && coin())) + "]}";
  asked.element = R"({"name":")" + name + "\"";
  if (!mac.empty()) asked.element += R"(,"mac":")" + mac + "\"";
  if (!plain)
    asked.element += any_of({"", "", R"(,"ips":["10.9.0.7/24"])", R"(,"ips":["10.9.0.8"])", R"(,"ips":["10.9.0.8/16"])",
                             R"(,"ips":["10.7.0.8/24"])", R"(,"ips":["fd00:9::8/64"])", R"(,"ips":["10.9.0.255/24"])"});
  asked.element += plain ? any_of({"", R"(,"default-route":["10.8.0.1"])"})
                         : any_of({"", "", R"(,"default-route":["10.9.0.1"])", R"(,"default-route":["10.7.0.1"])",
                                   R"(,"default-route":["fe80::1"])", R"(,"default-route":["fd00:9::1"])"});
  asked.element += "}";
  return asked;
}

// Why the ADD of the pod is refused; empty where it is done.
std::string refused(const std::vector<Asked>& networks, const std::string& annotation) {
  RequestRig rig;
  RC_ASSERT(rig.kernel.netns().create("a").has_value());
  for (size_t i = 0; i < networks.size(); ++i) rig.pods.add_network(fmt::format("n{}", i), networks[i].config);
  rig.pods.add_pod(annotation);
  cni::Request request{.command = cni::Command::kAdd,
                       .type = "railbed",
                       .container_id = "c1",
                       .netns = "/run/netns/a",
                       .ifname = "eth0",
                       .args = {{"K8S_POD_NAMESPACE", "ns"}, {"K8S_POD_NAME", "a"}},
                       .args_text = "K8S_POD_NAMESPACE=ns;K8S_POD_NAME=a",
                       .path = {"/opt/cni/bin"},
                       .config = R"({"cniVersion":"1.1.0","name":"pods","type":"railbed","delegates":[]})"};
  auto config = cni::read_plugin_config(request.config);
  RC_ASSERT(config.has_value());
  const auto answer = meta_request(rig.backends, rig.meta, request, *config);
  return answer.has_value() ? "" : answer.error().message;
}

check::Report judged(const std::vector<Asked>& networks, const std::string& annotation) {
  std::string text;
  for (size_t i = 0; i < networks.size(); ++i)
    text += fmt::format(
        "apiVersion: k8s.cni.cncf.io/v1\nkind: NetworkAttachmentDefinition\nmetadata: {{name: n{}, namespace: ns}}\n"
        "spec:\n  config: '{}'\n---\n",
        i, networks[i].config);
  text += fmt::format(
      "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  namespace: ns\n  annotations:\n"
      "    k8s.v1.cni.cncf.io/networks: '{}'\nspec: {{containers: [{{name: c, image: \"registry.example/c:1\"}}]}}\n",
      annotation);
  return check::check({std::make_shared<doc::Source>(doc::Source{"all.yaml", text})}, {}, {});
}

RC_GTEST_PROP(CheckAgrees, HasAnErrorWhereTheAgentRefuses, ()) {
  std::vector<Asked> networks = {some_network("n0", false)};
  if (coin()) networks.push_back(some_network("n1", true));
  std::string annotation;
  for (const Asked& one : networks) annotation += (annotation.empty() ? "[" : ",") + one.element;
  annotation += "]";
  const std::string why = refused(networks, annotation);
  const check::Report report = judged(networks, annotation);
  // An address or a MAC without its capability is a warning, since Multus passes them in CNI_ARGS, too.
  const bool found =
      report.findings.has_errors() ||
      std::ranges::find(report.findings.all(), "RB-ATT-002", &doc::Diagnostic::id) != report.findings.all().end();
  if (found == why.empty())
    RC_FAIL(networks[0].config + "\n" + annotation + "\nagent: " + why + "\n" + check::to_text(report));
}

}  // namespace
}  // namespace railbed::agent

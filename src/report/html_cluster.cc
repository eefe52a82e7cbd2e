// SPDX-License-Identifier: Apache-2.0
#include "report/html_cluster.h"

#include <algorithm>
#include <map>

#include "report/html_text.h"

namespace railbed::report {
namespace {

constexpr size_t kMostNodes = 256;
constexpr size_t kMostPods = 512;
constexpr size_t kNamesShown = 8;

std::string_view class_of(Standing standing) {
  constexpr std::string_view kClasses[] = {"none", "good", "caution", "bad"};  // as Standing
  return kClasses[static_cast<size_t>(standing)];
}

std::string state_html(Standing standing, std::string_view text) {
  return fmt::format("<span class=\"state {}\">{}</span>", class_of(standing), escaped(text));
}

// "Failed: the whole story": the word as a badge, the story beside it.
std::string told_html(Standing standing, const std::string& text) {
  const size_t colon = text.find(": ");
  if (colon == std::string::npos) return state_html(standing, text);
  return fmt::format("{} <small>{}</small>", state_html(standing, text.substr(0, colon)),
                     escaped(text.substr(colon + 2)));
}

std::string more_html(size_t all, size_t shown, std::string_view what) {
  if (all <= shown) return "";
  return fmt::format("<p class=\"quiet\">and {} more {}</p>\n", all - shown, what);
}

std::string broken_lines(const std::vector<std::string>& texts) {
  std::string out;
  for (const std::string& text : texts) out += fmt::format("{}{}", out.empty() ? "" : "<br>", escaped(text));
  return out.empty() ? "–" : out;
}

// --- nodes

std::string pf_cells(const ClusterPf& pf) {
  return fmt::format("<td>{}<small>{}</small></td><td>{}</td><td>{}</td><td>{} of {}<small>{} in use</small></td>",
                     escaped(pf.name), escaped(pf.pci), escaped(pf.link), broken_lines(pf.resources), pf.vfs,
                     pf.most_vfs, pf.in_use);
}

std::string node_rows(const ClusterNode& node) {
  const size_t rows = std::max<size_t>(1, node.pfs.size());
  std::vector<std::string> conditions;
  for (const std::string& one : node.conditions)
    conditions.push_back(state_html(one == "Ready" ? Standing::kGood : std::max(node.standing, Standing::kWaits), one));
  std::string out = fmt::format(
      "<tr><th scope=\"row\" rowspan=\"{0}\">{1}</th><td rowspan=\"{0}\">{2}</td><td rowspan=\"{0}\">{3}</td>", rows,
      escaped(node.name), fmt::format("{}", fmt::join(conditions, "<br>")), told_html(node.state_standing, node.state));
  if (node.pfs.empty()) return out + "<td colspan=\"4\" class=\"quiet\">no NIC that can make VFs</td></tr>\n";
  for (size_t i = 0; i < node.pfs.size(); ++i)
    out += fmt::format("{}{}</tr>\n", i == 0 ? "" : "<tr>", pf_cells(node.pfs[i]));
  return out;
}

std::string nodes_html(const std::vector<ClusterNode>& nodes) {
  std::string out = objects_head("Nodes", {"Node", "Conditions", "Node state", "PF", "Link", "Rails", "VFs"});
  for (size_t i = 0; i < std::min(nodes.size(), kMostNodes); ++i) out += node_rows(nodes[i]);
  return out.append(kObjectsEnd) + more_html(nodes.size(), kMostNodes, "nodes");
}

std::string names_text(const std::vector<std::string>& names) {
  std::vector<std::string> shown(names.begin(), names.begin() + static_cast<long>(std::min(names.size(), kNamesShown)));
  std::string text = fmt::format("{}", fmt::join(shown, ", "));
  if (names.size() > shown.size()) text += fmt::format(" and {} more", names.size() - shown.size());
  return text;
}

// Nodes with the same versions are one row: what differs is seen at once.
std::string versions_html(const std::vector<ClusterNode>& nodes) {
  std::map<std::map<std::string, std::string>, std::vector<std::string>> alike;
  for (const ClusterNode& node : nodes)
    if (!node.versions.empty()) alike[node.versions].push_back(node.name);
  if (alike.empty()) return "";
  constexpr std::string_view kVersions[] = {"kernel", "system", "architecture", "runtime", "kubelet"};
  std::string out = objects_head("Versions", {"Nodes", "Kernel", "System", "Architecture", "Runtime", "Kubelet"});
  for (const auto& [versions, names] : alike) {
    out += fmt::format("<tr><th scope=\"row\">{}</th>", escaped(names_text(names)));
    for (const std::string_view one : kVersions) {
      const auto found = versions.find(std::string(one));
      out += fmt::format("<td>{}</td>", found == versions.end() ? "–" : escaped(found->second));
    }
    out += "</tr>\n";
  }
  return out.append(kObjectsEnd);
}

// --- policies

std::string policy_rows(const ClusterPolicy& policy) {
  const size_t rows = std::max<size_t>(1, policy.where.size());
  std::string out = fmt::format(
      "<tr><th scope=\"row\" rowspan=\"{0}\">{1}<small>{2}</small></th><td rowspan=\"{0}\">{3}<small>of NICs: {4}</small>"
      "<small>on nodes: {5}</small></td><td rowspan=\"{0}\">{6}</td>",
      rows, escaped(policy.name), escaped(policy.ns), escaped(policy.asks), escaped(policy.nics), escaped(policy.nodes),
      told_html(policy.standing, policy.state));
  if (policy.where.empty()) return out + "<td colspan=\"3\" class=\"quiet\">on no node</td></tr>\n";
  for (size_t i = 0; i < policy.where.size(); ++i) {
    const PolicyOnNodes& on = policy.where[i];
    out += fmt::format("{}<td>{}</td><td>{}</td><td>{}{}</td></tr>\n", i == 0 ? "" : "<tr>",
                       escaped(names_text(on.nodes)), broken_lines(on.pfs), state_html(on.standing, on.state),
                       on.message.empty() ? "" : fmt::format("<small>{}</small>", escaped(on.message)));
  }
  return out;
}

std::string policies_html(const std::vector<ClusterPolicy>& policies) {
  if (policies.empty()) return "<p class=\"quiet\">No policies found.</p>\n";
  std::string out = objects_head("Policies", {"Policy", "Asks for", "State", "Nodes", "PFs", "There"});
  for (const ClusterPolicy& policy : policies) out += policy_rows(policy);
  return out.append(kObjectsEnd);
}

// --- namespaces

struct Namespace {
  std::vector<const ClusterNetwork*> networks;
  std::vector<const ClusterPod*> pods;
};

std::string networks_html(const std::vector<const ClusterNetwork*>& networks) {
  if (networks.empty()) return "";
  std::string out = objects_head("Networks", {"Network", "Resource", "Plugins", "Addresses"});
  for (const ClusterNetwork* one : networks)
    out += fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{}</td></tr>\n", escaped(one->name),
                       one->resource.empty() ? "–" : escaped(one->resource), escaped(one->plugins),
                       one->addresses.empty() ? "–" : escaped(one->addresses));
  return out.append(kObjectsEnd);
}

std::string interface_cells(const ClusterInterface& one) {
  return fmt::format("<td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td>", escaped(one.name), escaped(one.network),
                     broken_lines(one.addresses), one.vf.empty() ? "–" : escaped(one.vf),
                     one.rdma.empty() ? "–" : escaped(one.rdma));
}

std::string pod_rows(const ClusterPod& pod) {
  const size_t rows = pod.interfaces.size() + (pod.missing.empty() ? 0 : 1);
  std::string out =
      fmt::format("<tr><th scope=\"row\" rowspan=\"{0}\">{1}<small>{2}</small></th><td rowspan=\"{0}\">{3}</td>", rows,
                  escaped(pod.name), escaped(pod.phase), pod.node.empty() ? "–" : escaped(pod.node));
  for (size_t i = 0; i < pod.interfaces.size(); ++i)
    out += fmt::format("{}{}</tr>\n", i == 0 ? "" : "<tr>", interface_cells(pod.interfaces[i]));
  if (!pod.missing.empty())
    out += fmt::format("{}<td colspan=\"5\">{} <small>{}</small></td></tr>\n", pod.interfaces.empty() ? "" : "<tr>",
                       state_html(Standing::kWaits, "not attached"),
                       escaped(fmt::format("{}", fmt::join(pod.missing, ", "))));
  return out;
}

std::string pods_html(const std::vector<const ClusterPod*>& pods) {
  if (pods.empty()) return "<p class=\"quiet\">No pod uses these networks.</p>\n";
  std::string out = objects_head("Pods", {"Pod", "Node", "Interface", "Network", "Addresses", "VF", "RDMA device"});
  for (size_t i = 0; i < std::min(pods.size(), kMostPods); ++i) out += pod_rows(*pods[i]);
  return out.append(kObjectsEnd) + more_html(pods.size(), kMostPods, "pods");
}

std::string namespaces_html(const Cluster& cluster) {
  std::map<std::string, Namespace> namespaces;
  for (const ClusterNetwork& one : cluster.networks) namespaces[one.ns].networks.push_back(&one);
  for (const ClusterPod& one : cluster.pods) namespaces[one.ns].pods.push_back(&one);
  std::string out;
  for (const auto& [name, of] : namespaces)
    out += fmt::format("<h3>Namespace {}</h3>\n{}{}", escaped(name), networks_html(of.networks), pods_html(of.pods));
  return out.empty() ? "<p class=\"quiet\">No networks found, and no pod uses any.</p>\n" : out;
}

}  // namespace

std::string cluster_html(const Cluster& cluster) {
  std::string out = "<section class=\"cluster\"><h2>The cluster</h2>\n";
  for (const std::string& why : cluster.unknown)
    out += fmt::format("<p>{} <small>{}</small></p>\n", state_html(Standing::kWaits, "not shown"), escaped(why));
  out += nodes_html(cluster.nodes) + policies_html(cluster.policies) + namespaces_html(cluster) +
         versions_html(cluster.nodes);
  return out + "</section>\n";
}

}  // namespace railbed::report

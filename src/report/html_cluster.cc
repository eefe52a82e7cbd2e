// SPDX-License-Identifier: Apache-2.0
#include "report/html_cluster.h"

#include <algorithm>
#include <map>

#include "report/html_text.h"
#include "report/joined.h"

namespace railbed::report {
namespace {

constexpr size_t kMostNodes = 256;
constexpr size_t kMostPods = 512;
constexpr size_t kNamesShown = 8;

std::string_view class_of(StateSeverity severity) {
  constexpr std::string_view kClasses[] = {"none", "good", "caution", "bad"};  // as StateSeverity
  return kClasses[static_cast<size_t>(severity)];
}

Html state_html(StateSeverity severity, std::string_view text) {
  return html("<span class=\"state {}\">{}</span>", class_of(severity), text);
}

// "Failed: the whole story": the word as a badge, the story beside it.
Html worded_state_html(StateSeverity severity, const std::string& text) {
  const size_t colon = text.find(": ");
  if (colon == std::string::npos) return state_html(severity, text);
  return html("{} <small>{}</small>", state_html(severity, text.substr(0, colon)), text.substr(colon + 2));
}

Html more_html(size_t all, size_t shown, std::string_view what) {
  if (all <= shown) return {};
  return html("<p class=\"quiet\">and {} more {}</p>\n", all - shown, what);
}

void add_line(Html& lines, const Html& line) {
  if (!lines.empty()) lines += markup("<br>");
  lines += line;
}

Html broken_lines(const std::vector<std::string>& texts) {
  Html out;
  for (const std::string& text : texts) add_line(out, html("{}", text));
  return out.empty() ? markup("–") : out;
}

// The first row of a group is begun by the cells that all its rows share.
Html row_start(size_t index) {
  return index == 0 ? Html() : markup("<tr>");
}

// --- nodes

Html pf_cells(const ClusterPf& pf) {
  return html("<td>{}<small>{}</small></td><td>{}</td><td>{}</td><td>{} of {}<small>{} in use</small></td>", pf.name,
              pf.pci, pf.link, broken_lines(pf.resources), pf.vfs, pf.most_vfs, pf.in_use);
}

Html node_rows(const ClusterNode& node) {
  const size_t rows = std::max<size_t>(1, node.pfs.size());
  Html conditions;
  for (const std::string& one : node.conditions)
    add_line(conditions,
             state_html(one == "Ready" ? StateSeverity::kGood : std::max(node.severity, StateSeverity::kWaits), one));
  Html out =
      html("<tr><th scope=\"row\" rowspan=\"{0}\">{1}</th><td rowspan=\"{0}\">{2}</td><td rowspan=\"{0}\">{3}</td>",
           rows, node.name, conditions, worded_state_html(node.state_severity, node.state));
  if (node.pfs.empty()) return out + markup("<td colspan=\"4\" class=\"quiet\">no NIC that can make VFs</td></tr>\n");
  for (size_t i = 0; i < node.pfs.size(); ++i) out += html("{}{}</tr>\n", row_start(i), pf_cells(node.pfs[i]));
  return out;
}

Html nodes_html(const std::vector<ClusterNode>& nodes) {
  Html out = objects_head("Nodes", {"Node", "Conditions", "Node state", "PF", "Link", "Rails", "VFs"});
  for (size_t i = 0; i < std::min(nodes.size(), kMostNodes); ++i) out += node_rows(nodes[i]);
  return out + objects_end() + more_html(nodes.size(), kMostNodes, "nodes");
}

std::string names_text(const std::vector<std::string>& names) {
  std::vector<std::string> shown(names.begin(), names.begin() + static_cast<long>(std::min(names.size(), kNamesShown)));
  std::string text = fmt::format("{}", fmt::join(shown, ", "));
  if (names.size() > shown.size()) text += fmt::format(" and {} more", names.size() - shown.size());
  return text;
}

// Nodes with the same versions are one row: what differs is seen at once.
Html versions_html(const std::vector<ClusterNode>& nodes) {
  std::map<std::map<std::string, std::string>, std::vector<std::string>> alike;
  for (const ClusterNode& node : nodes)
    if (!node.versions.empty()) alike[node.versions].push_back(node.name);
  if (alike.empty()) return {};
  constexpr std::string_view kVersions[] = {"kernel", "system", "architecture", "runtime", "kubelet"};
  Html out = objects_head("Versions", {"Nodes", "Kernel", "System", "Architecture", "Runtime", "Kubelet"});
  for (const auto& [versions, names] : alike) {
    out += html("<tr><th scope=\"row\">{}</th>", names_text(names));
    for (const std::string_view one : kVersions) {
      const auto found = versions.find(std::string(one));
      out += html("<td>{}</td>", found == versions.end() ? "–" : found->second);
    }
    out += markup("</tr>\n");
  }
  return out + objects_end();
}

// --- policies

Html policy_rows(const ClusterPolicy& policy) {
  const size_t rows = std::max<size_t>(1, policy.where.size());
  Html out = html(
      "<tr><th scope=\"row\" rowspan=\"{0}\">{1}<small>{2}</small></th><td rowspan=\"{0}\">{3}<small>of NICs: {4}</small>"
      "<small>on nodes: {5}</small></td><td rowspan=\"{0}\">{6}</td>",
      rows, policy.name, policy.ns, policy.asks, policy.nics, policy.nodes,
      worded_state_html(policy.severity, policy.state));
  if (policy.where.empty()) return out + markup("<td colspan=\"3\" class=\"quiet\">on no node</td></tr>\n");
  for (size_t i = 0; i < policy.where.size(); ++i) {
    const PolicyOnNodes& on = policy.where[i];
    out +=
        html("{}<td>{}</td><td>{}</td><td>{}{}</td></tr>\n", row_start(i), names_text(on.nodes), broken_lines(on.pfs),
             state_html(on.severity, on.state), on.message.empty() ? Html() : html("<small>{}</small>", on.message));
  }
  return out;
}

Html policies_html(const std::vector<ClusterPolicy>& policies) {
  if (policies.empty()) return markup("<p class=\"quiet\">No policies found.</p>\n");
  Html out = objects_head("Policies", {"Policy", "Asks for", "State", "Nodes", "PFs", "There"});
  for (const ClusterPolicy& policy : policies) out += policy_rows(policy);
  return out + objects_end();
}

// --- namespaces

struct Namespace {
  std::vector<const ClusterNetwork*> networks;
  std::vector<const ClusterPod*> pods;
};

Html networks_html(const std::vector<const ClusterNetwork*>& networks) {
  if (networks.empty()) return {};
  Html out = objects_head("Networks", {"Network", "Resource", "Plugins", "Addresses"});
  for (const ClusterNetwork* one : networks)
    out += html("<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{}</td></tr>\n", one->name,
                text_or_dash(one->resource), one->plugins, text_or_dash(one->addresses));
  return out + objects_end();
}

Html interface_cells(const ClusterInterface& one) {
  return html("<td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td>", one.name, one.network,
              broken_lines(one.addresses), text_or_dash(one.vf), text_or_dash(one.rdma));
}

Html pod_rows(const ClusterPod& pod) {
  const size_t rows = pod.interfaces.size() + (pod.missing.empty() ? 0 : 1);
  Html out = html("<tr><th scope=\"row\" rowspan=\"{0}\">{1}<small>{2}</small></th><td rowspan=\"{0}\">{3}</td>", rows,
                  pod.name, pod.phase, text_or_dash(pod.node));
  for (size_t i = 0; i < pod.interfaces.size(); ++i)
    out += html("{}{}</tr>\n", row_start(i), interface_cells(pod.interfaces[i]));
  if (!pod.missing.empty())
    out += html("{}<td colspan=\"5\">{} <small>{}</small></td></tr>\n", row_start(pod.interfaces.size()),
                state_html(StateSeverity::kWaits, "not attached"), joined(pod.missing));
  return out;
}

Html pods_html(const std::vector<const ClusterPod*>& pods) {
  if (pods.empty()) return markup("<p class=\"quiet\">No pod uses these networks.</p>\n");
  Html out = objects_head("Pods", {"Pod", "Node", "Interface", "Network", "Addresses", "VF", "RDMA device"});
  for (size_t i = 0; i < std::min(pods.size(), kMostPods); ++i) out += pod_rows(*pods[i]);
  return out + objects_end() + more_html(pods.size(), kMostPods, "pods");
}

Html namespaces_html(const Cluster& cluster) {
  std::map<std::string, Namespace> namespaces;
  for (const ClusterNetwork& one : cluster.networks) namespaces[one.ns].networks.push_back(&one);
  for (const ClusterPod& one : cluster.pods) namespaces[one.ns].pods.push_back(&one);
  Html out;
  for (const auto& [name, of] : namespaces)
    out += html("<h3>Namespace {}</h3>\n{}{}", name, networks_html(of.networks), pods_html(of.pods));
  return out.empty() ? markup("<p class=\"quiet\">No networks found, and no pod uses any.</p>\n") : out;
}

}  // namespace

Html cluster_html(const Cluster& cluster) {
  Html out = markup("<section class=\"cluster\"><h2>The cluster</h2>\n");
  for (const std::string& why : cluster.unknown)
    out += html("<p>{} <small>{}</small></p>\n", state_html(StateSeverity::kWaits, "not shown"), why);
  out += nodes_html(cluster.nodes) + policies_html(cluster.policies) + namespaces_html(cluster) +
         versions_html(cluster.nodes);
  return out + markup("</section>\n");
}

}  // namespace railbed::report

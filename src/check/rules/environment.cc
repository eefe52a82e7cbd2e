// SPDX-License-Identifier: Apache-2.0
// Environment variables of NCCL, UCX, NVSHMEM and KServe: names, values, and whether they suit the pod.
#include <algorithm>
#include <map>
#include <set>

#include "check/rules/device_lists.h"
#include "check/rules/env_settings.h"
#include "check/rules/families.h"
#include "check/rules/lookups.h"
#include "doc/scalar.h"

namespace railbed::check {
namespace {

using doc::Value;

// Calls `visit` for each variable whose row has `field` and whose value is in the manifest.
template <typename Visit>
void each_with(const Input& in, std::string_view field, Visit visit) {
  for (const PodView& pod : in.views.pods)
    for (const Setting& setting : settings_of(pod))
      if (setting.row != nullptr && setting.row->find(field) != nullptr && setting.value != nullptr &&
          setting.text.find("$(") == std::string::npos)
        visit(setting, *setting.row->find(field));
}

bool same(std::string_view a, std::string_view b) {
  return lower(a) == lower(b);
}

bool listed(const Value& list, std::string_view text) {
  return std::ranges::any_of(
      *list.as_array(), [&](const Value& one) { return one.as_string() != nullptr && same(*one.as_string(), text); });
}

bool has_rdma(const Input& in, const PodView& pod) {
  return std::ranges::any_of(
      pod.networks, [&](const PodView::Net& net) { return net.network != nullptr && in.views.rdma(*net.network); });
}

void level_as_number(const Input& in, Findings& out) {
  each_with(in, "levels", [&](const Setting& setting, const Value& levels) {
    const auto number = doc::plain_integer(setting.text);
    const Value::Array& names = *levels.as_array();
    if (!number || *number < 0) return;
    const std::string name = *names[std::min(static_cast<size_t>(*number), names.size() - 1)].as_string();
    const bool far = name == "SYS" && setting.name == "NCCL_NET_GDR_LEVEL";
    out.warning(setting.value->span,
                fmt::format("{} is an old number and means {}{}", setting.text, name,
                            far ? ": GPUDirect even when NIC and GPU are on different sockets, which is often "
                                  "slower than through host memory"
                                : ""))
        .with_fix(far ? "remove it (NCCL uses PXB), or use a measured level: PXB, PHB" : "write the name: " + name);
  });
}

void set_to_default(const Input& in, Findings& out) {
  each_with(in, "obvious", [&](const Setting& setting, const Value&) {
    if (text_at(*setting.row, "default") != setting.text) return;
    out.note(setting.value->span,
             fmt::format("{} is {} by default: this line has no effect and proves nothing", setting.name, setting.text))
        .with_fix("leave it out; NCCL_DEBUG=INFO shows what is used (NET/IB : Using …)")
        .about_field(setting.name);
  });
}

void fixed_gid_index(const Input& in, Findings& out) {
  each_with(in, "gid", [&](const Setting& setting, const Value&) {
    const auto& networks = setting.pod->networks;
    const bool roce = std::ranges::any_of(
        networks, [&](const PodView::Net& net) { return net.network != nullptr && in.views.roce(*net.network); });
    if (!roce || text_at(*setting.row, "default") == setting.text) return;
    out.warning(setting.value->span,
                fmt::format("the index of a VF's RoCE v2 address differs from pod to pod and from port to port: with a "
                            "fixed {} connections fail or use RoCE v1",
                            setting.name))
        .with_fix(setting.name.starts_with("NCCL") ? "leave it out (NCCL 2.21 and later choose), or NCCL_IB_ADDR_RANGE"
                                                   : "leave it out");
  });
}

// What decides which entries a port's GID table has: the link, and the families of its addresses. Empty where
// the bundle does not say.
std::string table_of(const PodView::Net& net) {
  if (net.network == nullptr || !net.network->addresses) return {};
  std::string families = net.network->infiniband() ? "InfiniBand" : "";
  for (const auto& set : net.network->addresses->range_sets)
    if (!set.empty()) families += set.front().subnet.address.family == IpFamily::kV4 ? " IPv4" : " IPv6";
  return families;
}

void one_index_for_all(const Input& in, Findings& out) {
  for (const PodView& pod : in.views.pods)
    for (const Setting& setting : settings_of(pod)) {
      if (setting.name != "KSERVE_INFER_ROCE" || !same(setting.text, "true")) continue;
      const auto differs = std::ranges::find_if(pod.networks, [&](const PodView::Net& net) {
        const std::string first = table_of(pod.networks.front());
        return !first.empty() && !table_of(net).empty() && table_of(net) != first;
      });
      if (differs == pod.networks.end()) continue;
      out.warning(setting.value->span,
                  fmt::format("the start script uses one GID index for all networks, the most common one, and the "
                              "tables of {} and {} differ: one of them is not usable",
                              pod.networks.front().interface, differs->interface))
          .note(pod.networks.front().selection->name.span, "this network has other addresses")
          .note(differs->selection->name.span, "than this one")
          .with_fix("addresses of the same families on all networks, or leave it out and let NCCL and UCX choose");
    }
}

// A letter missing, doubled or swapped with its neighbour, in a long name: libraries whose variables are not all known
// may have one with another letter (RX, TX), and none of these.
bool is_typing_error(std::string_view name, std::string_view near) {
  constexpr size_t kLong = 10;
  if (near.size() < kLong || !doc::are_one_slip_apart(name, near)) return false;
  std::string letters(name);
  std::string right(near);
  std::ranges::sort(letters);
  std::ranges::sort(right);
  return name.size() != near.size() || letters == right;
}

// Whether a variable is nearly one that its container does not have, of a library whose variables are all known. Names
// that differ in a number may be those of two devices.
bool is_sure_slip(const Setting& setting, const std::string& near) {
  if (differ_in_numbers(setting.name, near) || setting.container->env(near) != nullptr) return false;
  const bool known = setting.name.starts_with("NCCL_") || setting.name.starts_with("NVSHMEM_");
  return known || is_typing_error(setting.name, near);
}

bool is_of_incomplete_list(std::string_view name) {
  const auto prefixes = texts_at(known_variables().data, "incomplete");
  return std::ranges::any_of(prefixes, [&](const Word& one) { return name.starts_with(one.text); });
}

void misspelt(const Input& in, Findings& out) {
  for (const PodView& pod : in.views.pods)
    for (const Setting& setting : settings_of(pod)) {
      if (setting.row != nullptr) continue;
      const auto prefixes = texts_at(known_variables().data, "prefixes");
      if (std::ranges::none_of(prefixes, [&](const Word& one) { return setting.name.starts_with(one.text); })) continue;
      const std::string near = doc::nearest(setting.name, known_variables().names);
      if (near.empty() || (is_of_incomplete_list(setting.name) && !is_typing_error(setting.name, near))) continue;
      auto& reported =
          out.warning(setting.name_span, fmt::format("unknown variable {}: no library reads it", setting.name))
              .with_fix("did you mean " + near + "?");
      reported.fails_where_applied = is_sure_slip(setting, near);
      if (setting.name_span.length == static_cast<int>(setting.name.size()))
        reported.with_edit(setting.name_span, near);
    }
}

// Whether a variable takes numbers only: a word is refused by the library's own parser, in every version.
bool takes_numbers(const Value& row) {
  const std::string_view type = text_at(row, "type");
  if (type == "flag" || type == "integer") return true;
  const std::vector<Word> choices = texts_at(row, "choices");
  return !choices.empty() &&
         std::ranges::all_of(choices, [](const Word& one) { return doc::plain_integer(one.text).has_value(); });
}

// Whether no version of the library takes a word: its words are few and old, or it is longer than all names of levels
// ("PIX", "SYS", "NODE").
bool is_no_word_of(const Value& row, std::string_view text) {
  constexpr size_t kLongestLevel = 4;
  if (flag_at(row, "closed").value_or(false)) return true;
  return row.find("levels") != nullptr && text.size() > kLongestLevel &&
         text.find_first_of("0123456789") == std::string_view::npos;
}

void wrong_value(const Input& in, Findings& out) {
  for (const PodView& pod : in.views.pods)
    for (const Setting& setting : settings_of(pod)) {
      if (setting.row == nullptr || setting.value == nullptr || setting.text.empty() ||
          setting.text.find('$') != std::string::npos || setting.row->find("retired") != nullptr)
        continue;
      const Value* choices = setting.row->find("choices");
      const std::string_view type = text_at(*setting.row, "type");
      std::string wanted;
      const bool is_word = takes_numbers(*setting.row) && setting.text.find_first_of("0123456789") == std::string::npos;
      if (choices != nullptr && !listed(*choices, setting.text)) {
        std::vector<std::string> names;
        for (const Word& word : texts_at(*setting.row, "choices")) names.push_back(word.text);
        wanted = fmt::format("one of {}", fmt::join(names, ", "));
      } else if (type == "flag" && setting.text != "0" && setting.text != "1") {
        wanted = "0 or 1";
      } else if (type == "integer" && !doc::plain_integer(setting.text)) {
        wanted = "a whole number";
      }
      if (wanted.empty()) continue;
      out.warning(setting.value->span, fmt::format("{} takes {}, not \"{}\": it is ignored or read as 0", setting.name,
                                                   wanted, setting.text))
          .with_fix(fmt::format("value: {}", wanted))
          .fails_where_applied = is_word || is_no_word_of(*setting.row, setting.text);
    }
}

// Whether a list of UCX transports has one that does RDMA.
bool ucx_has_rdma(std::string_view tls) {
  if (tls.starts_with('^')) return true;
  return std::ranges::any_of(comma_parts(tls), [](const std::string& one) {
    return one == "all" || one == "ib" || one.starts_with("rc") || one.starts_with("ud") || one.starts_with("dc") ||
           one.starts_with("gga");
  });
}

void rdma_switched_off(const Input& in, Findings& out) {
  const auto report = [&](const Setting& setting) {
    out.warning(setting.value->span, fmt::format("{}={} disables RDMA, but {} has RDMA networks: they stay unused",
                                                 setting.name, setting.text, setting.pod->pod->label()))
        .note(setting.pod->networks.front().selection->name.span, "its networks")
        .with_fix("leave it out");
  };
  each_with(in, "off", [&](const Setting& setting, const Value& off) {
    if (listed(off, setting.text) && has_rdma(in, *setting.pod)) report(setting);
  });
  for (const PodView& pod : in.views.pods)
    for (const Setting& setting : settings_of(pod))
      if (setting.name == "UCX_TLS" && setting.value != nullptr && !setting.text.empty() &&
          !ucx_has_rdma(setting.text) && has_rdma(in, pod))
        report(setting);
}

// "mlx5_3", "=mlx5_3:1": a device by its number.
bool is_numbered(std::string_view device) {
  while (device.starts_with('=') || device.starts_with('^')) device.remove_prefix(1);
  const size_t digits = device.find_first_of("0123456789", device.find('_') + 1);
  return device.starts_with("mlx5_") && digits == 5;
}

// Whether several pods get the same setting.
bool for_many_pods(const Input& in, const Setting& setting) {
  if (setting.pod->pod->replicas > 1 || setting.pod->pod->per_node) return true;
  // Looks only at the first pods: searching a long list for each setting would take quadratic time.
  const auto near = std::span(in.views.pods).first(std::min<size_t>(in.views.pods.size(), 64));
  return std::ranges::any_of(near, [&](const PodView& pod) {
    return &pod != setting.pod && std::ranges::any_of(pod.pod->containers, [&](const Container& container) {
      const Value* other = container.env(setting.name);
      return other != nullptr && *other == *setting.value;
    });
  });
}

void device_by_number(const Input& in, Findings& out) {
  each_with(in, "devices", [&](const Setting& setting, const Value&) {
    if (!has_rdma(in, *setting.pod) || setting.text.starts_with('^')) return;
    const auto parts = comma_parts(setting.text);
    const auto numbered = std::ranges::find_if(parts, [](const std::string& one) { return is_numbered(one); });
    if (numbered == parts.end() || !for_many_pods(in, setting)) return;
    out.warning(setting.value->span,
                fmt::format("{} is another device in every pod and on every node: VFs are numbered in the "
                            "order in which they appear",
                            *numbered))
        .with_fix(setting.name == "NCCL_IB_HCA" ? "NCCL_IB_HCA=mlx5 takes all that the pod has"
                                                : "leave it out, or find the names when the pod starts");
  });
}

// A node on which the pod may run that has none of the interfaces of the list; null where each has one.
const graph::Graph* node_without(const Input& in, const PodView& pod, const DeviceList& list) {
  for (const graph::Graph* graph : nodes_for(in, *pod.pod)) {
    const auto names = interfaces_of(*graph->facts);
    const auto is_taken = [&](const std::string& name) { return list.takes(name); };
    if (!list.takes("lo") && std::ranges::none_of(names, is_taken) &&
        std::ranges::none_of(in.settings.lent_interfaces, is_taken))
      return graph;
  }
  return nullptr;
}

void interface_not_on_the_node(const Input& in, const Setting& setting, const DeviceList& list, Findings& out) {
  const graph::Graph* node = node_without(in, *setting.pod, list);
  if (node == nullptr) return;
  auto& reported = out.error(setting.value->span,
                             fmt::format("{} is in the host's network, and node {} has no interface {}: the library "
                                         "fails without one",
                                         setting.pod->pod->label(), node->facts->node, setting.text));
  reported.with_fix(fmt::format("one of {}", fmt::join(interfaces_of(*node->facts), ", ")));
  if (!must_run_on(*setting.pod->pod, *node)) reported.at_most(doc::Confidence::kMedium, std::string(kOtherNodes));
}

void interface_not_there(const Input& in, Findings& out) {
  each_with(in, "interface", [&](const Setting& setting, const Value&) {
    const PodView& pod = *setting.pod;
    const bool exact = setting.row->find("exact") != nullptr;
    const DeviceList list = parse_device_list(setting.text, exact ? ListGrammar::kNames : ListGrammar::kNccl);
    if (list.exclude || list.entries.empty() || setting.text.find('*') != std::string::npos) return;
    if (pod.pod->host_network()) return interface_not_on_the_node(in, setting, list, out);
    if (pod.networks.empty()) return;
    std::set<std::string> names = {"lo", "eth0"};
    for (const PodView::Net& net : pod.networks) names.insert(net.interface);
    if (std::ranges::any_of(names, [&](const std::string& name) { return list.takes(name); })) return;
    out.error(setting.value->span,
              fmt::format("{} has no interface {}: its interfaces are {}, and the library fails without one",
                          pod.pod->label(), setting.text, fmt::join(names, ", ")))
        .note(pod.networks.front().selection->name.span, "networks become net1, net2, … unless they are named")
        .with_fix("eth0");
  });
}

void retired(const Input& in, Findings& out) {
  for (const PodView& pod : in.views.pods)
    for (const Setting& setting : settings_of(pod)) {
      if (setting.row == nullptr || setting.row->find("retired") == nullptr) continue;
      out.note(setting.name_span, fmt::format("{} is no longer read", setting.name))
          .with_fix(fmt::format("{}, or leave it out", text_at(*setting.row, "retired")));
    }
}

constexpr Rule kEnvironmentRules[] = {
    {"RB-ENV-001", "a distance as an old number", Needs::kNothing, level_as_number},
    {"RB-ENV-002", "a variable set to what it is anyway", Needs::kNothing, set_to_default},
    {"RB-ENV-003", "a fixed GID index on RoCE", Needs::kNothing, fixed_gid_index},
    {"RB-ENV-004", "one GID index for several networks", Needs::kNothing, one_index_for_all},
    {"RB-ENV-005", "a misspelt variable", Needs::kNothing, misspelt},
    {"RB-ENV-006", "a value that the variable does not take", Needs::kNothing, wrong_value},
    {"RB-ENV-007", "RDMA switched off in a pod with RDMA networks", Needs::kNothing, rdma_switched_off},
    {"RB-ENV-008", "an RDMA device by its number", Needs::kNothing, device_by_number},
    {"RB-ENV-009", "an interface that the pod does not have", Needs::kNothing, interface_not_there},
    {"RB-ENV-010", "a variable that is no longer read", Needs::kNothing, retired},
};

}  // namespace

std::span<const Rule> environment_rules() {
  return kEnvironmentRules;
}

}  // namespace railbed::check

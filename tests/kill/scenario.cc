// SPDX-License-Identifier: Apache-2.0
#include "scenario.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <sstream>
#include <stdexcept>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

namespace railbed::kill {
namespace {

// A range of one address, so that a pod always gets the same one and a leaked one is noticed at once.
std::string host_local(int net) {
  return fmt::format(
      R"("ipam":{{"type":"host-local","ranges":[[{{"subnet":"10.{0}.0.0/24","rangeStart":"10.{0}.0.7","rangeEnd":"10.{0}.0.7"}}]],"routes":[{{"dst":"172.16.{0}.0/24"}}]}})",
      net);
}
std::string four_addresses(int net) {
  return fmt::format(
      R"("ipam":{{"type":"host-local","ranges":[[{{"subnet":"10.{0}.0.0/24","rangeStart":"10.{0}.0.7","rangeEnd":"10.{0}.0.10"}}]]}})",
      net);
}
std::string whereabouts(int net) {
  return fmt::format(
      R"("ipam":{{"type":"whereabouts","range":"10.{0}.0.0/24","range_start":"10.{0}.0.16","exclude":["10.{0}.0.16/30"]}})",
      net);
}

Network::Plugin macvlan(const std::string& parent, const std::string& ipam) {
  return {"macvlan", fmt::format(R"("master":"{}","mode":"bridge","mtu":8900,{})", parent, ipam)};
}
Network::Plugin host_device(const std::string& device, const std::string& ipam) {
  return {"host-device", fmt::format(R"("device":"{}",{})", device, ipam)};
}

const Network::Plugin kTuning{
    "tuning",
    R"("mtu":1300,"mac":"02:00:00:00:0b:01","promisc":true,"sysctl":{"net.ipv4.conf.IFNAME.arp_filter":"1"})"};
const Network::Plugin kSbr{"sbr", ""};

// The networks of the pod that the meta plugin attaches.
struct Named {
  const char* name;
  std::vector<Network::Plugin> plugins;
};
std::vector<Named> meta_networks() {
  return {{"dev1", {host_device("va1", host_local(31))}},
          {"mac0", {macvlan("pa0", whereabouts(32))}},
          {"mac1", {macvlan("pa1", whereabouts(33))}},
          {"dev3", {host_device("va3", whereabouts(34)), kTuning}}};
}

// The exit status of `program`, started under the plugin's name.
int run_with_input(const std::string& program, std::string name, std::vector<std::string> environment,
                   const std::string& input) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return -1;
  pid_t child = ::fork();
  if (child == 0) {
    ::dup2(ends[0], 0);
    int nowhere = ::open("/dev/null", O_WRONLY);
    ::dup2(nowhere, 1);
    std::vector<char*> variables;
    for (std::string& one : environment) variables.push_back(one.data());
    variables.push_back(nullptr);
    char* arguments[] = {name.data(), nullptr};
    ::execve(program.c_str(), arguments, variables.data());
    ::_exit(127);
  }
  ::close(ends[0]);
  bool written = ::write(ends[1], input.data(), input.size()) == static_cast<ssize_t>(input.size());
  ::close(ends[1]);
  int status = -1;
  ::waitpid(child, &status, 0);
  return written && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

std::string plugin_json(const Network::Plugin& plugin) {
  return fmt::format(R"({{"type":"{}"{}{}}})", plugin.type, plugin.members.empty() ? "" : ",", plugin.members);
}

}  // namespace

std::vector<Scenario> scenarios() {
  return {
      {"macvlan and whereabouts", "macvlan", {{"m", "net1", {macvlan("pa0", whereabouts(11))}}}, true},
      {"macvlan and host-local", "local", {{"l", "net1", {macvlan("pa1", host_local(12))}}}, true},
      {"host-device and host-local", "device", {{"d", "net1", {host_device("va0", host_local(13))}}}},
      {"host-device, tuning and sbr",
       "chain",
       {{"c", "net1", {host_device("va2", whereabouts(14)), kTuning, kSbr}},
        {"c2", "net2", {macvlan("pa0", whereabouts(15)), kTuning}}}},
      {"four pods at once",
       "burst",
       {{"b", "net1", {macvlan("pa0", whereabouts(16))}}, {"b2", "net2", {macvlan("pa1", four_addresses(17))}}},
       true,
       4},
      {"the meta plugin and four networks",
       "meta",
       {{"railbed",
         "eth0",
         {{"railbed", fmt::format(R"("delegates":[{{"cniVersion":"1.0.0","name":"pods","plugins":[{}]}}])",
                                  plugin_json(macvlan("pa1", host_local(30))))}}}}},
  };
}

std::vector<Scenario> read_scenarios(const std::string& text) {
  std::vector<Scenario> all;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::vector<std::string> fields;
    for (size_t from = 0; fields.size() < 5;) {
      size_t bar = fields.size() == 4 ? std::string::npos : line.find('|', from);
      std::string field = line.substr(from, bar == std::string::npos ? bar : bar - from);
      field.erase(0, field.find_first_not_of(' '));
      field.erase(field.find_last_not_of(' ') + 1);
      fields.push_back(field);
      if (bar == std::string::npos) break;
      from = bar + 1;
    }
    if (fields.size() != 5)
      throw std::runtime_error("not \"scenario | network | interface | plugin | members\": " + line);
    if (all.empty() || all.back().name != fields[0]) all.push_back({.name = fields[0], .pod = fields[0]});
    std::vector<Network>& networks = all.back().networks;
    if (networks.empty() || networks.back().interface != fields[2]) networks.push_back({fields[1], fields[2], {}});
    networks.back().plugins.push_back({fields[3], fields[4]});
  }
  return all;
}

std::string manifests() {
  std::string text, list;
  for (const Named& network : meta_networks()) {
    std::string plugins;
    for (const Network::Plugin& plugin : network.plugins) plugins += (plugins.empty() ? "" : ",") + plugin_json(plugin);
    text += fmt::format(
        "apiVersion: k8s.cni.cncf.io/v1\nkind: NetworkAttachmentDefinition\nmetadata: {{name: {0}, "
        "namespace: "
        "default}}\n"
        "spec:\n  config: '{{\"cniVersion\":\"1.0.0\",\"name\":\"{0}\",\"plugins\":[{1}]}}'\n---\n",
        network.name, plugins);
    list += (list.empty() ? "" : ", ") + std::string(network.name);
  }
  return text + fmt::format(
                    "apiVersion: v1\nkind: Pod\nmetadata:\n  name: meta\n  namespace: default\n  annotations:\n"
                    "    k8s.v1.cni.cncf.io/networks: {}\nspec:\n  containers: [{{name: main, image: none}}]\n",
                    list);
}

void Runtime::new_container() {
  static std::atomic<int> number{0};
  container_ = fmt::format("c{:06}x", ++number);
  results_.assign(scenario_.networks.size(), "");
}

std::string Runtime::config_of(const Network& network, const Network::Plugin& plugin,
                               const std::string& previous) const {
  return fmt::format(R"({{"cniVersion":"1.0.0","name":"{}","type":"{}"{}{}{}}})", network.name, plugin.type,
                     (plugin.members.empty() ? "" : ",") + plugin.members, previous.empty() ? "" : R"(,"prevResult":)",
                     previous);
}

std::vector<std::string> Runtime::environment_of(const std::string& command, const Network& network) const {
  return {
      "CNI_COMMAND=" + command,
      "CNI_CONTAINERID=" + container_,
      "CNI_NETNS=" + netns_,
      "CNI_IFNAME=" + network.interface,
      "CNI_PATH=/opt/cni/bin",
      fmt::format(
          "CNI_ARGS=IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME={};K8S_POD_INFRA_CONTAINER_ID={};K8S_POD_UID=u-{}",
          pod_, container_, pod_)};
}

bool Runtime::call(const std::string& command, const Network& network, const Network::Plugin& plugin,
                   const std::string& previous, std::string& output) {
  std::string config = config_of(network, plugin, previous);
  std::vector<std::string> environment = environment_of(command, network);
  for (int tries = 0; tries < 4000; ++tries) {
    std::optional<Answer> answer = agent_.request(plugin.type, environment, config);
    if (!answer) return false;
    output = answer->output;
    if (answer->status == 0) {
      refusal_.clear();
      return true;
    }
    refusal_ = fmt::format("{} of {} ({}): {}", command, network.name, plugin.type, answer->output);
    if (answer->output.find("\"code\": 11") == std::string::npos) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));  // the answer was "again later"
  }
  return false;
}

bool Runtime::add() {
  refusal_.clear();
  for (size_t i = 0; i < scenario_.networks.size(); ++i) {
    std::string result;
    for (const Network::Plugin& plugin : scenario_.networks[i].plugins) {
      std::string output;
      if (!call("ADD", scenario_.networks[i], plugin, result, output)) return false;
      result = output;
    }
    results_[i] = result;
  }
  return true;
}

bool Runtime::del() {
  refusal_.clear();
  for (size_t i = scenario_.networks.size(); i-- > 0;) {
    const Network& network = scenario_.networks[i];
    for (size_t plugin = network.plugins.size(); plugin-- > 0;) {
      std::string output;
      if (!call("DEL", network, network.plugins[plugin], results_[i], output)) return false;
    }
  }
  return true;
}

bool Runtime::del_by_shim(const std::string& railbed_cni) {
  refusal_.clear();
  for (size_t i = scenario_.networks.size(); i-- > 0;) {
    const Network& network = scenario_.networks[i];
    for (size_t plugin = network.plugins.size(); plugin-- > 0;) {
      std::string config = config_of(network, network.plugins[plugin], results_[i]);
      int status = run_with_input(railbed_cni, network.plugins[plugin].type, environment_of("DEL", network), config);
      if (status == 0) continue;
      refusal_ = fmt::format("railbed-cni ended with status {} for DEL of {} without an agent", status, network.name);
      return false;
    }
  }
  return true;
}

template <typename Call>
bool Pods::each(bool attached, Call call) {
  std::vector<std::thread> threads;
  std::vector<char> good(runtimes_.size(), 1);
  for (size_t i = 0; i < runtimes_.size(); ++i)
    if ((attached_[i] != 0) == attached) threads.emplace_back([&, i] { good[i] = call(i) ? 1 : 0; });
  for (std::thread& one : threads) one.join();
  return std::ranges::all_of(good, [](char one) { return one != 0; });
}

bool Pods::add() {
  return each(false, [&](size_t i) { return (attached_[i] = runtimes_[i].add() ? 1 : 0) != 0; });
}

bool Pods::undo() {
  return each(false, [&](size_t i) { return runtimes_[i].del() && again(i); });
}

bool Pods::del() {
  return each(true, [&](size_t i) { return runtimes_[i].del() && again(i); });
}

bool Pods::del_by_shim(const std::string& railbed_cni) {
  return each(true, [&](size_t i) { return runtimes_[i].del_by_shim(railbed_cni) && again(i); });
}

bool Pods::again(size_t pod) {
  attached_[pod] = 0;
  runtimes_[pod].new_container();
  return true;
}

void Pods::set_netns(const std::vector<std::string>& paths) {
  for (size_t i = 0; i < runtimes_.size(); ++i) runtimes_[i].set_netns(paths[i]);
}

std::string Pods::refusal() const {
  for (const Runtime& one : runtimes_)
    if (!one.refusal().empty()) return one.refusal();
  return "";
}

}  // namespace railbed::kill

// SPDX-License-Identifier: Apache-2.0
// What the kill loop attaches and detaches, and the runtime that asks for it: plugins of a network one after
// the other, as the CNI specification says, each with the result of the one before.
//
// Threading: a Runtime belongs to one thread at a time. Failure: what the agent answered, in words.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agent.h"

namespace railbed::kill {

struct Network {
  std::string name;
  std::string interface;
  struct Plugin {
    std::string type;
    std::string members;  // JSON members without the braces
  };
  std::vector<Plugin> plugins;
};

struct Scenario {
  std::string name;
  std::string pod;  // also the namespace's name
  std::vector<Network> networks;
  bool made = false;  // all interfaces are created for the pod, and vanish with its namespace
  int pods = 1;       // this many at once, each with these networks; then called "pod1", "pod2", …

  std::string pod_name(int number) const { return pods == 1 ? pod : pod + std::to_string(number + 1); }
};

std::vector<Scenario> scenarios();
// Reads lines "scenario | network | interface | plugin | JSON members", one per plugin; the plugins of a network follow
// each other. For machines with other devices than those of machine.h.
std::vector<Scenario> read_scenarios(const std::string& text);
// Manifests of the pods, which the meta plugin reads.
std::string manifests();

class Runtime {
 public:
  Runtime(Agent& agent, const Scenario& scenario, std::string pod, std::string netns)
      : agent_(agent), scenario_(scenario), pod_(std::move(pod)), netns_(std::move(netns)) {
    new_container();
  }

  void new_container();  // the next attempt has a new id
  // Adds all networks. False when the agent ended before it answered, or answered with an error (then refusal() has
  // it).
  bool add();
  bool del();
  // DEL of all networks by railbed-cni, the program that a container runtime starts, while the agent is down:
  // railbed-cni keeps the requests on disk.
  bool del_by_shim(const std::string& railbed_cni);
  void set_netns(std::string path) { netns_ = std::move(path); }
  const std::string& refusal() const { return refusal_; }

 private:
  std::string config_of(const Network& network, const Network::Plugin& plugin, const std::string& previous) const;
  std::vector<std::string> environment_of(const std::string& command, const Network& network) const;
  bool call(const std::string& command, const Network& network, const Network::Plugin& plugin,
            const std::string& previous, std::string& output);
  Agent& agent_;
  const Scenario& scenario_;
  std::string pod_;
  std::string netns_;
  std::string container_;
  std::vector<std::string> results_;  // of the scenario's networks; "" where there is none
  std::string refusal_;
};

// The pods of a scenario, all at once, with a thread each.
class Pods {
 public:
  explicit Pods(std::vector<Runtime> runtimes) : runtimes_(std::move(runtimes)), attached_(runtimes_.size()) {}

  // Each call covers the pods for which it has not succeeded yet, and returns whether it has for all of them now.
  bool add();
  bool undo();  // DEL after a failed ADD, and a new container id
  bool del();
  bool del_by_shim(const std::string& railbed_cni);
  void set_netns(const std::vector<std::string>& paths);
  std::string refusal() const;  // empty: the agent was gone before it answered

 private:
  template <typename Call>
  bool each(bool attached, Call call);
  bool again(size_t pod);  // the pod is detached; its next attempt is another container
  std::vector<Runtime> runtimes_;
  std::vector<char> attached_;
};

}  // namespace railbed::kill

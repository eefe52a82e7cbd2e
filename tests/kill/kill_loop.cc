// SPDX-License-Identifier: Apache-2.0
// kill -9 of the agent before and after its changes to the machine, then what a runtime does: start the agent, DEL what
// failed, ADD again. After each kill the complete state is compared with that of a run without kills.
//
//   kill_loop --railbed FILE --shim FILE --work DIR [--every | --once] [--share I/N] [--kills N] [--seed S]
//   [--only TEXT]
//
// --every goes through all calls of ADD, of DEL and of the start after a kill, one after the other (--share I/N: the
// I-th of N parts of them); --kills adds that many at random calls and at random times, also several in a row. It works
// on the namespaces in which it is started: tests/kill/run makes them. Prints PASS and FAIL lines; status 1 after a
// FAIL.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <thread>

#include <fmt/format.h>

#include "agent.h"
#include "machine.h"
#include "scenario.h"

namespace railbed::kill {
namespace {

using std::chrono::microseconds;
using Lines = std::vector<std::string>;

// When the agent dies: at a call, or some time after the request has begun.
struct Kill {
  unsigned at = 0;
  bool after = false;
  int microseconds = 0;
  unsigned start_at = 0;  // and once more at this call of the following start
  bool again = false;     // and once more during the runtime's retry
  // DEL only: railbed-cni sends it again before the agent is back; the pod's namespace has ended meanwhile, or lost its
  // name.
  bool by_shim = false, netns_ends = false, loses_name = false;

  bool planned() const { return at != 0 || microseconds != 0; }
  std::string to_string() const {
    std::string text = microseconds != 0 ? fmt::format("{} us after the request", microseconds)
                                         : fmt::format("{} call {}", after ? "after" : "before", at);
    if (start_at != 0) text += fmt::format(", then before call {} of the next start", start_at);
    if (again) text += ", then once more in the retry";
    if (by_shim) text += ", repeated by railbed-cni without the agent";
    if (netns_ends) text += ", the namespace ended";
    if (loses_name) text += ", the namespace lost its name";
    return text;
  }
};

struct Totals {
  int kills = 0, lost = 0, doubled = 0, refused = 0;
};

struct Sizes {
  unsigned add = 0, del = 0, start = 0;  // numbers of changing calls in runs without kills
  int add_us = 0, del_us = 0;
};

struct Options {
  std::string railbed, shim, work, only, networks, cni;
  bool every = false, twice = false;
  int kills = 0, share = 0, shares = 1, patience = 20000;
  unsigned seed = 1;
};

std::vector<Runtime> runtimes(Agent& agent, const Machine& machine, const Scenario& scenario) {
  std::vector<Runtime> all;
  for (int i = 0; i < scenario.pods; ++i)
    all.emplace_back(agent, scenario, scenario.pod_name(i), machine.pod_path(scenario.pod_name(i)));
  return all;
}

class Loop {
 public:
  Loop(Agent& agent, Machine& machine, const Scenario& scenario, std::mt19937& random, Totals& totals,
       const Options& options)
      : cni_(options.cni),
        patience_(options.patience),
        agent_(agent),
        machine_(machine),
        scenario_(scenario),
        random_(random),
        totals_(totals),
        pods_(runtimes(agent, machine, scenario)) {}

  // Records the machine's state with and without the pod's networks, and how many calls lead there.
  bool learn() {
    agent_.start();
    detached_ = settled();
    for (int turn = 0; turn < 2; ++turn) {  // twice, because the first turn also makes folders
      if (!timed(sizes_.add, sizes_.add_us, [&] { return pods_.add(); })) return complain("ADD without a kill");
      attached_ = settled();
      if (!timed(sizes_.del, sizes_.del_us, [&] { return pods_.del(); })) return complain("DEL without a kill");
      if (turn == 0) detached_ = settled();
    }
    agent_.stop();
    agent_.start();
    sizes_.start = agent_.calls();
    return same("a start without a kill", detached_);
  }
  const Sizes& sizes() const { return sizes_; }

  // Attaches and detaches once, with a kill in each.
  void cycle(const Kill& in_add, const Kill& in_del) {
    start_was_killed_ = false;
    if (broken_ >= 8) return;  // enough failures to look at
    agent_.start();
    bool good = go(
                    in_add, "ADD", [&] { return pods_.add(); }, [&] { return retry_add(in_add.again); }) &&
                same("ADD killed " + in_add.to_string(), attached_);
    good = good && go(in_del, "DEL", [&] { return pods_.del(); }, [&] { return retry_del(in_del); });
    if (netns_ended_) {
      std::vector<std::string> paths;
      for (int i = 0; i < scenario_.pods; ++i) {
        machine_.make_pod(scenario_.pod_name(i));
        paths.push_back(machine_.pod_path(scenario_.pod_name(i)));
      }
      pods_.set_netns(paths);
      netns_ended_ = false;
    }
    if (is_nameless_) {
      for (int i = 0; i < scenario_.pods; ++i) machine_.give_name(scenario_.pod_name(i));
      is_nameless_ = false;
    }
    // The agent retries DELs on disk every few seconds, so this may take longer.
    good = good && same("DEL killed " + in_del.to_string(), detached_, in_del.by_shim);
    if (!good) repair();
  }

  const Lines& failures() const { return failures_; }
  bool start_was_killed() const { return start_was_killed_; }
  bool given_up() const { return broken_ >= 8; }

 private:
  template <typename Call>
  bool timed(unsigned& calls, int& duration, Call call) {
    agent_.arm(0, false);
    auto begun = std::chrono::steady_clock::now();
    bool good = call();
    duration =
        static_cast<int>(std::chrono::duration_cast<microseconds>(std::chrono::steady_clock::now() - begun).count());
    calls = agent_.calls();
    return good;
  }

  // The request with its kill, the agent's next start, and the retry if the request failed.
  template <typename Call, typename Retry>
  bool go(const Kill& kill, const std::string& verb, Call call, Retry retry) {
    agent_.arm(kill.at, kill.after);
    std::thread killer;
    if (kill.microseconds != 0)
      killer = std::thread([&] {
        std::this_thread::sleep_for(microseconds(kill.microseconds));
        agent_.kill_now();
      });
    bool done = call();
    bool dies = kill.microseconds != 0 || died(done, kill.at);
    if (killer.joinable()) killer.join();
    if (!dies && !done) return complain(verb + " without its kill");
    if (!dies) return true;
    if (!is_gone()) return complain(verb + ": it was to end and lives");
    ++totals_.kills;
    if (kill.netns_ends) {
      for (int i = 0; i < scenario_.pods; ++i) machine_.remove_pod(scenario_.pod_name(i));
      netns_ended_ = true;
    }
    if (kill.loses_name) {
      for (int i = 0; i < scenario_.pods; ++i) machine_.take_name(scenario_.pod_name(i));
      is_nameless_ = true;
    }
    if (kill.by_shim && !done) done = pods_.del_by_shim(cni_);
    if (!agent_.start(kill.start_at, kill.after)) {
      start_was_killed_ = true;
      ++totals_.kills;
      agent_.start();
    }
    if (done) return true;
    return retry() || complain(verb + " again after it was killed " + kill.to_string());
  }

  bool retry_add(bool kill_again) {
    for (int tries = 0; tries < 10; ++tries) {
      maybe_kill(kill_again && tries < 3, sizes_.del);
      if (!came_through(pods_.undo())) continue;
      maybe_kill(kill_again && tries < 3, sizes_.add);
      if (came_through(pods_.add())) return true;
      if (!pods_.refusal().empty()) return false;
    }
    return false;
  }
  bool retry_del(const Kill& kill) {
    if (kill.netns_ends) pods_.set_netns(std::vector<std::string>(static_cast<size_t>(scenario_.pods)));
    bool done = false;
    for (int tries = 0; tries < 10 && !done && pods_.refusal().empty(); ++tries) {
      maybe_kill(kill.again && tries < 3, sizes_.del);
      done = came_through(pods_.del());
    }
    return done;
  }
  void maybe_kill(bool wanted, unsigned calls) {
    armed_at_ = wanted && random_() % 2 == 0 ? 1 + random_() % (calls + 1) : 0;
    agent_.arm(armed_at_, random_() % 2 == 0);
  }
  // Returns `done`; restarts the agent if it was killed.
  bool came_through(bool done) {
    if (died(done, armed_at_) && is_gone()) {
      ++totals_.kills;
      agent_.start();
    }
    return done;
  }

  // Whether the agent died during the request: by its kill, or without an answer (a call of the previous answer can
  // still be under way when the next kill is armed, and trigger it).
  bool died(bool done, unsigned armed_at) {
    return (armed_at != 0 && agent_.calls() >= armed_at) || (!done && pods_.refusal().empty());
  }
  bool is_gone() {
    for (int tries = 0; tries < 300000 && agent_.alive(); ++tries) std::this_thread::sleep_for(microseconds(100));
    return !agent_.alive();
  }

  // The kernel finishes some changes shortly after an answer, so this waits.
  Lines settled() {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    return machine_.state();
  }
  bool same(const std::string& after_what, const Lines& wanted, bool repeated = false) {
    Lines now = machine_.state();
    for (int tries = 0; now != wanted && tries < patience_ * (repeated ? 8 : 1) / 5; ++tries) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      if (!agent_.alive()) {  // killed in work that continues after the start
        ++totals_.kills;
        agent_.start();
      }
      now = machine_.state();
    }
    if (now == wanted) return true;
    Lines lost, doubled;
    std::ranges::set_difference(wanted, now, std::back_inserter(lost));
    std::ranges::set_difference(now, wanted, std::back_inserter(doubled));
    totals_.lost += static_cast<int>(lost.size());
    totals_.doubled += static_cast<int>(doubled.size());
    failures_.push_back(after_what + ":");
    for (const std::string& line : lost) failures_.push_back("  lost:    " + line);
    for (const std::string& line : doubled) failures_.push_back("  doubled: " + line);
    failures_.push_back("  the agent's last words: " + agent_.last_words());
    return false;
  }
  bool complain(const std::string& what) {
    ++totals_.refused;
    failures_.push_back(fmt::format("{}: {}{}", what, pods_.refusal(),
                                    agent_.alive() ? "" : "; the agent is gone: " + agent_.last_words()));
    return false;
  }
  // After a failure the present state becomes the expected one; otherwise each cycle would report the same failure.
  void repair() {
    agent_.start();
    agent_.arm(0, false);
    (void)pods_.undo();
    (void)pods_.del();
    detached_ = settled();
    (void)pods_.add();
    attached_ = settled();
    (void)pods_.del();
    ++broken_;
  }

  std::string cni_;
  int patience_;  // how long the machine may take to reach the expected state, in ms
  Agent& agent_;
  Machine& machine_;
  const Scenario& scenario_;
  std::mt19937& random_;
  Totals& totals_;
  Pods pods_;
  Lines attached_, detached_, failures_;
  Sizes sizes_;
  unsigned armed_at_ = 0;
  int broken_ = 0;
  bool netns_ended_ = false, is_nameless_ = false, start_was_killed_ = false;
};

// Kills at every call of ADD and DEL, and of the start after a kill in the middle and at the end of ADD and DEL. With
// several pods at once the order of calls varies, so a sample is enough.
void every_call(Loop& loop, const Scenario& scenario, const Options& options) {
  const Sizes& sizes = loop.sizes();
  const unsigned step = scenario.pods == 1 ? 1 : (options.twice ? 3 : 12);
  int number = 0;
  auto mine = [&] { return number++ % options.shares == options.share; };
  for (unsigned call = 1; call <= std::max(sizes.add, sizes.del); call += step)
    for (int after = 0; after <= (options.twice ? 1 : 0); ++after) {
      if (!mine()) continue;
      loop.cycle(call <= sizes.add ? Kill{.at = call, .after = after == 1} : Kill{},
                 call <= sizes.del ? Kill{.at = call, .after = after == 1} : Kill{});
    }
  for (unsigned start = 1, missed = 0; missed < 4; start += step) {
    if (!mine()) continue;
    unsigned add = start % 2 == 0 ? sizes.add / 2 + 1 : sizes.add;
    unsigned del = start % 2 == 0 ? sizes.del / 2 + 1 : sizes.del;
    loop.cycle({.at = add, .start_at = start}, {.at = del, .start_at = start});
    missed = loop.start_was_killed() ? 0 : missed + 1;
  }
}

Kill random_kill(std::mt19937& random, unsigned calls, int duration, unsigned start) {
  Kill kill{.after = random() % 2 == 0};
  if (random() % 3 == 0)
    kill.microseconds = 1 + static_cast<int>(random() % static_cast<unsigned>(duration * 5 / 4 + 100));
  else
    kill.at = 1 + random() % (calls + 1);
  if (random() % 4 == 0) kill.start_at = 1 + random() % (start + calls);
  kill.again = random() % 4 == 0;
  return kill;
}

int print_results(const std::vector<std::unique_ptr<Loop>>& loops, const std::vector<Scenario>& all,
                  const std::string& mode) {
  int failed = 0;
  for (size_t i = 0; i < loops.size(); ++i) {
    const Lines& failures = loops[i]->failures();
    fmt::print("{} kill: {}, {}\n", failures.empty() ? "PASS" : "FAIL", all[i].name, mode);
    for (size_t line = 0; line < std::min<size_t>(failures.size(), 25); ++line) fmt::print("    {}\n", failures[line]);
    if (!failures.empty()) failed = 1;
  }
  return failed;
}

int run(const Options& options) {
  Machine machine;
  if (options.networks.empty()) machine.make();
  std::ifstream file(options.networks);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  std::vector<Scenario> all;
  for (Scenario& scenario : options.networks.empty() ? scenarios() : read_scenarios(text))
    if (scenario.name.find(options.only) != std::string::npos) all.push_back(std::move(scenario));
  for (const Scenario& scenario : all)
    for (int i = 0; i < scenario.pods; ++i) machine.make_pod(scenario.pod_name(i));
  std::filesystem::create_directories(options.work + "/manifests");
  std::ofstream(options.work + "/manifests/pods.yaml") << manifests();
  Agent agent({.command = {options.railbed, "agent", "--metrics", "off", "--manifests", options.work + "/manifests"},
               .shim = options.shim,
               .socket = "/run/railbed/agent.sock",
               .log = options.work + "/agent.log",
               .watched = "/run/railbed:/var/lib/railbed:/var/lib/cni:/run/k8s.cni.cncf.io"});
  std::mt19937 random(options.seed);
  Totals totals;
  std::vector<std::unique_ptr<Loop>> loops;
  auto begun = std::chrono::steady_clock::now();
  for (const Scenario& scenario : all) {
    auto loop = std::make_unique<Loop>(agent, machine, scenario, random, totals, options);
    bool learned = loop->learn();
    const Sizes& sizes = loop->sizes();
    fmt::print("{}: {} calls in ADD ({} us), {} in DEL ({} us), {} in a start\n", scenario.name, sizes.add,
               sizes.add_us, sizes.del, sizes.del_us, sizes.start);
    if (learned && options.every) every_call(*loop, scenario, options);
    loops.push_back(std::move(loop));
  }
  auto usable = [](const auto& loop) { return loop->sizes().del != 0 && !loop->given_up(); };
  const bool any = std::ranges::any_of(loops, usable);
  for (int wanted = totals.kills + options.kills; any && totals.kills < wanted;) {
    // Slow scenarios (each move of an interface waits for the kernel) get fewer kills.
    size_t which = random() % loops.size();
    if (random() % 8 > 60'000 / static_cast<unsigned>(loops[which]->sizes().add_us + loops[which]->sizes().del_us + 1))
      continue;
    const Sizes& sizes = loops[which]->sizes();
    if (!usable(loops[which])) {
      if (std::ranges::none_of(loops, usable)) break;
      continue;
    }
    Kill in_del = random_kill(random, sizes.del, sizes.del_us, sizes.start);
    in_del.by_shim = !options.cni.empty() && random() % 8 == 0;
    in_del.netns_ends = all[which].made && random() % 8 == 0;
    in_del.loses_name = !in_del.netns_ends && random() % 6 == 0;
    loops[which]->cycle(random_kill(random, sizes.add, sizes.add_us, sizes.start), in_del);
  }
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  fmt::print("{} kills: {} lost, {} doubled, {} refused; {:.1f} s, {:.1f} kills/s, seed {}\n", totals.kills,
             totals.lost, totals.doubled, totals.refused, seconds, totals.kills / seconds, options.seed);
  return print_results(loops, all, options.every ? "every call" : "random calls and times");
}

bool read_options(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    std::string name = argv[i];
    if (name == "--every" || name == "--once") {
      options.every = true;
      options.twice = name == "--every";
      continue;
    }
    if (i + 1 == argc) return false;
    std::string value = argv[++i];
    if (name == "--railbed")
      options.railbed = value;
    else if (name == "--shim")
      options.shim = value;
    else if (name == "--work")
      options.work = value;
    else if (name == "--only")
      options.only = value;
    else if (name == "--cni")
      options.cni = value;
    else if (name == "--patience")
      options.patience = std::atoi(value.c_str());
    else if (name == "--networks")
      options.networks = value;
    else if (name == "--kills")
      options.kills = std::atoi(value.c_str());
    else if (name == "--seed")
      options.seed = static_cast<unsigned>(std::atoi(value.c_str()));
    else if (name == "--share") {
      if (std::sscanf(value.c_str(), "%d/%d", &options.share, &options.shares) != 2) return false;
    } else
      return false;
  }
  return !options.railbed.empty() && !options.shim.empty() && !options.work.empty();
}

}  // namespace
}  // namespace railbed::kill

int main(int argc, char** argv) {
  railbed::kill::Options options;
  if (!railbed::kill::read_options(argc, argv, options)) {
    fmt::print(stderr,
               "usage: kill_loop --railbed FILE --shim FILE --work DIR [--every | --once] [--share I/N] [--kills N] "
               "[--seed S] [--only TEXT] [--networks FILE] [--cni FILE]\n");
    return 2;
  }
  try {
    return railbed::kill::run(options);
  } catch (const std::exception& error) {
    fmt::print("FAIL kill: {}\n", error.what());
    return 1;
  }
}

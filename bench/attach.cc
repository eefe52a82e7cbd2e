// SPDX-License-Identifier: Apache-2.0
// attach_pod and detach_pod of 8 interfaces, compared with the shortest possible netlink sequence; see attach.sh.
#include "attach/attach.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include "bare_moves.h"

namespace railbed::bench {
namespace {

constexpr double kBound = 1.10;

struct Options {
  int rounds = 31;
  std::vector<PciAddress> devices;  // empty: 8 veth pairs in a namespace of this program
};

template <typename T>
T must(Result<T> result) {
  if (!result.has_value()) {
    std::fprintf(stderr, "%s\n", result.error().to_string().c_str());
    std::exit(1);
  }
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

Options read_options(int argc, char** argv) {
  Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    std::string value = argv[i + 1];
    if (std::strcmp(argv[i], "--rounds") == 0) options.rounds = std::stoi(value);
    for (size_t at = 0; std::strcmp(argv[i], "--devices") == 0 && at < value.size();) {
      size_t end = std::min(value.find(',', at), value.size());
      options.devices.push_back(must(PciAddress::parse(value.substr(at, end - at))));
      at = end + 1;
    }
  }
  return options;
}

// Keeps the names of namespaces and the state file in memory, visible to this process only.
std::string private_place(bool own_network) {
  if (unshare(CLONE_NEWNS | (own_network ? CLONE_NEWNET : 0)) != 0 ||
      mount("", "/", "none", MS_PRIVATE | MS_REC, nullptr) != 0) {
    std::perror("unshare");
    std::exit(1);
  }
  std::filesystem::create_directories("/run/netns");
  if (mount("bench", "/run/netns", "tmpfs", 0, "mode=755") != 0) std::perror("mount");
  std::string directory = "/run/netns/.state";
  std::filesystem::create_directories(directory);
  return directory;
}

class Bench {
 public:
  explicit Bench(const Options& options) : options_(options) {
    std::string directory = private_place(options.devices.empty());
    store_ = must(state::open_store({.directory = directory, .boot_id = "bench"}));
    kernel_ = os::real_kernel();
    host_ = must(kernel_->links());
    if (options.devices.empty()) make_veths();
    must(kernel_->netns().create("pod"));
    pod_ = must(kernel_->netns().open("/run/netns/pod"));
    own_ = must(kernel_->netns().open_own());
    find_devices();
  }
  ~Bench() { [[maybe_unused]] auto removed = kernel_->netns().remove("pod"); }

  void run() {
    for (int round = 0; round < options_.rounds; ++round) {
      bool bare_first = round % 2 == 0;
      if (bare_first) bare();
      ours();
      if (!bare_first) bare();
    }
    std::string kind = options_.devices.empty() ? "veth" : "vf";
    print("attach", kind, ours_attach_, bare_attach_);
    print("detach", kind, ours_detach_, bare_detach_);
  }

 private:
  using Times = std::vector<double>;

  void make_veths() {
    for (int i = 0; i < 8; ++i) {
      os::NewLink pair{.kind = "veth", .name = IfName{fmt::format("v{}", i)}};
      pair.peer_name = IfName{fmt::format("peer{}", i)};
      must(host_->create(pair));
      must(host_->change(must(host_->find(*pair.peer_name, os::WithVfs::kNo)).index, {.up = true}));
    }
  }

  void find_devices() {
    wanted_ = {.pod = "bench/pod", .netns_path = "/run/netns/pod"};
    for (const os::Link& link : must(host_->list(os::WithVfs::kNo))) {
      bool veth = options_.devices.empty() && link.name.value.starts_with("v");
      bool device = std::ranges::any_of(options_.devices,
                                        [&](PciAddress address) { return link.parent_device == address.to_string(); });
      if (!veth && !device) continue;
      std::string inside = fmt::format("net{}", moves_.size() + 1);
      moves_.push_back({link.index.value, link.name.value, inside});
      doc::Value config = doc::Value::object();
      config.set("type", "host-device");
      attach::InterfaceRequest one{.name = IfName{inside}, .network = "bench/" + inside};
      if (device)
        one.device = pool_vf(link.parent_device);
      else
        config.set("device", link.name.value);
      one.config.plugins.push_back({"host-device", config});
      wanted_.interfaces.push_back(one);
    }
    if (moves_.size() != (options_.devices.empty() ? 8 : options_.devices.size())) {
      std::fprintf(stderr, "only %zu of the devices have an interface here\n", moves_.size());
      std::exit(1);
    }
    host_socket_ = bare_socket(-1);
    pod_socket_ = bare_socket(pod_->fd());
  }

  // As `up` provides it, where the plan knows the VF.
  plan::PoolVf pool_vf(const std::string& address) {
    os::FileTree& files = kernel_->files();
    std::string vf = "/sys/bus/pci/devices/" + address;
    plan::PoolVf pool{.address = must(PciAddress::parse(address))};
    pool.pf = must(PciAddress::parse(must(os::link_name(files, vf + "/physfn"))));
    while (must(os::link_name(files, fmt::format("{}/physfn/virtfn{}", vf, pool.index))) != address) ++pool.index.value;
    return pool;
  }

  template <typename Body>
  static void timed(Times& times, Body body) {
    auto start = std::chrono::steady_clock::now();
    body();
    times.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
  }

  void bare() {
    timed(bare_attach_, [&] { bare_attach(host_socket_, pod_socket_, pod_->fd(), moves_); });
    timed(bare_detach_, [&] { bare_detach(pod_socket_, own_->fd(), moves_); });
  }

  void ours() {
    auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    timed(ours_attach_, [&] { must(attach::attach_pod(*kernel_, *store_, wanted_, deadline)); });
    timed(ours_detach_, [&] { must(attach::detach_pod(*kernel_, *store_, wanted_.pod, deadline)); });
  }

  // The mean of the middle half: moves wait for the kernel's ticks, so single times vary a lot.
  static double middle(Times times) {
    std::ranges::sort(times);
    size_t cut = times.size() / 4;
    double sum = 0;
    for (size_t i = cut; i < times.size() - cut; ++i) sum += times[i];
    return sum / static_cast<double>(times.size() - 2 * cut);
  }

  void print(const char* verb, const std::string& kind, const Times& ours, const Times& bare) {
    double ratio = middle(ours) / middle(bare);
    fmt::print(
        "{} of {} {} interfaces: {:.1f} ms here, {:.1f} ms minimal sequence (means of the middle half of {} rounds)\n",
        verb, moves_.size(), kind, middle(ours), middle(bare), ours.size());
    std::string what = options_.devices.empty() ? fmt::format("{}_{}", moves_.size(), kind) : kind;
    fmt::print("figure {}_{}_ratio {:.3f} x <={:.2f} {}\n", verb, what, ratio, kBound,
               ratio <= kBound ? "ok" : "short");
  }

  Options options_;
  std::unique_ptr<state::Store> store_;
  std::unique_ptr<os::Kernel> kernel_;
  std::unique_ptr<os::LinkPort> host_;
  std::unique_ptr<os::Netns> pod_;
  std::unique_ptr<os::Netns> own_;
  std::vector<BareMove> moves_;
  attach::PodRequest wanted_;
  int host_socket_ = -1;
  int pod_socket_ = -1;
  Times ours_attach_, ours_detach_, bare_attach_, bare_detach_;
};

}  // namespace
}  // namespace railbed::bench

int main(int argc, char** argv) {
  railbed::bench::Bench(railbed::bench::read_options(argc, argv)).run();
  return 0;
}

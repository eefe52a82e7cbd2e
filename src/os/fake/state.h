// SPDX-License-Identifier: Apache-2.0
// The state of a FakeKernel: devices, interfaces, namespaces, RDMA devices, time, faults. Internal to it.
//
// Every public function of the ports takes the lock once, through change() or look(); all other functions expect it to
// be held. Interfaces have their own number (NetdevId), because their index differs by namespace.
// Threading: see change() and look().
// Failure: as the ports.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "os/fake/kernel.h"
#include "os/record/memory_files.h"

namespace railbed::os {

using NetdevId = int;
using NsId = int;
inline constexpr NsId kInitialNs = 0;
inline constexpr int kLeastIpv6Mtu = 1280;  // below, an interface has no IPv6

struct FakeDevice {
  PciAddress address;
  std::string path;  // "/sys/devices/…"
  std::string default_driver;
  std::string driver;  // bound now
  std::string override_driver;
  std::optional<VfIndex> vf;  // absent: a PF
  size_t pf = 0;              // its place in FakeState::pfs
  bool claimed = false;       // a driver is being bound, after a delay
};

struct FakePfState {
  FakePf config;
  int num_vfs = 0;
  bool autoprobe = true;
  bool carrier = true;
  EswitchMode mode = EswitchMode::kLegacy;
  std::vector<VfInfo> vfs;  // settings by index
  int generation = 0;       // counts how often VFs were made: delayed actions for earlier ones are void
};

struct FakeNetdev {
  NetdevId id = 0;
  NsId ns = kInitialNs;
  Link link;  // parent and master are filled in when a caller asks for it
  std::optional<PciAddress> pci;
  bool carrier = true;
  int max_mtu = 65535;
  NetdevId lower = 0;  // of a macvlan or ipvlan
  NetdevId peer = 0;   // of a veth
  NetdevId master = 0;
  std::vector<IpPrefix> addresses;
  std::vector<Route> routes;                   // routes through this interface
  std::vector<IpPrefix> advertised_addresses;  // from routers' advertisements, as the routes
  std::vector<Route> advertised_routes;
  // Networks whose own route, which the kernel adds with an address, was removed.
  std::vector<IpPrefix> unrouted;
};

// The ports of a namespace hold one; the namespace lives while one exists.
struct NsHold {};

struct FakeNs {
  NsId id = 0;
  std::string name;  // empty: it has none, or lost it
  int next_index = 2;
  bool ending = false;  // nothing holds it any more
  bool gone = false;
  bool hidden = false;             // held by a reference that no search finds
  bool of_other_user = false;      // owned by another user namespace
  std::set<NsId> moved_to;         // where its interfaces went
  std::optional<int> nsid;         // in the initial one
  std::vector<int> watched_pipes;  // writing ends of the pipes whose reading ends are in open Netns objects
  std::weak_ptr<NsHold> ports;
  std::map<std::string, std::string> sysctls;
  std::vector<Rule> rules;
};

struct FakeRdma {
  uint32_t index = 0;
  uint32_t verbs = 0;  // the number of its uverbs device
  std::string name;
  NsId ns = kInitialNs;
  std::optional<PciAddress> pci;  // of hardware
  NetdevId netdev = 0;            // of soft devices
  Guid guid;
};

class FakeState {
 public:
  explicit FakeState(const FakeMachine& machine);
  ~FakeState();
  void build();  // setup that the constructor cannot do, because handlers refer to the complete object

  // One call that changes the machine. `line` goes to the journal; the message of an injected errno begins with `what`.
  // Hooks run before the lock is taken.
  Result<void> change(const std::string& line, const std::string& what, const std::function<Result<void>()>& effect);
  // Locks the machine, after everything that is due has happened.
  std::unique_lock<std::recursive_mutex> look();
  // Waits on the fake clock until `ready` returns true; Timeout at the deadline.
  Result<void> wait(Deadline deadline, const std::string& what, const std::function<bool()>& ready);

  // --- time and announcements
  void later(std::chrono::milliseconds delay, std::function<void()> action);  // at once for 0; never if negative
  void announce(const std::string& action, const std::string& subsystem, const std::string& path,
                std::map<std::string, std::string> properties);
  void link_changed(const FakeNetdev& netdev);

  // --- PCI (fake_pci.cc)
  void add_device(FakeDevice device);
  void remove_device(PciAddress address);
  FakeDevice* device(PciAddress address);
  FakePfState& pf_of(const FakeDevice& device) { return pfs[device.pf]; }
  void probe(FakeDevice& device);
  void bind(PciAddress address, const std::string& driver);
  void unbind(FakeDevice& device);
  void add_driver(const std::string& name);
  Result<void> write_file(const std::string& path, std::string_view content, const std::string& what);
  Result<void> set_vf_count(FakeDevice& device, std::string_view content, const std::string& what);
  void make_vfs(size_t pf);
  void remove_vfs(size_t pf);
  void show_device(const FakeDevice& device);
  void show_driver(const FakeDevice& device);

  // --- interfaces (fake_netdevs.cc)
  FakeNetdev& add_netdev(FakeNetdev netdev);
  IfIndex free_index(NsId ns);
  void add_pci_netdev(PciAddress address);
  void remove_netdev(NetdevId id);  // together with the interfaces on top of it
  void forget_sysctls(const FakeNetdev& leaving);
  void set_mtu(FakeNetdev& netdev, int mtu);
  void move_netdev(FakeNetdev& netdev, NsId to, const std::string& name);
  void set_up(FakeNetdev& netdev, bool up);
  void update_carrier(FakeNetdev& netdev);
  FakeNetdev* netdev(NetdevId id);
  FakeNetdev* netdev_by_name(NsId ns, const std::string& name);
  FakeNetdev* netdev_by_index(NsId ns, IfIndex index);
  FakeNetdev* netdev_of(PciAddress address);
  Link link_shown(const FakeNetdev& netdev, WithVfs vfs);
  void show_netdev(const FakeNetdev& netdev);  // adds its sysfs files, if it is in the initial namespace
  void hide_netdev(const FakeNetdev& netdev);

  // --- namespaces (fake_netns.cc)
  FakeNs& add_ns(const std::string& name);
  FakeNs* ns_by_name(const std::string& name);
  void reap_namespaces();  // ends namespaces that nothing holds
  int give_nsid(FakeNs& ns);
  std::string sysctl(NsId ns, const std::string& key);
  void end_ns(FakeNs& ns);

  // --- RDMA (fake_rdma.cc)
  void add_rdma(FakeRdma rdma);
  void remove_rdma_on(NetdevId netdev);
  void remove_rdma_of(PciAddress address);
  void forget_rdma(const FakeRdma& rdma);
  void renumber_verbs(FakeRdma& moved);
  RdmaLink rdma_link_shown(const FakeRdma& rdma, NsId from);
  void show_rdma(const FakeRdma& rdma);
  void show_rdma_state(const FakeNetdev& netdev);

  std::string snapshot();

  FakeMachine machine;
  MemoryFiles files;
  std::vector<FakePfState> pfs;
  std::map<PciAddress, FakeDevice> devices;
  std::set<std::string> drivers;
  std::map<NetdevId, FakeNetdev> netdevs;
  std::map<NsId, FakeNs> namespaces;
  std::map<int, NsId> open_netns;            // descriptor → namespace
  std::map<std::string, int> refused_netns;  // path → errno
  std::vector<FakeRdma> rdma;
  NetlinkAnswers answers;
  std::chrono::milliseconds vf_delay{0};
  std::chrono::milliseconds driver_delay{0};
  std::chrono::milliseconds netdev_delay{0};
  std::chrono::milliseconds carrier_delay{0};
  std::chrono::milliseconds netns_delay{0};

  // --- faults
  struct Fault {
    std::string part;
    int call = 0;  // the number of the call; 0: chosen by `part`
    int sys_errno = 0;
    int times = 1;
  };
  struct Hook {
    std::string part;
    std::function<void()> action;
  };
  std::vector<Fault> faults;
  std::vector<Hook> hooks;
  int calls = 0;
  std::optional<int> kill_at;  // the number of calls after which everything stops
  FakeKernel::Kill kill = FakeKernel::Kill::kBetween;
  bool killed = false;
  std::vector<std::string> journal;
  std::map<std::string, FakeKernel::Program> programs;

  std::set<std::string> files_in_use;
  std::set<std::string> hidden_sysctls;  // in namespaces of other users

  std::vector<std::weak_ptr<std::deque<Uevent>>> streams;
  uint64_t link_changes = 0;
  Deadline now;

 private:
  void run_due();
  std::function<void()> take_hook(const std::string& line);
  int injected_errno(const std::string& line);

  std::recursive_mutex mutex_;
  std::multimap<Deadline, std::function<void()>> pending_;  // equal times keep the order of insertion
  NetdevId next_netdev_ = 1;
  NsId next_ns_ = 1;
  uint32_t next_rdma_ = 0;
};

Guid guid_of(const MacAddress& mac);  // EUI-64 of the MAC
// A sysctl that was never set has its default and is not stored.
std::string default_sysctl(const std::string& key);
std::unique_ptr<LinkPort> fake_links(std::shared_ptr<FakeState> state, NsId ns);
std::unique_ptr<NetnsPort> fake_netns(std::shared_ptr<FakeState> state);
Result<std::unique_ptr<RdmaPort>> fake_rdma(std::shared_ptr<FakeState> state, NsId ns);

}  // namespace railbed::os

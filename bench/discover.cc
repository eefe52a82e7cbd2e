// SPDX-License-Identifier: Apache-2.0
// How long it takes to read a node with 8 PFs and 1,008 VFs, and whether that is linear in the VFs.
//
// The machine is made here: eight InfiniBand PFs below switches with a GPU each; every VF with its interface,
// RDMA device and character devices. It is read twice: as real files (on a tmpfs where there is one; sysfs
// itself is as fast or slower, depending on the driver), and from memory. Netlink's answers come from the
// recording's JSON, read before the clock starts.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <memory>

#include <fmt/core.h>
#include <unistd.h>

#include "doc/json.h"
#include "facts/collect.h"
#include "os/record/memory_files.h"
#include "os/record/netlink_json.h"
#include "os/record/recorded.h"

namespace railbed {
namespace {

constexpr int kPfs = 8;
constexpr double kBoundMs = 50;
constexpr double kBoundRatio = 1.15;

// One function of the generated machine: 0 is the PF, VF n is n + 1.
struct Function {
  int pf = 0;
  int number = 0;

  int bus() const { return 0x19 + 0x11 * pf; }
  PciAddress address() const {
    return PciAddress{.bus = static_cast<uint8_t>(bus())}.plus(static_cast<uint32_t>(number));
  }
  std::string folder() const {
    return fmt::format("/sys/devices/pci0000:{0:02x}/0000:{0:02x}:01.0/0000:{1:02x}:00.0/0000:{2:02x}:01.0/{3}",
                       bus() - 4, bus() - 3, bus() - 2, address());
  }
  std::string netdev() const {
    return number == 0 ? fmt::format("ibp{}s0", bus()) : fmt::format("ibp{}s0v{}", bus(), number - 1);
  }
  int serial() const { return pf * 256 + number; }
  std::string rdma() const { return fmt::format("mlx5_{}", serial()); }
  Guid guid() const { return {0xb83fd20300710000U + static_cast<uint64_t>(serial())}; }
};

class Machine {
 public:
  explicit Machine(int vfs_per_pf) : vfs_per_pf_(vfs_per_pf) {
    for (int pf = 0; pf < kPfs; ++pf)
      for (int number = 0; number <= vfs_per_pf; ++number) add({pf, number});
    files_->put_file("/railbed/links.json", doc::to_json(os::to_value(links_)));
    files_->put_file("/railbed/rdma.json", doc::to_json(os::to_value(rdma_)));
    files_->put_file("/railbed/host.json", doc::to_json(os::to_value(os::RecordedHost{.name = "bench"})));
  }

  std::unique_ptr<os::MemoryFiles> take_files() { return std::move(files_); }

  void write_below(const std::filesystem::path& root) const {
    files_->each([&](const os::MemoryFiles::Entry& entry) {
      std::filesystem::path path = root / entry.path.substr(1);
      using Kind = os::MemoryFiles::Entry::Kind;
      if (entry.kind == Kind::kDirectory) std::filesystem::create_directories(path);
      if (entry.kind == Kind::kFile) std::ofstream(path, std::ios::binary) << entry.text;
      if (entry.kind == Kind::kLink) std::filesystem::create_symlink(entry.text, path);
    });
  }

 private:
  void add(const Function& function) {
    std::string folder = function.folder();
    bool is_pf = function.number == 0;
    auto put = [&](std::string_view name, const std::string& text) {
      files_->put_file(fmt::format("{}/{}", folder, name), text + "\n");
    };
    put("uevent", fmt::format("DRIVER=mlx5_core\nPCI_CLASS=20700\nPCI_ID=15B3:{}\nPCI_SUBSYS_ID=15B3:0041\n"
                              "PCI_SLOT_NAME={}\nMODALIAS=pci:v000015B3",
                              is_pf ? "1021" : "101E", function.address()));
    put("numa_node", function.pf < 4 ? "0" : "1");
    files_->put_link(folder + "/iommu_group",
                     fmt::format("../../../../../../kernel/iommu_groups/{}", function.serial()));
    files_->put_link(fmt::format("/sys/bus/pci/devices/{}", function.address()), "../../../.." + folder);
    if (is_pf) add_sriov(function);
    add_netdev(function);
    add_rdma(function);
    if (is_pf) add_gpu(function);
  }

  void add_sriov(const Function& pf) {
    auto put = [&](std::string_view name, const std::string& text) {
      files_->put_file(fmt::format("{}/sriov_{}", pf.folder(), name), text + "\n");
    };
    put("totalvfs", "127");
    put("numvfs", std::to_string(vfs_per_pf_));
    put("drivers_autoprobe", "1");
    put("offset", "1");
    put("stride", "1");
    put("vf_device", "101e");
    for (int vf = 0; vf < vfs_per_pf_; ++vf)
      files_->put_link(fmt::format("{}/virtfn{}", pf.folder(), vf),
                       fmt::format("../{}", Function{pf.pf, vf + 1}.address()));
  }

  void add_netdev(const Function& function) {
    files_->put_link("/sys/class/net/" + function.netdev(),
                     fmt::format("../../..{}/net/{}", function.folder(), function.netdev()));
    files_->put_directory(fmt::format("{}/net/{}", function.folder(), function.netdev()));
    os::Link link{.index = {function.serial() + 10}, .name = {function.netdev()}, .arp_type = 32, .mtu = 2044};
    link.hw_address = {0, 0, 0, 1, 0xfe, 0x80, 0, 0, 0, 0, 0, 0};
    for (int shift = 56; shift >= 0; shift -= 8)
      link.hw_address.push_back(static_cast<uint8_t>(function.guid().value >> shift));
    link.up = link.lower_up = true;
    link.oper_state = "up";
    link.parent_bus = "pci";
    link.parent_device = function.address().to_string();
    if (function.number == 0) {
      link.num_vfs = vfs_per_pf_;
      for (int vf = 0; vf < vfs_per_pf_; ++vf)
        link.vfs.push_back({.index = {vf},
                            .spoof_check = false,
                            .trust = false,
                            .link_state = os::VfLinkState::kEnable,
                            .node_guid = Function{function.pf, vf + 1}.guid(),
                            .port_guid = Function{function.pf, vf + 1}.guid()});
    }
    links_.links.push_back(std::move(link));
  }

  void add_rdma(const Function& function) {
    std::string name = function.rdma();
    std::string folder = fmt::format("{}/infiniband/{}", function.folder(), name);
    auto put = [&](std::string_view file, const std::string& text) {
      files_->put_file(fmt::format("{}/{}", folder, file), text + "\n");
    };
    files_->put_link("/sys/class/infiniband/" + name, "../../.." + folder);
    for (const char* device : {"infiniband_verbs/uverbs", "infiniband_mad/umad", "infiniband_mad/issm"})
      files_->put_file(fmt::format("/sys/class/{}{}/ibdev", device, function.serial()), name + "\n");
    put("board_id", "MT_0000000838");
    put("ports/1/link_layer", "InfiniBand");
    put("ports/1/rate", "400 Gb/sec (4X NDR)");
    for (int i = 0; i < 8; ++i)
      put(fmt::format("ports/1/gids/{}", i), fmt::format("fe80:0000:0000:0000:{}", i == 0 ? function.guid() : Guid{}));
    put("ports/1/gid_attrs/types/0", "IB/RoCE v1");
    for (int i = 0; i < (function.number == 0 ? 128 : 4); ++i)
      put(fmt::format("ports/1/pkeys/{}", i), i == 0 ? "0xffff" : "0x0000");
    os::RdmaLink link{.index = static_cast<uint32_t>(function.serial()),
                      .name = name,
                      .firmware = "28.42.1000",
                      .node_guid = function.guid(),
                      .system_image_guid = Function{function.pf, 0}.guid(),
                      .protocol = "ib"};
    link.ports.push_back({.state = "ACTIVE",
                          .physical_state = "LINK_UP",
                          .lid = 100 + function.serial(),
                          .sm_lid = 1,
                          .subnet_prefix = 0xfe80000000000000U});
    rdma_.devices.push_back(std::move(link));
  }

  // Below the same switch as its NIC.
  void add_gpu(const Function& pf) {
    std::string address = fmt::format("0000:{:02x}:00.0", pf.bus() - 1);
    std::string folder =
        fmt::format("/sys/devices/pci0000:{0:02x}/0000:{0:02x}:01.0/0000:{1:02x}:00.0/0000:{2:02x}:00.0/{3}",
                    pf.bus() - 4, pf.bus() - 3, pf.bus() - 2, address);
    files_->put_file(folder + "/uevent", "DRIVER=nvidia\nPCI_CLASS=30200\nPCI_ID=10DE:2330\n");
    files_->put_file(folder + "/numa_node", pf.pf < 4 ? "0\n" : "1\n");
    files_->put_link("/sys/bus/pci/devices/" + address, "../../../.." + folder);
  }

  int vfs_per_pf_;
  std::unique_ptr<os::MemoryFiles> files_ = std::make_unique<os::MemoryFiles>();
  os::RecordedLinks links_;
  os::RecordedRdma rdma_;
};

template <typename T>
T must(Result<T> result) {
  if (result) return std::move(*result);
  fmt::print(stderr, "{}\n", result.error().to_string());
  std::exit(1);
}

// Stops if anything is missing, because the figure would describe something else.
void expect_complete(const facts::NodeFacts& node, int vfs_per_pf) {
  size_t complete = 0;
  for (const facts::Nic& nic : node.nics)
    for (const facts::Vf& vf : nic.vfs)
      complete += vf.netdev && vf.rdma && vf.port_guid && vf.rdma->ports.at(0).gids.size() == 1 &&
                  vf.rdma->char_devices.size() == 3;
  if (node.nics.size() == kPfs && node.gpus.size() == kPfs && node.problems.empty() &&
      complete == static_cast<size_t>(kPfs * vfs_per_pf))
    return;
  fmt::print(stderr, "{} NICs, {} GPUs, {} complete VFs, {} problems: not what the machine has\n", node.nics.size(),
             node.gpus.size(), complete, node.problems.size());
  std::exit(1);
}

// The quickest of several runs: whatever else the machine does can only add to it.
double quickest_ms(os::Kernel& kernel, int vfs_per_pf, std::string_view what) {
  constexpr int kRuns = 21;
  std::vector<double> times;
  std::clock_t cpu = std::clock();
  for (int run = 0; run < kRuns; ++run) {
    auto start = std::chrono::steady_clock::now();
    facts::NodeFacts node = facts::collect(kernel, {});
    times.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
    expect_complete(node, vfs_per_pf);
  }
  double cpu_ms = static_cast<double>(std::clock() - cpu) * 1000 / CLOCKS_PER_SEC / kRuns;
  std::ranges::sort(times);
  fmt::print("{} x {} VFs, {}: quickest {:.1f} ms, median {:.1f} ms, processor time {:.1f} ms\n", kPfs, vfs_per_pf,
             what, times.front(), times[kRuns / 2], cpu_ms);
  return times.front();
}

double memory_ms(int vfs_per_pf) {
  auto kernel = must(os::recorded_kernel_over(Machine(vfs_per_pf).take_files()));
  return quickest_ms(*kernel, vfs_per_pf, "memory");
}

double files_ms(int vfs_per_pf) {
  std::filesystem::path base =
      std::filesystem::exists("/dev/shm") ? "/dev/shm" : std::filesystem::temp_directory_path();
  std::filesystem::path root = base / fmt::format("railbed-bench-{}", ::getpid());
  Machine(vfs_per_pf).write_below(root);
  double time = quickest_ms(*must(os::recorded_kernel(root)), vfs_per_pf, "files");
  std::filesystem::remove_all(root);
  return time;
}

void figure(std::string_view name, double value, std::string_view unit, double bound) {
  fmt::print("figure {} {:.2f} {} <={:g} {}\n", name, value, unit, bound, value <= bound ? "ok" : "short");
}

}  // namespace
}  // namespace railbed

// bench_discover [DIR]: with a directory, only writes the machine there, for `railbed discover --root DIR`.
int main(int argc, char** argv) {
  using namespace railbed;
  if (argc == 2) {
    Machine(126).write_below(argv[1]);
    return 0;
  }
  double files_half = files_ms(63);
  double files_full = files_ms(126);
  double memory_half = memory_ms(63);
  double memory_full = memory_ms(126);
  figure("discover_8x126_ms", files_full, "ms", kBoundMs);
  figure("discover_8x126_memory_ms", memory_full, "ms", kBoundMs);
  // What a VF costs with 126 per PF against 63: 1 is linear, less is better than that (fixed costs).
  figure("discover_per_vf_126_to_63", (files_full / 126) / (files_half / 63), "ratio", kBoundRatio);
  figure("discover_per_vf_126_to_63_memory", (memory_full / 126) / (memory_half / 63), "ratio", kBoundRatio);
  return 0;
}

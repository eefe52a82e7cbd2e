// SPDX-License-Identifier: Apache-2.0
// How long it takes to read a node with 8 PFs and 1,008 VFs, and whether that is linear in the VFs.
//
// The machine is made here: eight InfiniBand PFs below switches with a GPU each; every VF with its interface,
// RDMA device and character devices. It is read as real files (on a tmpfs where there is one; sysfs itself is as
// fast or slower, depending on the driver), and from memory. Netlink's answers come from the recording's JSON, read
// before the clock starts.
//
// How long that takes depends on the machine and on what else it does, so the figures are ratios to the minimal way to
// read the same: one system call or three for each path that was looked at, nothing understood and nothing kept, in
// turn with ours in one process.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>

#include <dirent.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include "doc/json.h"
#include "facts/collect.h"
#include "os/ports/file_tree.h"
#include "os/record/memory_files.h"
#include "os/record/netlink_json.h"
#include "os/record/recorded.h"

namespace railbed {
namespace {

constexpr int kPfs = 8;
constexpr double kBoundToRaw = 2;
constexpr double kMemoryBoundToRaw = 0.75;
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

// What was looked at, and how.
struct Look {
  enum class How : uint8_t { kRead, kList, kLink, kRealPath, kExists } how = How::kRead;
  std::string path;
};

class LoggedFiles : public os::FileTree {
 public:
  LoggedFiles(const std::string& root, std::vector<Look>& log) : files_(os::real_files(root)), log_(log) {}
  Result<std::string> read(const std::string& path) const override { return noted(Look::How::kRead, path).read(path); }
  Result<void> write(const std::string& path, std::string_view content) override {
    return files_->write(path, content);
  }
  Result<std::vector<std::string>> list(const std::string& path) const override {
    return noted(Look::How::kList, path).list(path);
  }
  Result<std::string> read_link(const std::string& path) const override {
    return noted(Look::How::kLink, path).read_link(path);
  }
  Result<std::string> real_path(const std::string& path) const override {
    return noted(Look::How::kRealPath, path).real_path(path);
  }
  bool exists(const std::string& path) const override { return noted(Look::How::kExists, path).exists(path); }

 private:
  const os::FileTree& noted(Look::How how, const std::string& path) const {
    std::lock_guard lock(mutex_);
    log_.push_back({how, path});
    return *files_;
  }
  std::unique_ptr<os::FileTree> files_;
  std::vector<Look>& log_;
  mutable std::mutex mutex_;
};

// The paths that one reading looks at below `root`, with the root in front.
std::vector<Look> looks_of(const std::string& root) {
  std::vector<Look> log;
  auto kernel = must(os::recorded_kernel_over(std::make_unique<LoggedFiles>(root, log)));
  log.clear();  // the recording's own files
  facts::collect(*kernel, {});
  for (Look& look : log) look.path.insert(0, root);
  return log;
}

// Returns how many bytes it has seen, so that nothing is left out.
size_t look_raw(const Look& look) {
  static std::array<char, 1 << 16> buffer;
  const char* path = look.path.c_str();
  ssize_t seen = 0;
  switch (look.how) {
    case Look::How::kRead: {
      const int file = ::open(path, O_RDONLY | O_CLOEXEC);
      if (file < 0) break;
      seen = ::read(file, buffer.data(), buffer.size());
      ::close(file);
      break;
    }
    case Look::How::kList:
      if (DIR* directory = ::opendir(path)) {
        while (::readdir(directory) != nullptr) ++seen;
        ::closedir(directory);
      }
      break;
    case Look::How::kLink:
      seen = ::readlink(path, buffer.data(), buffer.size());
      break;
    case Look::How::kRealPath: {
      const int file = ::open(path, O_PATH | O_CLOEXEC);
      if (file < 0) break;
      seen = ::readlink(fmt::format("/proc/self/fd/{}", file).c_str(), buffer.data(), buffer.size());
      ::close(file);
      break;
    }
    case Look::How::kExists:
      seen = ::access(path, F_OK) == 0;
      break;
  }
  return seen > 0 ? static_cast<size_t>(seen) : 0;
}

double ms_of(const auto& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

struct Times {
  double files = 0, memory = 0, raw = 0;
};

// The quickest of several runs of each, in turn: whatever else the machine does can only add to them.
Times quickest(int vfs_per_pf) {
  constexpr int kRuns = 21;
  const std::filesystem::path base =
      std::filesystem::exists("/dev/shm") ? "/dev/shm" : std::filesystem::temp_directory_path();
  const std::string root = base / fmt::format("railbed-bench-{}", ::getpid());
  Machine(vfs_per_pf).write_below(root);
  const std::vector<Look> looks = looks_of(root);
  const auto on_disk = must(os::recorded_kernel(root));
  const auto in_memory = must(os::recorded_kernel_over(Machine(vfs_per_pf).take_files()));
  Times best{1e9, 1e9, 1e9};
  size_t seen = 0;
  for (int run = 0; run < kRuns; ++run) {
    facts::NodeFacts node;
    best.files = std::min(best.files, ms_of([&] { node = facts::collect(*on_disk, {}); }));
    expect_complete(node, vfs_per_pf);
    best.raw = std::min(best.raw, ms_of([&] {
                          for (const Look& look : looks) seen += look_raw(look);
                        }));
    best.memory = std::min(best.memory, ms_of([&] { node = facts::collect(*in_memory, {}); }));
    expect_complete(node, vfs_per_pf);
  }
  std::filesystem::remove_all(root);
  fmt::print("{} x {} VFs, quickest of {}: files {:.1f} ms, memory {:.1f} ms; {} looks raw {:.1f} ms ({} bytes)\n",
             kPfs, vfs_per_pf, kRuns, best.files, best.memory, looks.size(), best.raw, seen / kRuns);
  return best;
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
  const Times half = quickest(63);
  const Times full = quickest(126);
  figure("discover_8x126_to_raw", full.files / full.raw, "ratio", kBoundToRaw);
  figure("discover_8x126_memory_to_raw", full.memory / full.raw, "ratio", kMemoryBoundToRaw);
  // What a VF costs with 126 per PF compared with 63: 1 is linear; fixed costs make it smaller.
  figure("discover_per_vf_126_to_63", (full.files / 126) / (half.files / 63), "ratio", kBoundRatio);
  figure("discover_per_vf_126_to_63_memory", (full.memory / 126) / (half.memory / 63), "ratio", kBoundRatio);
  return 0;
}

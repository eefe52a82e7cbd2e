// SPDX-License-Identifier: Apache-2.0
#include "rdma/numa_pin.h"

#include <algorithm>
#include <array>
#include <cerrno>

#include <sched.h>

#include "base/number.h"

namespace railbed::rdma {
namespace {

constexpr int kMostCpus = 8192;
using CpuSet = std::array<cpu_set_t, kMostCpus / CPU_SETSIZE>;

bool has(const CpuSet& set, int cpu) {
  return CPU_ISSET_S(static_cast<size_t>(cpu), sizeof(CpuSet), set.data());
}

std::optional<int> number_in(std::string_view text) {
  const std::optional<int> number = whole_number<int>(text);
  return number && *number >= 0 && *number < kMostCpus ? number : std::nullopt;
}

}  // namespace

struct NumaPin::Restore {
  CpuSet allowed{};
};

void NumaPin::Undo::operator()(Restore* before) const {
  sched_setaffinity(0, sizeof(CpuSet), before->allowed.data());
  delete before;
}

std::optional<std::vector<int>> cpus_of(std::string_view list) {
  std::vector<int> cpus;
  while (!list.empty()) {
    const std::string_view piece = list.substr(0, list.find(','));
    list.remove_prefix(std::min(list.size(), piece.size() + 1));
    const size_t dash = piece.find('-');
    const auto first = number_in(piece.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : number_in(piece.substr(dash + 1));
    if (!first || !last || *last < *first || (!cpus.empty() && *first <= cpus.back())) return std::nullopt;
    for (int cpu = *first; cpu <= *last; ++cpu) cpus.push_back(cpu);
  }
  return cpus;
}

std::string cpu_list(const std::vector<int>& cpus) {
  std::string out;
  for (size_t i = 0; i < cpus.size();) {
    size_t end = i;
    while (end + 1 < cpus.size() && cpus[end + 1] == cpus[end] + 1) ++end;
    out += fmt::format("{}{}", out.empty() ? "" : ",", cpus[i]);
    if (end > i) out += fmt::format("-{}", cpus[end]);
    i = end + 1;
  }
  return out;
}

std::optional<int64_t> numa_node_of(const os::FileTree& files, const std::string& device) {
  const auto text = os::read_line(files, fmt::format("/sys/class/infiniband/{}/device/numa_node", device));
  return text ? number_in(*text) : std::nullopt;
}

Result<NumaPin> NumaPin::to_node(const os::FileTree& files, int64_t node) {
  const std::string path = fmt::format("/sys/devices/system/node/node{}/cpulist", node);
  const auto cpus = cpus_of(TRY(os::read_line(files, path)));
  if (!cpus) return fail(Code::kUnsupported, "{} is not a list of processors", path);
  auto before = std::make_unique<Restore>();
  if (sched_getaffinity(0, sizeof(CpuSet), before->allowed.data()) != 0)
    return fail(system_error(errno, "asking for the processors of this thread"));
  CpuSet wanted{};
  std::vector<int> used;
  for (int cpu : *cpus) {
    if (!has(before->allowed, cpu)) continue;
    CPU_SET_S(static_cast<size_t>(cpu), sizeof(CpuSet), wanted.data());
    used.push_back(cpu);
  }
  if (used.empty())
    return fail(Code::kUnsupported, "no processor of NUMA node {} ({}) is allowed for this process", node,
                cpu_list(*cpus));
  if (sched_setaffinity(0, sizeof(CpuSet), wanted.data()) != 0)
    return fail(system_error(errno, fmt::format("pinning this thread to NUMA node {}", node)));
  NumaPin pin;
  pin.before_.reset(before.release());
  pin.cpus_ = cpu_list(used);
  return pin;
}

int64_t usable_processors() {
  CpuSet usable{};
  if (sched_getaffinity(0, sizeof(CpuSet), usable.data()) != 0) return 1;
  return CPU_COUNT_S(sizeof(CpuSet), usable.data());
}

}  // namespace railbed::rdma

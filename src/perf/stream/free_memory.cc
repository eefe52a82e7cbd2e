// SPDX-License-Identifier: Apache-2.0
#include "perf/stream/free_memory.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>

#include "perf/measurement.h"

namespace railbed::perf {
namespace {

// The number at the start of the text, after blanks.
std::optional<int64_t> leading_number(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  return number;
}

std::optional<int64_t> number_in(const os::FileTree& files, const std::string& path) {
  return leading_number(files.read(path).value_or(""));
}

std::optional<int64_t> machine_bytes(const os::FileTree& files) {
  const std::string text = files.read("/proc/meminfo").value_or("");
  constexpr std::string_view kField = "MemAvailable:";
  const size_t at = text.find(kField);
  if (at == std::string::npos) return std::nullopt;
  const auto kib = leading_number(std::string_view(text).substr(at + kField.size()));
  if (!kib) return std::nullopt;
  return *kib * 1024;
}

// Of this process's own group and those above it. In a container its group is the root of what it sees.
std::optional<int64_t> group_bytes(const os::FileTree& files) {
  const std::string text = files.read("/proc/self/cgroup").value_or("");
  constexpr std::string_view kUnified = "0::";
  const size_t at = text.find(kUnified);
  if (at == std::string::npos) return std::nullopt;
  std::string group = text.substr(at + kUnified.size(), text.find('\n', at) - at - kUnified.size());
  std::optional<int64_t> least;
  for (;; group.erase(group.rfind('/'))) {
    if (group == "/") group.clear();
    const auto most = number_in(files, "/sys/fs/cgroup" + group + "/memory.max");  // "max" is no number
    const auto used = number_in(files, "/sys/fs/cgroup" + group + "/memory.current");
    if (most && used) least = std::min(least.value_or(INT64_MAX), std::max<int64_t>(0, *most - *used));
    if (group.rfind('/') == std::string::npos) return least;
  }
}

}  // namespace

std::optional<int64_t> free_memory_bytes(const os::FileTree& files) {
  const auto machine = machine_bytes(files);
  const auto group = group_bytes(files);
  if (!machine || !group) return machine ? machine : group;
  return std::min(*machine, *group);
}

Result<void> need_memory(const os::FileTree& files, int64_t bytes) {
  const auto free_bytes = free_memory_bytes(files);
  if (!free_bytes || bytes <= *free_bytes) return {};
  return fail(Error{
      .code = Code::kExhausted,
      .message = fmt::format("this test needs {:.1f} MiB of memory, but only {:.1f} MiB are free",
                             static_cast<double>(bytes) / (1 << 20), static_cast<double>(*free_bytes) / (1 << 20)),
      .hint = "lower --size, --max-size or --qps, or give the container more memory"});
}

}  // namespace railbed::perf

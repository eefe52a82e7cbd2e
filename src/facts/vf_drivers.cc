// SPDX-License-Identifier: Apache-2.0
#include "facts/vf_drivers.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace railbed::facts {
namespace {

constexpr size_t kLongestBlockText = 200;  // of a line that is quoted

struct DriverPair {
  std::string_view pf;
  std::string_view vf;
};

constexpr DriverPair kDriverPairs[] = {
    {"i40e", "iavf"},           {"ice", "iavf"},
    {"ixgbe", "ixgbevf"},       {"igb", "igbvf"},
    {"mlx5_core", "mlx5_core"}, {"mlx4_core", "mlx4_core"},
    {"bnxt_en", "bnxt_en"},     {"qede", "qede"},
    {"fm10k", "fm10k"},         {"ionic", "ionic"},
    {"cxgb4", "cxgb4vf"},       {"be2net", "be2net"},
};

// Later folders hold only files whose names earlier ones lack.
constexpr std::array<std::string_view, 5> kModprobeFolders = {
    "/etc/modprobe.d", "/run/modprobe.d", "/usr/local/lib/modprobe.d", "/usr/lib/modprobe.d", "/lib/modprobe.d"};

bool is_user_space_driver(std::string_view driver) {
  return driver.starts_with("vfio") || driver == "uio_pci_generic" || driver == "igb_uio" || driver == "pci-stub";
}

// The kernel does not distinguish '-' and '_' in names of modules.
std::string module_name(std::string_view text) {
  std::string name(text);
  std::ranges::replace(name, '-', '_');
  return name;
}

std::vector<std::string_view> words_of(std::string_view line, std::string_view separators = " \t\r") {
  std::vector<std::string_view> words;
  while (!line.empty()) {
    const size_t begin = line.find_first_not_of(separators);
    if (begin == std::string_view::npos) break;
    line.remove_prefix(begin);
    const size_t end = std::min(line.find_first_of(separators), line.size());
    words.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
  return words;
}

// "install iavf /bin/true": a command that only succeeds or fails stands for no module at all.
bool does_nothing(std::string_view command) {
  const std::string_view name =
      command.substr(command.rfind('/') == std::string_view::npos ? 0 : command.rfind('/') + 1);
  return name == "true" || name == "false" || name == ":" || command == "/dev/null";
}

bool blocks(const std::vector<std::string_view>& words) {
  if (words.size() < 2) return false;
  return words[0] == "blacklist" || (words[0] == "install" && words.size() > 2 && does_nothing(words[2]));
}

}  // namespace

std::vector<const Vf*> vfs_without_driver(const Nic& nic) {
  std::vector<const Vf*> without;
  if (nic.vfs_autoprobe == false) return without;
  for (const Vf& vf : nic.vfs)
    if (vf.pci.driver.empty()) without.push_back(&vf);
  return without;
}

std::string vf_driver(const Nic& nic) {
  for (const Vf& vf : nic.vfs)
    if (!vf.pci.driver.empty() && !is_user_space_driver(vf.pci.driver)) return vf.pci.driver;
  const auto* pair = std::ranges::find(kDriverPairs, nic.pci.driver, &DriverPair::pf);
  return pair == std::end(kDriverPairs) ? std::string() : std::string(pair->vf);
}

bool is_vf_module(std::string_view driver) {
  return std::ranges::any_of(kDriverPairs,
                             [&](const DriverPair& pair) { return pair.vf == driver && pair.pf != driver; });
}

std::vector<ModuleBlock> blocks_in_modprobe_file(std::string_view text, const std::string& file,
                                                 const std::set<std::string>& modules) {
  std::vector<ModuleBlock> found;
  int number = 0;
  while (!text.empty()) {
    const int first = number + 1;
    std::string statement;
    // A backslash at its end continues a line.
    for (bool goes_on = true; goes_on && !text.empty();) {
      const size_t end = std::min(text.find('\n'), text.size());
      std::string_view line = text.substr(0, end);
      text.remove_prefix(std::min(end + 1, text.size()));
      ++number;
      goes_on = line.ends_with('\\');
      if (goes_on) line.remove_suffix(1);
      statement.append(line).append(goes_on ? " " : "");
    }
    const std::vector<std::string_view> words = words_of(statement);
    if (!blocks(words)) continue;
    const std::string module = module_name(words[1]);
    if (modules.contains(module))
      found.push_back({.module = module, .file = file, .line = first, .text = statement.substr(0, kLongestBlockText)});
  }
  return found;
}

std::vector<ModuleBlock> blocks_in_command_line(std::string_view text, const std::set<std::string>& modules) {
  std::vector<ModuleBlock> found;
  for (const std::string_view word : words_of(text, " \t\r\n")) {
    const size_t equals = word.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view key = word.substr(0, equals);
    if (key != "modprobe.blacklist" && key != "module_blacklist" && key != "rd.driver.blacklist") continue;
    for (const std::string_view each : words_of(word.substr(equals + 1), ","))
      if (const std::string module = module_name(each); modules.contains(module))
        found.push_back({.module = module,
                         .file = "/proc/cmdline",
                         .line = 1,
                         .text = std::string(word.substr(0, kLongestBlockText))});
  }
  return found;
}

std::vector<ModuleBlock> read_module_blocks(Attributes& attributes, const std::set<std::string>& modules) {
  std::map<std::string, std::string> files;  // by name, as modprobe reads them
  for (const std::string_view folder : kModprobeFolders)
    for (const std::string& name : attributes.list(std::string(folder)))
      if (name.ends_with(".conf")) files.try_emplace(name, fmt::format("{}/{}", folder, name));
  std::vector<ModuleBlock> found;
  const auto add_first = [&](std::vector<ModuleBlock> more) {
    for (ModuleBlock& block : more)
      if (std::ranges::find(found, block.module, &ModuleBlock::module) == found.end())
        found.push_back(std::move(block));
  };
  for (const auto& [name, path] : files)
    add_first(blocks_in_modprobe_file(attributes.text(path).value_or(""), path, modules));
  add_first(blocks_in_command_line(attributes.text("/proc/cmdline").value_or(""), modules));
  return found;
}

}  // namespace railbed::facts

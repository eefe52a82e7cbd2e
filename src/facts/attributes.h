// SPDX-License-Identifier: Apache-2.0
// Single values of sysfs, read with their type; and the place where errors are collected.
//
// Why: a fact that cannot be read is absent, never fatal. An attribute that does not exist, or has no value for this
// device (EINVAL), is normal: kernels and drivers differ. Everything else (EACCES, EIO) becomes one line of the node's
// problems.
// Threading: one thread per instance.
// Failure: none, see above.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/types.h"
#include "os/ports/file_tree.h"
#include "os/ports/held_folder.h"

namespace railbed::facts {

// The last part of `text` between slashes that is a PCI address: the device that a sysfs path belongs to.
std::optional<PciAddress> last_pci_address(std::string_view path);

// All PCI addresses among the parts of `path`, in their order.
std::vector<PciAddress> pci_addresses(std::string_view path);

// A whole number as sysfs writes it: decimal, or hexadecimal after "0x"; the whole text must be it.
std::optional<int64_t> parse_number(std::string_view text);

class Attributes {
 public:
  Attributes(const os::FileTree& files, std::vector<std::string>& problems) : files_(files), problems_(problems) {}

  // The same tree with another list of problems, for another thread.
  Attributes with_problems(std::vector<std::string>& problems) const { return {files_, problems}; }

  std::optional<std::string> text(const std::string& path);  // without trailing white space
  std::optional<int64_t> number(const std::string& path);
  std::optional<int> small_number(const std::string& path);  // absent where it does not fit
  std::optional<std::string> link(const std::string& path);  // the target, as written
  std::string link_name(const std::string& path);            // the last component of the target, or empty
  std::vector<std::string> list(const std::string& path);    // in natural order; empty when the directory is missing
  bool exists(const std::string& path) const { return files_.exists(path); }

  // For several values of one folder.
  [[nodiscard]] os::HeldFolder hold(std::string_view folder) const { return {files_, std::string(folder)}; }

  // Only for recordings of /sys/bus: the entries of folder `kind` ("net") of each PCI function, by name. Empty where
  // /sys/class/net exists, as on every real machine.
  std::map<std::string, PciAddress> children_of_functions(const std::string& kind);

  // Notes an error for NodeFacts::problems, once.
  void note(const Error& error);
  void note(std::string line);

 private:
  template <typename T>
  std::optional<T> value(Result<T> result);

  const os::FileTree& files_;
  std::vector<std::string>& problems_;
};

}  // namespace railbed::facts

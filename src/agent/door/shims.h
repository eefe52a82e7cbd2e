// SPDX-License-Identifier: Apache-2.0
// Installs the shim under the names of railbed's plugins, and keeps the originals that it replaces.
//
// Why this care: a runtime executes these files at any moment, and switching back needs the unmodified originals. So a
// name always refers to a complete program, old or new; an original is linked into <folder>/.railbed-originals before
// the shim takes its name; and a shim is recognized by its content, so that a shim is never kept as an original. After
// a kill at any point, repeating the call gives the same result as one call.
// Threading: one thread per folder.
// Failure: the file system's.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "os/real/program_files.h"

namespace railbed::agent {

// Names of programs that the shim is installed under: all types that are ours; "ib-sriov-cni" is the name of ib-sriov's
// original.
std::span<const std::string_view> shim_types();
inline constexpr std::string_view kOriginalsFolder = ".railbed-originals";

struct ShimState {
  std::string type;
  enum class What : uint8_t { kAbsent, kOriginal, kShim } what = What::kAbsent;
  std::string version;         // of the shim
  bool original_kept = false;  // in kOriginalsFolder
  friend bool operator==(const ShimState&, const ShimState&) = default;
};
std::string_view what_name(ShimState::What what);

// The version in the shim's `content`; empty when it is no shim.
std::string shim_version(std::string_view content);

class Shims {
 public:
  Shims(os::ProgramFiles& files, std::string folder) : files_(files), folder_(std::move(folder)) {}

  // `shim` is the program's content; Invalid when it is no shim.
  Result<void> install(const std::string& shim, const std::vector<std::string>& types);
  // Restores originals and removes shims without one. Programs that are no shims are left alone.
  Result<void> uninstall(const std::vector<std::string>& types);
  Result<std::vector<ShimState>> state(const std::vector<std::string>& types) const;

 private:
  Result<std::string> version_at(const std::string& path) const;  // empty: absent or no shim
  Result<void> keep_original(const std::string& type);
  Result<void> put_back(const std::string& type);
  std::string program(const std::string& type) const { return folder_ + "/" + type; }
  std::string original(const std::string& type) const;
  std::string fresh(const std::string& type) const { return folder_ + "/." + type + ".railbed-new"; }

  os::ProgramFiles& files_;
  std::string folder_;
};

}  // namespace railbed::agent

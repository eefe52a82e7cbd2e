// SPDX-License-Identifier: Apache-2.0
#include "program_folder.h"

#include "os/ports/file_tree.h"

namespace railbed {

Result<std::string> program_folder() {
  const std::string path = TRY(os::real_files("")->read_link("/proc/self/exe"));
  return path.substr(0, path.rfind('/'));
}

}  // namespace railbed

// SPDX-License-Identifier: Apache-2.0
#include "command/given_files.h"

#include <cerrno>
#include <fstream>
#include <sstream>

#include "perf/message.h"

namespace railbed {

Result<std::string> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  if (!file || !(text << file.rdbuf())) return fail(system_error(errno != 0 ? errno : EIO, "read " + path));
  return text.str();
}

Result<std::string> read_token(const std::string& path) {
  if (path.empty()) return std::string();
  const std::string text = TRY(read_file(path));
  std::string token = text.substr(0, text.find('\n'));
  if (token.empty() || token.size() > perf::kMaxToken_bytes)
    return fail(Code::kInvalid, "{}: the first line should be a token of 1 to {} characters", path,
                perf::kMaxToken_bytes);
  return token;
}

}  // namespace railbed

// SPDX-License-Identifier: Apache-2.0
#include "command/given_files.h"

#include <cerrno>
#include <fstream>
#include <sstream>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "perf/channel/message.h"

namespace railbed {
namespace {

class OpenFile {
 public:
  explicit OpenFile(const std::string& path) : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile() {
    if (fd_ >= 0) ::close(fd_);
  }
  int fd() const { return fd_; }

 private:
  int fd_;
};

// The mode is that of the file that was opened, so symbolic links (as in Secret volumes) are followed, and a file that
// takes its place meanwhile is not read.
Result<void> check_mode(int fd, const std::string& path) {
  struct stat status{};
  if (::fstat(fd, &status) != 0) return fail(system_error(errno, "stat " + path));
  const unsigned mode = status.st_mode & 07777;
  if ((mode & 077) == 0) return {};
  return fail(
      Error{.code = Code::kDenied,
            .message = fmt::format("{}: the token file has mode {:04o}, so {} can read or change the token", path, mode,
                                   (mode & 07) != 0 ? "every user of this machine" : "its group"),
            .hint = fmt::format("chmod 0400 {}; for a Secret volume, set defaultMode: 0400 and no fsGroup", path)});
}

// The beginning of a file that only its owner may read.
Result<std::string> read_secret(const std::string& path) {
  const OpenFile file(path);
  if (file.fd() < 0) return fail(system_error(errno, "read " + path));
  TRY(check_mode(file.fd(), path));
  std::string text;
  char buffer[4096];
  while (text.size() <= perf::kMaxToken_bytes && !text.contains('\n')) {
    const ssize_t count = ::read(file.fd(), buffer, sizeof(buffer));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail(system_error(errno, "read " + path));
    if (count == 0) break;
    text.append(buffer, static_cast<size_t>(count));
  }
  return text;
}

}  // namespace

Result<std::string> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  if (!file || !(text << file.rdbuf())) return fail(system_error(errno != 0 ? errno : EIO, "read " + path));
  return text.str();
}

Result<std::string> read_token(const std::string& path) {
  if (path.empty()) return std::string();
  const std::string text = TRY(read_secret(path));
  std::string token = text.substr(0, text.find('\n'));
  if (token.size() < perf::kMinToken_bytes || token.size() > perf::kMaxToken_bytes)
    return fail(
        Error{.code = Code::kInvalid,
              .message = fmt::format("{}: the first line must be a token of {} to {} characters, found {}", path,
                                     perf::kMinToken_bytes, perf::kMaxToken_bytes, token.size()),
              .hint = fmt::format("a short token can be guessed: (umask 077; openssl rand -hex 16 > {})", path)});
  return token;
}

}  // namespace railbed

// SPDX-License-Identifier: Apache-2.0
// A listening unix socket, its connections, and waiting for many of them at once.
//
// Why: the agent serves a socket that only root may use; no client may block another, so nothing here blocks except
// Poller::wait(). A stale socket file of a killed process is replaced, one in use is not: a lock file next to it
// ("<path>.lock") is held while listening, and the new socket is renamed over the old, so that there is a socket at
// every moment.
// Threading: one thread per object; Waker::wake() from any thread.
// Failure: kConflict if another process listens, kInvalid for a path that is too long, else the errno's code.
// Source: unix(7), epoll(7).
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "os/real/descriptor.h"

namespace railbed::os {

struct Peer {
  uint32_t uid = 0;
  int pid = 0;
};

// A connected socket that never blocks.
class Connection {
 public:
  explicit Connection(Descriptor socket) : socket_(std::move(socket)) {}
  static Result<Connection> connect(const std::string& path);

  Result<Peer> peer() const;
  // The number of bytes read; 0 at the end; nullopt when none have arrived yet.
  Result<std::optional<size_t>> read_some(std::span<char> into);
  // The same, with the descriptor that was passed with these bytes, if one was. All but the first are closed.
  Result<std::optional<size_t>> read_some(std::span<char> into, Descriptor& passed);
  // The number of bytes written; 0 when the socket takes none at the moment.
  Result<size_t> write_some(std::string_view bytes);
  int fd() const { return socket_.get(); }

 private:
  Descriptor socket_;
};

class UnixListener {
 public:
  // The socket has mode 0600; a missing folder is made (0700).
  static Result<UnixListener> open(const std::string& path);
  ~UnixListener();
  UnixListener(UnixListener&&) noexcept = default;
  UnixListener& operator=(UnixListener&&) noexcept = delete;

  // nullopt when no client is waiting (any more).
  Result<std::optional<Connection>> accept();
  // No client can connect any more, but the path is still ours.
  void refuse();
  int fd() const { return socket_.get(); }
  const std::string& path() const { return path_; }
  // Whether clients still find this socket at its path; false once it was removed or replaced.
  bool is_at_path() const;
  // Listens at its path again, after the file was removed. Busy where another process listens there now; then, and
  // where it fails otherwise, the socket stays as it was.
  Result<void> renew();

 private:
  struct FileId {
    uint64_t device = 0;
    uint64_t number = 0;
    friend bool operator==(const FileId&, const FileId&) = default;
  };
  static std::optional<FileId> file_at(const std::string& path);
  static Result<Descriptor> lock_at(const std::string& path);
  static Result<Descriptor> listen_at(const std::string& path);
  UnixListener(std::string path, Descriptor lock, Descriptor socket)
      : path_(std::move(path)), lock_(std::move(lock)), socket_(std::move(socket)), file_(file_at(path_)) {}
  std::string path_;
  Descriptor lock_;
  Descriptor socket_;
  std::optional<FileId> file_;
};

// Ends a Poller's wait from another thread.
class Waker {
 public:
  Waker();
  void wake() const;
  void clear() const;
  int fd() const { return event_.get(); }

 private:
  Descriptor event_;
};

enum class Await : uint8_t { kRead, kWrite, kEnd };  // kEnd: the other side has closed

class Poller {
 public:
  Poller();
  Result<void> add(int fd, uint64_t key, Await what);
  void remove(int fd);
  // The keys that are ready or broken; empty after the timeout or a signal.
  std::vector<uint64_t> wait(std::chrono::milliseconds most);

 private:
  Descriptor epoll_;
};

}  // namespace railbed::os

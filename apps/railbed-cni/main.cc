// SPDX-License-Identifier: Apache-2.0
// railbed-cni: the program that a container runtime starts for a CNI plugin; it asks the agent and prints the answer.
//
//   basename(argv[0]) + CNI_* + standard input ──► /run/railbed/agent.sock ──► standard output + exit status
//
// It is small because starting a process is all that remains of a plugin's cost: static, no iostream, no locale, one
// allocation per buffer. When no agent answers, VERSION is answered here (always, because the answer never changes),
// DEL is written to disk for the agent to repeat and reported as done, ADD and GC fail with code 11 (try again later),
// CHECK and STATUS with 50 (no pods can run here at the moment).
//
// A restarting agent is away for about 100 ms, and code 11 would cost a pod its whole sandbox. So ADD, CHECK and GC ask
// again for up to 2 s, but only if no agent can have begun the request and an agent has run since boot: its socket or
// the lock beside it exists. A request that an agent accepted and did not answer is not repeated: the runtime must
// learn of it and send DEL.
//
// RAILBED_SOCKET, RAILBED_PENDING, RAILBED_TIMEOUT_MS (of the whole run, 110000) and RAILBED_RETRY_MS (2000)
// are for tests; a runtime gives plugins its own environment. Threading: one. Failure: JSON on standard
// output, exit status 1. Source: CNI specification 1.1.0, sections 2 and 4.
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "cni/wire.h"
#include "journal.h"
#include "text.h"

extern char** environ;

namespace railbed::shim {

namespace {
using cni::kFrameHeadBytes;

constexpr int kTryAgainLater = 11;
constexpr int kUnavailable = 50;
constexpr int kInvalidEnvironment = 4;
constexpr int kIo = 5;
constexpr int kUndecodable = 6;
constexpr size_t kMostConfigBytes = 900 << 10;  // together with the environment less than the agent's 1 MiB
constexpr int64_t kDefaultTimeoutMs = 110'000;  // runtimes give a sandbox 120 s or more
constexpr int64_t kDefaultRetryMs = 2'000;
constexpr int kFirstPauseMs = 10;
constexpr int kLongestPauseMs = 80;

// `railbed cni` recognizes a shim and its version by this text.
constexpr std::string_view kMarker = "railbed-cni-shim/" RAILBED_VERSION "\n";

int64_t now_ms() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

struct Deadline {
  int64_t at_ms;
  int left_ms() const {
    const int64_t left = at_ms - now_ms();
    return left < 0 ? 0 : static_cast<int>(left);
  }
  // False when the time is up.
  bool wait(int fd, short what) const {
    for (;;) {
      pollfd one{fd, what, 0};
      const int ready = poll(&one, 1, left_ms());
      if (ready > 0) return true;
      if (ready == 0 || errno != EINTR) return false;
    }
  }
};

const char* environment(const char* name, const char* otherwise) {
  const char* value = getenv(name);
  return value == nullptr || *value == '\0' ? otherwise : value;
}

Deadline deadline(const char* variable, int64_t otherwise) {
  const int64_t configured = atoll(environment(variable, "0"));
  return {now_ms() + (configured > 0 && configured < 3'600'000 ? configured : otherwise)};
}

void pause(int ms) {
  timespec left{ms / 1000, ms % 1000 * 1'000'000L};
  while (nanosleep(&left, &left) != 0 && errno == EINTR) {
  }
}

// False when nothing reads it.
bool put(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t put = write(fd, text.data(), text.size());
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    text.remove_prefix(static_cast<size_t>(put));
  }
  return true;
}

// What is at CNI_NETNS for the runtime, in whose mounts this process is; -1: nothing. Who asks and who looks must not
// be two: everything that the agent does is done with this descriptor.
int open_netns() {
  const char* path = environment("CNI_NETNS", "");
  return *path == '/' ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
}

std::string hexadecimal(uint64_t value) {
  std::string digits;
  do digits.insert(digits.begin(), "0123456789abcdef"[value % 16]);
  while ((value /= 16) != 0);
  return digits;
}

// Of a DEL that is kept; empty where it is not known.
std::string netns_proof(int netns) {
  char boot[64];
  const int file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
  const ssize_t got = file < 0 ? -1 : read(file, boot, sizeof boot);
  if (file >= 0) close(file);
  if (netns < 0 || got <= 1) return {};
  std::string proof(boot, static_cast<size_t>(got) - 1);      // without the end of the line
  constexpr unsigned long kGetId = _IOR(0xb7, 13, uint64_t);  // NS_GET_ID, since Linux 6.18
  uint64_t number = 0;
  struct stat status;
  if (ioctl(netns, kGetId, &number) == 0) return proof + " id:" + hexadecimal(number);
  return fstat(netns, &status) == 0 ? proof + " file:" + hexadecimal(status.st_ino) : std::string();
}

int failed(int code, const std::string& message, const std::string& details) {
  std::string out =
      "{\n    \"cniVersion\": \"1.1.0\",\n    \"code\": " + number(code) + ",\n    \"msg\": " + json_quoted(message);
  if (!details.empty()) out += ",\n    \"details\": " + json_quoted(details);
  put(STDOUT_FILENO, out + "\n}");
  return 1;
}

// False when the input does not end in time or is too large.
bool read_input(const Deadline& until, std::string& config, std::string& why) {
  char buffer[16 << 10];
  while (until.wait(STDIN_FILENO, POLLIN)) {
    const ssize_t got = read(STDIN_FILENO, buffer, sizeof buffer);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got == 0) return true;
    if (got < 0) {
      why = "reading standard input: " + error_text(errno);
      return false;
    }
    config.append(buffer, static_cast<size_t>(got));
    if (config.size() > kMostConfigBytes) {
      why = "the network configuration on standard input is larger than 900 KiB";
      return false;
    }
  }
  why = "standard input did not end in time";
  return false;
}

// The outcome of one request. `again` means that no agent has begun it and that one may be there soon.
struct Attempt {
  std::optional<cni::WireAnswer> answer;
  std::string why;
  bool again = false;
};

// After a failed connect: whether an agent has run since boot. A killed one leaves its socket, one that stopped leaves
// the lock beside it.
bool may_come_back(const char* path, int error) {
  if (error == ECONNREFUSED) return true;
  return error == ENOENT && access((std::string(path) + ".lock").c_str(), F_OK) == 0;
}

int open_socket(const char* path, const Deadline& until, Attempt& attempt) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (strlen(path) >= sizeof address.sun_path) {
    attempt.why = std::string("the path of the agent's socket is too long: ") + path;
    return -1;
  }
  strcpy(address.sun_path, path);
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  // Bounds connect(2), which waits while the agent's queue is full.
  const int left = until.left_ms();
  const timeval most{left / 1000, left % 1000 * 1000 + 1};
  setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof most);
  int done;
  do done = connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  while (done != 0 && errno == EINTR);
  if (done == 0) return fd;
  const int error = errno;
  attempt.why = std::string("no railbed agent answers on ") + path + ": " + error_text(error);
  attempt.again = may_come_back(path, error);
  close(fd);
  return -1;
}

ssize_t send_with(int fd, std::string_view bytes, int netns) {
  iovec part{const_cast<char*>(bytes.data()), bytes.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof netns)] = {};
  if (netns >= 0) {
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* passed = CMSG_FIRSTHDR(&message);
    passed->cmsg_level = SOL_SOCKET;
    passed->cmsg_type = SCM_RIGHTS;
    passed->cmsg_len = CMSG_LEN(sizeof netns);
    memcpy(CMSG_DATA(passed), &netns, sizeof netns);
  }
  return sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

// False when the agent closed the connection before it got everything. Its answer may still be there to read.
bool send_frame(int fd, const Deadline& until, std::string_view frame, int netns) {
  while (!frame.empty() && until.wait(fd, POLLOUT)) {
    const ssize_t put = send_with(fd, frame, netns);
    if (put < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (put < 0) return false;
    netns = -1;  // it went with the first byte
    frame.remove_prefix(static_cast<size_t>(put));
  }
  return true;
}

// `unread` means that the agent cannot have received the whole request.
void read_answer(int fd, const Deadline& until, bool unread, Attempt& attempt) {
  std::string frame;
  char buffer[16 << 10];
  for (;;) {
    if (!until.wait(fd, POLLIN)) {
      attempt.why = "the railbed agent did not answer in time";
      return;
    }
    const ssize_t got = recv(fd, buffer, sizeof buffer, MSG_DONTWAIT);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    // ECONNRESET: the agent closed the socket, or never accepted it, without reading everything in it.
    unread = unread || (got < 0 && errno == ECONNRESET);
    if (got <= 0) break;
    frame.append(buffer, static_cast<size_t>(got));
    if (frame.size() > kFrameHeadBytes + cni::kMostPayloadBytes) break;
  }
  std::string wrong;
  attempt.answer = cni::read_answer_frame(frame, wrong);
  attempt.again = attempt.answer ? attempt.answer->status == cni::kAskAgain : unread && frame.empty();
  attempt.why = frame.empty() ? "the railbed agent closed the connection before it answered"
                              : "the railbed agent's answer is truncated or invalid";
}

Attempt ask_once(const char* path, const Deadline& until, std::string_view frame, int netns) {
  Attempt attempt;
  const int agent = open_socket(path, until, attempt);
  if (agent < 0) return attempt;
  const bool sent = send_frame(agent, until, frame, netns);
  read_answer(agent, until, !sent, attempt);
  close(agent);
  return attempt;
}

Attempt ask(std::string_view command, const Deadline& until, std::string_view frame, int netns) {
  const char* path = environment("RAILBED_SOCKET", "/run/railbed/agent.sock");
  Attempt attempt = ask_once(path, until, frame, netns);
  if (!attempt.again || (command != "ADD" && command != "CHECK" && command != "GC")) return attempt;
  const Deadline patience = deadline("RAILBED_RETRY_MS", kDefaultRetryMs);
  for (int ms = kFirstPauseMs; attempt.again && patience.left_ms() > 0 && until.left_ms() > 0;
       ms = ms * 2 < kLongestPauseMs ? ms * 2 : kLongestPauseMs) {
    pause(ms);
    attempt = ask_once(path, until, frame, netns);
  }
  return attempt;
}

// Whether this is a JSON object from its first to its last brace. A plugin that is killed while it starts this one
// leaves a part of the configuration on standard input, or none.
bool is_whole(std::string_view config) {
  int depth = 0;
  bool in_text = false;
  size_t last = std::string_view::npos;  // of the closing brace
  for (size_t i = 0; i < config.size(); ++i) {
    const char c = config[i];
    if (in_text && c == '\\') {
      ++i;
    } else if (c == '"') {
      in_text = !in_text;
    } else if (!in_text && c == '{') {
      ++depth;
    } else if (!in_text && c == '}' && --depth == 0) {
      last = i;
      break;
    }
  }
  return last != std::string_view::npos && config.find_first_not_of(" \t\r\n", last + 1) == std::string_view::npos &&
         config[config.find_first_not_of(" \t\r\n")] == '{';
}

// Handles a command that no agent answered.
int without_agent(cni::WireRequest request, std::string_view command, int netns, const std::string& why) {
  const std::string hint = "is the railbed agent running? systemctl status railbed-agent";
  if (command == "CHECK" || command == "STATUS") return failed(kUnavailable, why, hint);
  if (command != "DEL") return failed(kTryAgainLater, why, hint);
  for (const char* name : {"CNI_CONTAINERID", "CNI_IFNAME"})
    if (*environment(name, "") == '\0')
      return failed(kInvalidEnvironment, std::string("required env variables [") + name + "] missing", "");
  // Kept, it would fail forever.
  if (!is_whole(request.config)) return failed(kUndecodable, "the configuration on standard input is incomplete", "");
  std::string problem;
  if (const std::string proof = netns_proof(netns); !proof.empty())
    request.environment.push_back(std::string(cni::kNetnsProof) + "=" + proof);
  const std::string frame = cni::to_frame(request);
  if (keep(environment("RAILBED_PENDING", "/var/lib/railbed/pending-del"), frame, problem)) return 0;
  return failed(kIo, why + "; queueing the DEL for later also failed: " + problem, hint);
}

int about(const std::string& type) {
  put(STDERR_FILENO, "CNI plugin " + type + ", forwards to the railbed agent\n");
  put(STDERR_FILENO, kMarker);
  put(STDERR_FILENO, "CNI protocol versions supported: 0.3.0, 0.3.1, 0.4.0, 1.0.0, 1.1.0\n");
  return 0;
}

int run(const char* program) {
  const char* slash = strrchr(program, '/');
  cni::WireRequest request;
  request.type = slash == nullptr ? program : slash + 1;
  const std::string_view command = environment("CNI_COMMAND", "");
  if (command.empty()) return about(request.type);
  if (command == "VERSION") {
    put(STDOUT_FILENO, cni::version_answer());
    return 0;
  }
  // With standard output closed the next file that is opened would be in its place, and the runtime would not get the
  // result. A DEL has no result.
  if (fcntl(STDOUT_FILENO, F_GETFD) < 0) {
    const int nowhere = command == "DEL" ? open("/dev/null", O_WRONLY) : -1;
    if (nowhere < 0) {
      put(STDERR_FILENO, "standard output is closed; the runtime reads the result from it\n");
      return 1;
    }
    if (nowhere != STDOUT_FILENO) dup2(nowhere, STDOUT_FILENO);
  }
  const Deadline until = deadline("RAILBED_TIMEOUT_MS", kDefaultTimeoutMs);
  for (char** entry = environ; *entry != nullptr; ++entry)
    if (strncmp(*entry, "CNI_", 4) == 0 && !std::string_view(*entry).starts_with(cni::kNetnsProof))
      request.environment.emplace_back(*entry);
  std::string why;
  if (!read_input(until, request.config, why)) return failed(kIo, why, "");
  const std::string frame = cni::to_frame(request);
  const int netns = open_netns();
  const Attempt attempt = ask(command, until, frame, netns);
  if (!attempt.answer) return without_agent(std::move(request), command, netns, attempt.why);
  // An ADD whose result is not read has failed: the runtime sends DEL.
  if (!put(STDOUT_FILENO, attempt.answer->output) && command == "ADD") return 1;
  return attempt.answer->status;
}

}  // namespace
}  // namespace railbed::shim

int main(int argc, char** argv) {
  return railbed::shim::run(argc > 0 ? argv[0] : "railbed-cni");
}

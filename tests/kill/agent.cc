// SPDX-License-Identifier: Apache-2.0
#include "agent.h"

#include <chrono>
#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

#include <arpa/inet.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

namespace railbed::kill {
namespace {

bool write_all(int fd, const std::string& bytes) {
  for (size_t done = 0; done < bytes.size();) {
    ssize_t now = ::send(fd, bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL);
    if (now <= 0) return false;
    done += static_cast<size_t>(now);
  }
  return true;
}

bool read_all(int fd, char* bytes, size_t size) {
  for (size_t done = 0; done < size;) {
    ssize_t now = ::recv(fd, bytes + done, size - done, 0);
    if (now <= 0) return false;
    done += static_cast<size_t>(now);
  }
  return true;
}

// The frame of src/cni/wire.h, written independently: the test must not use the code that it tests.
std::string frame(const std::string& type, const std::vector<std::string>& environment, const std::string& config) {
  std::string payload = type + '\0';
  for (const std::string& one : environment) payload += one + '\0';
  payload += '\0';
  payload += config;
  uint32_t size = htonl(static_cast<uint32_t>(payload.size()));
  return std::string("RBC1\x01") + std::string(reinterpret_cast<const char*>(&size), 4) + payload;
}

}  // namespace

Agent::Agent(AgentOptions options) : options_(std::move(options)), control_path_(options_.log + ".control") {
  int fd = ::open(control_path_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0 || ::ftruncate(fd, sizeof(Control)) != 0) throw std::runtime_error("cannot write " + control_path_);
  void* page = ::mmap(nullptr, sizeof(Control), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  ::close(fd);
  if (page == MAP_FAILED) throw std::runtime_error("cannot map " + control_path_);
  control_ = static_cast<Control*>(page);
}

Agent::~Agent() {
  stop();
  ::munmap(control_, sizeof(Control));
}

bool Agent::start(unsigned kill_at, bool after) {
  if (alive()) return true;
  arm(kill_at, after);
  pid_t child = ::fork();
  if (child == 0) {
    int log = ::open(options_.log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    ::dup2(log, 1);
    ::dup2(log, 2);
    ::setenv("LD_PRELOAD", options_.shim.c_str(), 1);
    ::setenv("SHIM_CONTROL", control_path_.c_str(), 1);
    ::setenv("SHIM_FILES", options_.watched.c_str(), 1);
    ::setenv("SHIM_ANSWERS", "1", 1);
    std::vector<char*> arguments;
    for (std::string& one : options_.command) arguments.push_back(one.data());
    arguments.push_back(nullptr);
    ::execv(arguments[0], arguments.data());
    ::_exit(127);
  }
  pid_ = child;
  auto end = std::chrono::steady_clock::now() + std::chrono::seconds(90);
  while (std::chrono::steady_clock::now() < end) {
    if (request("railbed", {"CNI_COMMAND=VERSION"}, "{}")) {
      if (kill_at == 0 || calls() < kill_at) return true;
      while (alive()) std::this_thread::sleep_for(std::chrono::microseconds(100));  // it dies right after its answer
      return false;
    }
    if (!alive()) {
      if (kill_at != 0) return false;
      throw std::runtime_error("the agent ended while it started: " + last_words());
    }
    std::this_thread::sleep_for(std::chrono::microseconds(300));
  }
  throw std::runtime_error("the agent takes no requests on " + options_.socket + " after 90 s: " + last_words());
}

bool Agent::alive() {
  if (pid_ == 0) return false;
  if (::waitpid(pid_, nullptr, WNOHANG) != pid_) return true;
  pid_ = 0;
  return false;
}

void Agent::stop() {
  if (!alive()) return;
  ::kill(pid_, SIGTERM);
  for (int i = 0; i < 6000 && alive(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  if (alive()) kill_now();
  while (alive()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

void Agent::kill_now() {
  if (pid_t pid = pid_; pid != 0) ::kill(pid, SIGKILL);
}

void Agent::arm(unsigned at, bool after) {
  control_->kill = 0;
  control_->after = after ? 1 : 0;
  control_->count = 0;
  control_->kill = at;
}

unsigned Agent::calls() const {
  return control_->count;
}

int Agent::connect() const {
  int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  std::strncpy(address.sun_path, options_.socket.c_str(), sizeof address.sun_path - 1);
  if (::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) return fd;
  ::close(fd);
  return -1;
}

std::optional<Answer> Agent::request(const std::string& type, const std::vector<std::string>& environment,
                                     const std::string& config) const {
  int fd = connect();
  if (fd < 0) return std::nullopt;
  std::optional<Answer> answer;
  char head[9];
  if (write_all(fd, frame(type, environment, config)) && read_all(fd, head, sizeof head) &&
      std::memcmp(head, "RBC1\x02", 5) == 0) {
    uint32_t size = 0;
    std::memcpy(&size, head + 5, 4);
    std::string payload(ntohl(size), '\0');
    if (!payload.empty() && read_all(fd, payload.data(), payload.size()))
      answer = Answer{static_cast<unsigned char>(payload[0]), payload.substr(1)};
  }
  ::close(fd);
  return answer;
}

std::string Agent::last_words() const {
  std::ifstream file(options_.log);
  std::stringstream text;
  text << file.rdbuf();
  std::string all = text.str();
  return all.size() > 600 ? all.substr(all.size() - 600) : all;
}

}  // namespace railbed::kill

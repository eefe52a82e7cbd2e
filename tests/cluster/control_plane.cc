// SPDX-License-Identifier: Apache-2.0
#include "control_plane.h"

#include <cstdio>
#include <cstdlib>

#include <gtest/gtest.h>
#include <sys/wait.h>

#include "os/ports/file_tree.h"

namespace railbed::cluster {

std::string folder() {
  const char* value = getenv("KUBE_FOLDER");
  return value != nullptr ? value : "";
}

std::string shell(const std::string& command) {
  const std::string whole = fmt::format("kubectl() {{ tests/cluster/kubectl \"$@\"; }}; {{ {}\n}} 2>&1", command);
  FILE* pipe = popen(whole.c_str(), "r");
  std::string out;
  char piece[4096];
  while (const size_t count = fread(piece, 1, sizeof piece, pipe)) out.append(piece, count);
  const int status = pclose(pipe);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << command << "\n" << out;
  return out;
}

bool soon(const std::function<bool()>& holds) {
  const std::unique_ptr<kube::Clock> clock = kube::real_clock();
  for (const kube::Instant end = clock->now() + kSoon; clock->now() < end; clock->wait(kube::milliseconds(50), {}))
    if (holds()) return true;
  return holds();
}

double took_s(const std::string& what, const std::function<void()>& work) {
  const kube::Instant began = kube::BootClock::now();
  work();
  const double seconds = std::chrono::duration<double>(kube::BootClock::now() - began).count();
  std::printf("figure: %s: %.2f s\n", what.c_str(), seconds);
  return seconds;
}

void control_plane(const std::string& command, const std::string& arguments) {
  shell(fmt::format("tests/cluster/control-plane {} '{}' {}", command, folder(), arguments));
}

std::string new_namespace() {
  static int number = 0;
  const std::string name = fmt::format("test-{}", ++number);
  shell("kubectl create namespace " + name);
  return name;
}

kube::ReadFile real_reader() {
  const std::shared_ptr<os::FileTree> files = os::real_files("/");
  return [files](const std::string& path) { return files->read(path); };
}

Connection::Connection(kube::ClusterAccess access, kube::ClientSettings settings, kube::CurlSettings curl)
    : credentials(std::move(access), real_reader(), *clock),
      transport(kube::make_curl_transport(credentials, curl).value()),
      client(*transport, *clock, settings) {}

kube::ClusterAccess access_of(const std::string& user) {
  const std::string path = folder() + "/" + user + ".conf";
  auto access = kube::read_kubeconfig(path, real_reader()(path).value(), {});
  EXPECT_TRUE(access) << access.error().to_string();
  return access.value();
}

std::unique_ptr<Connection> admin(kube::ClientSettings settings) {
  return std::make_unique<Connection>(access_of("admin"), settings);
}

}  // namespace railbed::cluster

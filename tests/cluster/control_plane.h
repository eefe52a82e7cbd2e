// SPDX-License-Identifier: Apache-2.0
// The control plane of tests/cluster/control-plane, as tests in C++ use it.
//
// Threading: one thread. Failure: a failed expectation of the test.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "kube/client.h"
#include "kube/config.h"
#include "kube/credentials.h"
#include "kube/curl_transport.h"

namespace railbed::cluster {

std::string folder();  // of the control plane, $KUBE_FOLDER
// Standard output of a shell command, which has to succeed; `kubectl` in it is the admin's.
std::string shell(const std::string& command);
// tests/cluster/control-plane COMMAND FOLDER ARGUMENTS
void control_plane(const std::string& command, const std::string& arguments = "");
std::string new_namespace();

// What another process brings about comes in a fraction of this, on a machine that is slow and has other work, too.
constexpr std::chrono::seconds kSoon{90};
// Looks again and again until it is so.
bool soon(const std::function<bool()>& holds);
// Prints how long it took ("figure: WHAT: 0.21 s"), in seconds.
double took_s(const std::string& what, const std::function<void()>& work);

// A client with everything that it needs.
struct Connection {
  explicit Connection(kube::ClusterAccess access, kube::ClientSettings settings = {}, kube::CurlSettings curl = {});
  std::unique_ptr<kube::Clock> clock = kube::real_clock();
  kube::Credentials credentials;
  std::unique_ptr<kube::Transport> transport;
  kube::Client client;
};
// Of a user that control-plane has made.
kube::ClusterAccess access_of(const std::string& user);
std::unique_ptr<Connection> admin(kube::ClientSettings settings = {});
kube::ReadFile real_reader();

}  // namespace railbed::cluster

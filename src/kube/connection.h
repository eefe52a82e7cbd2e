// SPDX-License-Identifier: Apache-2.0
// A client of one API server with everything it needs: identity, clock, transport.
//
// Why: the operator and the agent find their API server in the same way: through a kubeconfig file, or in a pod through
// its service account.
// Threading: client() is for any thread; the connection outlives its users.
// Failure: connect() fails if the file or the service account cannot be read or is refused (config.h); an API server
// that does not answer is not a failure of connect().
#pragma once

#include <memory>
#include <string>

#include "kube/client.h"
#include "kube/config.h"
#include "kube/credentials.h"
#include "kube/curl_transport.h"

namespace railbed::kube {

// Where the API server is and who to be there.
struct ConnectionChoice {
  std::string kubeconfig;  // a path; empty: the pod's service account
  std::string context;     // of the kubeconfig; empty: its current-context
  PodEnvironment pod;
};

class Connection {
 public:
  Connection(ClusterAccess access, ReadFile read, std::unique_ptr<Clock> clock);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // To be called once, before the others.
  Result<void> open(const ClientSettings& settings = {}, const CurlSettings& curl = {});

  Client& client() { return *client_; }
  Transport& transport() { return *transport_; }
  Clock& clock() { return *clock_; }
  const std::string& server() const { return credentials_.access().server; }
  // Of the kubeconfig's context, or the one that the pod is in.
  const std::string& ns() const { return credentials_.access().ns; }

 private:
  std::unique_ptr<Clock> clock_;
  Credentials credentials_;
  std::unique_ptr<Transport> transport_;
  std::unique_ptr<Client> client_;
};

Result<std::unique_ptr<Connection>> connect(const ConnectionChoice& choice, const ReadFile& read,
                                            const ClientSettings& settings = {}, const CurlSettings& curl = {});

}  // namespace railbed::kube

// SPDX-License-Identifier: Apache-2.0
#include "kube/connection.h"

namespace railbed::kube {

namespace {

Result<ClusterAccess> access_of(const ConnectionChoice& choice, const ReadFile& read) {
  if (choice.kubeconfig.empty()) return in_cluster(choice.pod, read);
  return read_kubeconfig(choice.kubeconfig, TRY(read(choice.kubeconfig)), {.context = choice.context});
}

}  // namespace

Connection::Connection(ClusterAccess access, ReadFile read, std::unique_ptr<Clock> clock)
    : clock_(std::move(clock)), credentials_(std::move(access), std::move(read), *clock_) {}

Result<void> Connection::open(const ClientSettings& settings, const CurlSettings& curl) {
  transport_ = TRY(make_curl_transport(credentials_, curl));
  client_ = std::make_unique<Client>(*transport_, *clock_, settings);
  return {};
}

Result<std::unique_ptr<Connection>> connect(const ConnectionChoice& choice, const ReadFile& read,
                                            const ClientSettings& settings, const CurlSettings& curl) {
  auto connection = std::make_unique<Connection>(TRY(access_of(choice, read)), read, real_clock());
  TRY(connection->open(settings, curl));
  return connection;
}

}  // namespace railbed::kube

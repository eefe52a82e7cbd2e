// SPDX-License-Identifier: Apache-2.0
// railbed operator: policies and networks of a cluster, until it is stopped.
//
//   API server ─► Operator (src/controller/operator.h) ─► API server         Prometheus, kubelet ─► pages
//
// Threads: those of the Operator (a cache each, its writers, Lease, Events), the pages', main, which waits. SIGTERM
// stops the writers, then the Lease is given back.
#include "operator.h"

#include <random>

#include "agent/door/endpoint.h"
#include "agent_log.h"
#include "base/log.h"
#include "command/environment.h"
#include "command/exit_status.h"
#include "command/log_level.h"
#include "command/operator_options.h"
#include "command/stop_signal.h"
#include "doc/text.h"
#include "kube/connection.h"
#include "memory.h"
#include "node/resource_prefix.h"
#include "operator_pages.h"
#include "os/ports/kernel.h"
#include "os/real/service_manager.h"

namespace railbed {

namespace {

constexpr std::chrono::seconds kAliveWithin{60};

// "a=b,c=d".
Result<graph::Labels> labels_in(const std::string& text) {
  graph::Labels out;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view one = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), one.size() + 1));
    const size_t equals = one.find('=');
    if (equals == std::string_view::npos || equals == 0)
      return fail(Error{.code = Code::kInvalid,
                        .message = fmt::format("--node-selector: \"{}\" is not LABEL=VALUE", one),
                        .hint = "for example kubernetes.io/os=linux,node-role.kubernetes.io/worker="});
    out.emplace(one.substr(0, equals), one.substr(equals + 1));
  }
  return out;
}

agent::HttpReply page(const std::vector<std::string>& troubles) {
  if (troubles.empty()) return {.body = "ok\n"};
  std::string body;
  for (const std::string& one : troubles) body += doc::printable(one) + "\n";
  return {.status = 503, .body = std::move(body)};
}

agent::HttpPages pages_of(const controller::Operator& work, kube::Clock& clock) {
  agent::HttpPages pages;
  pages["/metrics"] = [&] {
    return agent::HttpReply{.body = operator_metrics(work.snapshot(), clock.now()),
                            .content_type = std::string(agent::kMetricsFormat)};
  };
  pages["/readyz"] = [&] { return page(operator_troubles(work.snapshot())); };
  // Alive is one whose writers come by; an API server that is away is no reason for a restart.
  pages["/healthz"] = [&] {
    const bool alive = clock.now() - work.snapshot().looked < kAliveWithin;
    return page(alive ? std::vector<std::string>() : std::vector<std::string>{"all writers are blocked"});
  };
  return pages;
}

Result<int> run_operator(const OperatorOptions& options) {
  log_without_waiting(level_named(options.log_level));
  limit_memory();
  StopSignal stop;
  const std::unique_ptr<os::Kernel> kernel = os::real_kernel();
  if (options.resource_prefix.empty())
    return fail(Code::kInvalid, "--resource-prefix is empty; leave it out for {}", node::kDefaultPrefix);
  const std::vector<std::string> namespaces = TRY(options.namespaces());
  controller::OperatorSettings settings{.resource_prefix = options.resource_prefix,
                                        .policy_namespaces = namespaces,
                                        .node_selector = TRY(labels_in(options.node_selector))};
  settings.verbosity = log::set_verbosity;
  settings.drains.wanted = options.drain;
  settings.reclaim.rules.after_seconds = TRY(reclaim_seconds(options.reclaim_after));
  const auto connection = TRY(
      kube::connect({.kubeconfig = options.kubeconfig,
                     .context = options.context,
                     .pod = {.host = variable("KUBERNETES_SERVICE_HOST"), .port = variable("KUBERNETES_SERVICE_PORT")}},
                    [&](const std::string& path) { return kernel->files().read(path); })
          .context("connecting to the API server"));
  settings.ns = options.ns.empty() ? connection->ns() : options.ns;
  settings.identity = !options.identity.empty() ? options.identity
                                                : fmt::format("{}_{:08x}", kernel->host_name(), std::random_device()());
  controller::Operator work(connection->transport(), connection->clock(), settings,
                            [](controller::Importance importance, const std::string& line) {
                              importance == controller::Importance::kInfo ? log::info(line) : log::warn(line);
                            });
  std::unique_ptr<agent::HttpServer> pages;
  if (options.metrics != "off")
    pages = TRY(
        agent::serve_at(options.metrics, pages_of(work, connection->clock())).context("--metrics {}", options.metrics));
  log::info(fmt::format("railbed {} works for namespace {} of {} as {}, resource prefix {}", RAILBED_VERSION,
                        settings.ns, connection->server(), settings.identity, settings.resource_prefix));
  if (const std::string socket = variable("NOTIFY_SOCKET"); !socket.empty())
    (void)os::notify_manager(socket.c_str(), "READY=1");
  work.run(stop.token());
  log::info("stopped");
  return kExitOk;
}

}  // namespace

int operator_verb(CommandLine& line) {
  OperatorOptions options;
  options.declare(line);
  if (auto status = line.parse()) return *status;
  return status_of(run_operator(options));
}

}  // namespace railbed

// SPDX-License-Identifier: Apache-2.0
#include "perf/mesh/registrant.h"

#include <algorithm>
#include <random>

#include "base/number.h"
#include "doc/text.h"
#include "perf/channel/client_talk.h"
#include "perf/channel/control.h"
#include "perf/mesh/registry.h"
#include "rdma/local_network.h"

namespace railbed::perf::mesh {
namespace {

constexpr std::chrono::minutes kSilence{10};  // of a coordinator that waits for others; then it is waited for again

class Registrant {
 public:
  Registrant(const RegistrantOptions& options, const std::stop_token& stop) : options_(options), stop_(stop) {}

  void run() {
    while (!stop_.stop_requested()) {
      const auto ended = register_once();
      if (stop_.stop_requested()) return;
      report_reason(ended.error());
      pause();
    }
  }

 private:
  std::string coordinator() const {
    return fmt::format("{} port {}", doc::printable(options_.coordinator.host), options_.coordinator.port);
  }
  void report(const std::string& line) const {
    if (options_.on_event) options_.on_event(line);
  }

  // Returns when that is over, always with the reason.
  Result<void> register_once() {
    const auto answer = options_.limits.answer;
    Socket socket = TRY(Socket::connect(options_.coordinator.host, options_.coordinator.port,
                                        options_.limits.after(options_.limits.connect), options_.from));
    Channel channel(std::move(socket), stop_, *options_.limits.clock);
    TRY(channel.socket().set_keepalive());
    TRY(channel.socket().set_no_delay());
    TRY(greet_server(channel, {.hostname = options_.message.name, .token = options_.token, .peer = "coordinator"},
                     options_.limits));
    TRY(channel.send(options_.message, options_.limits.after(answer)));
    const Registered done = TRY(channel.expect<Registered>(answer));
    report(fmt::format("{}: registered as {}, {}{} endpoint(s)", coordinator(), doc::printable(options_.message.name),
                       done.registered, done.wanted > 0 ? fmt::format(" of {}", done.wanted) : ""));
    last_reason_.clear();
    pause_ = options_.first_pause;
    for (;;) {
      const auto message = channel.receive(kSilence);
      if (message) return fail(unexpected(*message));
      if (message.error().code != Code::kTimeout) return fail(message.error());
    }
  }

  void report_reason(const Error& error) {
    std::string reason = error.to_string();
    if (reason == last_reason_) return;
    report(fmt::format("{}: not registered, retrying: {}", coordinator(), reason));
    last_reason_ = std::move(reason);
  }

  // Between half of it and all of it.
  void pause() {
    const auto most = pause_.count();
    const std::chrono::milliseconds length(std::uniform_int_distribution<int64_t>((most + 1) / 2, most)(random_));
    pause_ = std::min(2 * pause_, options_.longest_pause);
    Clock& clock = *options_.limits.clock;
    clock.sleep_until(clock.now() + length, stop_);
  }

  const RegistrantOptions& options_;
  const std::stop_token& stop_;
  std::string last_reason_;
  std::chrono::milliseconds pause_ = options_.first_pause;
  std::mt19937 random_{std::random_device{}()};
};

std::optional<uint16_t> port_from(std::string_view text) {
  const std::optional<uint16_t> port = whole_number<uint16_t>(text);
  return port == 0 ? std::nullopt : port;
}

bool is_link_local(const IpAddress& address) {
  static const IpPrefix kV4 = *IpPrefix::parse("169.254.0.0/16");
  static const IpPrefix kV6 = *IpPrefix::parse("fe80::/10");
  return kV4.contains(address) || kV6.contains(address);
}

Result<IpAddress> address_of_rail(const rdma::LocalNetwork& network, const std::string& word) {
  if (const auto address = IpAddress::parse(word)) {
    if (rdma::interface_of(network, *address) == nullptr)
      return fail(Code::kNotFound, "--rail {}: not an address of this network namespace", word);
    return *address;
  }
  for (const IpFamily family : {IpFamily::kV4, IpFamily::kV6})
    for (const rdma::LocalAddress& local : network.addresses)
      if (local.name.value == word && local.address.family == family && !is_link_local(local.address))
        return local.address;
  const bool there = std::ranges::any_of(network.interfaces, [&](const auto& one) { return one.name.value == word; });
  return fail(Error{.code = Code::kNotFound,
                    .message = there ? fmt::format("--rail {}: the interface has no address", word)
                                     : fmt::format("--rail {}: no such interface here, and no address", word),
                    .hint = "name an interface or an address for each rail, e.g. --rail net1,net2"});
}

}  // namespace

Result<CoordinatorAddress> coordinator_from(std::string_view text) {
  const auto wrong = [&] {
    return fail(Error{.code = Code::kInvalid,
                      .message = fmt::format("--register: \"{}\" is not an address of a coordinator", text),
                      .hint = "e.g. 10.0.0.9, 10.0.0.9:18601, [fd00::9]:18601 or a name"});
  };
  CoordinatorAddress address{.host = std::string(text), .port = kRegistryPort};
  std::string_view port;
  if (text.starts_with('[')) {
    const size_t end = text.find(']');
    if (end == std::string_view::npos) return wrong();
    address.host = text.substr(1, end - 1);
    port = text.substr(end + 1);
  } else if (const size_t colon = text.find(':'); colon != std::string_view::npos && text.rfind(':') == colon) {
    address.host = text.substr(0, colon);
    port = text.substr(colon);
  }
  if (address.host.empty()) return wrong();
  if (port.empty()) return address;
  const auto number = port_from(port.substr(1));
  if (!port.starts_with(':') || !number) return wrong();
  address.port = *number;
  return address;
}

Result<Register> register_for(os::Kernel& kernel, std::string name, uint16_t port,
                              const std::vector<std::string>& rails) {
  if (rails.empty() || rails.size() > kMaxRails)
    return fail(Error{
        .code = Code::kInvalid,
        .message = rails.empty() ? "--register requires --rail: the endpoint decides what is measured"
                                 : fmt::format("--rail: {} rails, at most {} are possible", rails.size(), kMaxRails),
        .hint = "name an interface or an address for each rail, e.g. --rail net1,net2"});
  if (name.empty() || name.size() > kMaxNameBytes)
    return fail(Code::kInvalid, "--name: a host of a mesh has a name of 1 to {} bytes", kMaxNameBytes);
  const rdma::LocalNetwork network = TRY(rdma::read_local_network(kernel));
  Register message{
      .name = std::move(name), .port = port, .rail_count = static_cast<uint32_t>(rails.size()), .rails = {}};
  for (uint32_t rail = 0; rail < rails.size(); ++rail) {
    if (rails[rail].empty()) continue;
    message.rails.push_back({.rail = rail, .address = TRY(address_of_rail(network, rails[rail])), .device = {}});
  }
  if (message.rails.empty()) return fail(Code::kInvalid, "--rail: this host has no NIC on any rail");
  return message;
}

void keep_registered(const RegistrantOptions& options, const std::stop_token& stop) {
  Registrant(options, stop).run();
}

}  // namespace railbed::perf::mesh

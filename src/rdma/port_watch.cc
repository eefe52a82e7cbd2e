// SPDX-License-Identifier: Apache-2.0
#include "rdma/port_watch.h"

#include <algorithm>

#include "rdma/pause_counters.h"

namespace railbed::rdma {
namespace {

constexpr const char* kDevices = "/sys/class/infiniband";

// Counters of all drivers for one figure: names of different things, which add up, or names of one thing.
enum class Several : uint8_t { kAddUp, kAreOne };
struct FigureNames {
  std::string_view name;
  Several several;
  std::vector<std::string_view> counters;
};

// In the order of the enumeration.
const std::array<FigureNames, kPortFigures>& table() {
  static const std::array<FigureNames, kPortFigures> figures = {{
      {"sent_bytes", Several::kAreOne, {"port_xmit_data_bytes"}},
      {"received_bytes", Several::kAreOne, {"port_rcv_data_bytes"}},
      {"sent_packets", Several::kAreOne, {"port_xmit_packets", "sent_pkts"}},
      {"received_packets", Several::kAreOne, {"port_rcv_packets", "rcvd_pkts"}},
      {"retransmits",
       Several::kAddUp,
       {"local_ack_timeout_err", "packet_seq_err", "rnr_nak_retry_err", "implied_nak_seq_err", "roce_adp_retrans",
        "to_retransmits", "seq_err_naks_rcvd", "RetransSegs", "rcvd_seq_err", "rcvd_rnr_err", "completer_retry_err"}},
      {"out_of_sequence",
       Several::kAddUp,
       {"out_of_sequence", "out_of_seq_request", "duplicate_request", "oos_drop_count"}},
      {"cnps_sent", Several::kAreOne, {"np_cnp_sent", "cnpSent", "tx_cnp_pkts"}},
      {"cnps_handled", Several::kAreOne, {"rp_cnp_handled", "cnpHandled", "rx_cnp_pkts"}},
      {"ecn_marked", Several::kAreOne, {"np_ecn_marked_roce_packets", "RxECNMrkd", "rx_ecn_marked_pkts"}},
      {"discards",
       Several::kAddUp,
       {"port_xmit_discards", "rx_icrc_encapsulated", "rx_roce_discards", "tx_roce_discards"}},
      {"waits", Several::kAreOne, {"port_xmit_wait"}},
      {"pauses_sent", Several::kAddUp, {}},
      {"pauses_received", Several::kAddUp, {}},
  }};
  return figures;
}

// Where counters of 32 bits stop, in their own unit and, of data, in bytes.
bool at_its_end(std::string_view name, int64_t value) {
  constexpr int64_t kEnd = 0xffff'ffff;
  return value == (name.ends_with("_data_bytes") ? 4 * kEnd : kEnd);
}

std::string folder_of(const Port& port) {
  return fmt::format("{}/{}/ports/{}", kDevices, port.device, port.port);
}

std::string netdev_of(const os::FileTree& files, const Port& port) {
  const std::string attributes = folder_of(port) + "/gid_attrs/ndevs";
  for (const std::string& entry : files.list(attributes).value_or(std::vector<std::string>()))
    if (const auto name = os::read_line(files, attributes + "/" + entry); name && !name->empty()) return *name;
  return {};
}

std::vector<Port> ports_of(const os::FileTree& files) {
  std::vector<Port> ports;
  for (const std::string& device : files.list(kDevices).value_or(std::vector<std::string>()))
    for (const std::string& number :
         files.list(fmt::format("{}/{}/ports", kDevices, device)).value_or(std::vector<std::string>())) {
      if (number.size() > 3 || !std::ranges::all_of(number, [](char c) { return c >= '0' && c <= '9'; })) continue;
      Port port{.device = device, .port = std::stoi(number), .netdev = {}};
      port.netdev = netdev_of(files, port);
      ports.push_back(std::move(port));
    }
  return ports;
}

bool is_meant(const Port& port, const std::string& wanted) {
  return wanted == port.device || wanted == text_of(port);
}

Error nothing_to_watch(const std::vector<Port>& ports, const std::string& wanted) {
  if (ports.empty())
    return {.code = Code::kNotFound,
            .message = "this machine has no RDMA device",
            .hint = "`rdma link` lists them; in a pod they come with the RDMA resource"};
  std::string known;
  for (const Port& port : ports) known += fmt::format("{}{}", known.empty() ? "" : ", ", text_of(port));
  return {.code = Code::kNotFound,
          .message = fmt::format("no RDMA device or port {}", wanted),
          .hint = "this machine has " + known};
}

}  // namespace

std::string_view name_of(PortFigure figure) {
  return table()[static_cast<size_t>(figure)].name;
}
std::string_view name_of(PortState state) {
  constexpr std::string_view kNames[] = {"there", "gone", "came back"};
  return kNames[static_cast<size_t>(state)];
}

std::array<std::optional<int64_t>, kPortFigures> figures_of(const PortCounters& before, const PortCounters& after) {
  std::array<std::optional<int64_t>, kPortFigures> figures;
  for (size_t i = 0; i < kPortFigures; ++i) {
    bool known = true;
    std::optional<int64_t> sum;
    for (const std::string_view name : table()[i].counters) {
      const auto now = after.find(std::string(name));
      if (now == after.end() || (sum && table()[i].several == Several::kAreOne)) continue;
      const auto old = before.find(now->first);
      if (old == before.end() || now->second < old->second || at_its_end(name, now->second))
        known = false;
      else
        sum = sum.value_or(0) + (now->second - old->second);
    }
    if (known) figures[i] = sum;
  }
  figures[static_cast<size_t>(PortFigure::kPausesSent)] = pause_frames(before, after, PauseDirection::kSent);
  figures[static_cast<size_t>(PortFigure::kPausesReceived)] = pause_frames(before, after, PauseDirection::kReceived);
  return figures;
}

PortCounters PortWatch::read(const Port& port) const {
  return read_counters(files_, interfaces_, port);
}

Result<PortWatch> PortWatch::start(const os::FileTree& files, os::LinkStatistics* interfaces,
                                   const std::vector<std::string>& wanted, Time now) {
  PortWatch watch(files, interfaces);
  const std::vector<Port> there = ports_of(files);
  for (const std::string& name : wanted)
    if (std::ranges::none_of(there, [&](const Port& port) { return is_meant(port, name); }))
      return fail(nothing_to_watch(there, name));
  if (there.empty()) return fail(nothing_to_watch(there, ""));
  for (const Port& port : there) {
    if (!wanted.empty() && std::ranges::none_of(wanted, [&](const std::string& name) { return is_meant(port, name); }))
      continue;
    watch.ports_.push_back({.port = port, .before = watch.read(port)});
  }
  watch.last_ = now;
  return watch;
}

std::vector<PortInterval> PortWatch::look(Time now) {
  std::vector<PortInterval> out;
  const double interval_s = std::chrono::duration<double>(now - std::exchange(last_, now)).count();
  for (Watched& one : ports_) {
    PortInterval interval{.port = one.port, .interval_s = interval_s};
    const bool was_there = one.before.has_value();
    if (!files_.exists(folder_of(one.port))) {
      one.before.reset();
      interval.state = PortState::kGone;
    } else {
      PortCounters after = read(one.port);
      if (was_there) {
        interval.figures = figures_of(*one.before, after);
        interval.counters = moved(*one.before, after);
      } else {
        interval.state = PortState::kCameBack;
      }
      one.before = std::move(after);
    }
    out.push_back(std::move(interval));
  }
  return out;
}

}  // namespace railbed::rdma

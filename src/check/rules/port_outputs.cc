// SPDX-License-Identifier: Apache-2.0
// What pasted output of ibstat, ibstatus, ibv_devinfo, `rdma link` and `ip link` says of ports.
//
// Each tool has its own words for one thing ("PORT_INIT (2)", "2: INIT", "Initializing", "state INIT"), so the output
// is read into ports first.
#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/number.h"
#include "check/read/command_view.h"
#include "check/rules/lookups.h"
#include "check/rules/output.h"

namespace railbed::check {
namespace {

using Line = Command::Line;

// A word of the output with its line.
struct Seen {
  const Line* line = nullptr;
  Found word;
  bool is_there() const { return line != nullptr; }
  doc::Span span() const { return part_of(line->span, word.at, word.text.size()); }
};

enum class PrintedState : uint8_t { kUnknown, kActive, kDown, kInit, kArmed };

struct PrintedPort {
  std::string device;
  PrintedState state = PrintedState::kUnknown;
  Seen state_word;
  bool has_link = false;   // physically
  std::string link_layer;  // "InfiniBand", "Ethernet"; empty: not printed
  Seen zero_guid;          // the port's GUID, else the node's, that is zero
  Seen unassigned_lid;     // 65535
  double rate_gbps = 0;    // 0: not printed
  Seen active_mtu;
  int max_mtu = 0;
};

constexpr int kUnassignedLid = 65535;

PrintedState state_of(std::string_view word) {
  constexpr std::pair<std::string_view, PrintedState> kWords[] = {
      {"PORT_ACTIVE", PrintedState::kActive}, {"ACTIVE", PrintedState::kActive}, {"Active", PrintedState::kActive},
      {"PORT_DOWN", PrintedState::kDown},     {"DOWN", PrintedState::kDown},     {"Down", PrintedState::kDown},
      {"PORT_INIT", PrintedState::kInit},     {"INIT", PrintedState::kInit},     {"Initializing", PrintedState::kInit},
      {"PORT_ARMED", PrintedState::kArmed},   {"ARMED", PrintedState::kArmed},   {"Armed", PrintedState::kArmed},
  };
  const auto* found = std::ranges::find(kWords, word, &std::pair<std::string_view, PrintedState>::first);
  return found == std::end(kWords) ? PrintedState::kUnknown : found->second;
}

bool is_zero_guid(std::string_view text) {
  if (text.starts_with("0x")) text.remove_prefix(2);
  return text.size() >= 8 && text.find_first_not_of("0:") == std::string_view::npos;
}

std::optional<int> lid_in(std::string_view text) {
  int base = 10;
  if (text.starts_with("0x")) {
    text.remove_prefix(2);
    base = 16;
  }
  return whole_number<int>(text, base);
}

// The parts of "  Port GUID: 0x00  ": a key in lower case with blanks for underscores, and the words behind the colon.
struct KeyAndWords {
  std::string key;
  std::vector<Found> words;
};
KeyAndWords key_and_words(std::string_view line) {
  KeyAndWords out;
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos) return out;
  out.key = lower(line.substr(0, colon));
  std::ranges::replace(out.key, '_', ' ');
  while (!out.key.empty() && (out.key.back() == ' ' || out.key.back() == '\t')) out.key.pop_back();
  for (const std::string_view word : fields_of_line(line.substr(colon + 1)))
    out.words.push_back({word, static_cast<size_t>(word.data() - line.data())});
  return out;
}

// Output with a key to a line: ibstat, ibstatus, ibv_devinfo.
class PortLines {
 public:
  std::vector<PrintedPort> read(const Command& command) {
    for (const Line& line : command.output) read_line(line);
    return std::move(ports_);
  }

 private:
  PrintedPort& port() {
    if (ports_.empty()) begin();
    return ports_.back();
  }

  void begin() {
    PrintedPort port;
    port.device = device_;
    port.zero_guid = zero_node_guid_;
    ports_.push_back(std::move(port));
  }

  // Devices are named before their ports, and have what all of these share.
  void begin_device(std::string_view name) {
    device_ = name;
    std::erase(device_, '\'');
    zero_node_guid_ = {};
  }

  void read_line(const Line& line) {
    const auto words = fields_of_line(line.text);
    if (words.size() >= 2 && words[0] == "CA") return begin_device(words[1]);
    if (words.size() >= 3 && words[0] == "Infiniband" && words[1] == "device") {
      begin_device(words[2]);
      return begin();
    }
    const KeyAndWords parts = key_and_words(line.text);
    if (parts.key == "hca id" && !parts.words.empty()) return begin_device(parts.words[0].text);
    if (parts.key == "port" || (parts.key.starts_with("port ") && parts.words.empty())) return begin();
    if (!parts.words.empty()) read_value(line, parts.key, parts.words);
  }

  void read_value(const Line& line, std::string_view key, const std::vector<Found>& words) {
    const Found& first = words[0];
    if (key.starts_with("phys")) {  // "phys state", "Physical state"
      port().has_link =
          std::ranges::any_of(words, [](const Found& one) { return lower(one.text).starts_with("link"); });
    } else if (key.ends_with("state")) {
      // "2: INIT" of ibstatus, "PORT_INIT (2)" of ibv_devinfo
      const Found& word = words.size() > 1 && first.text.ends_with(':') ? words[1] : first;
      if (port().state_word.is_there()) begin();
      port().state = state_of(word.text);
      port().state_word = {&line, word};
    } else if (key == "link layer") {
      port().link_layer = first.text;
    } else if (key == "node guid" && is_zero_guid(first.text)) {
      zero_node_guid_ = {&line, first};
    } else if (key == "port guid" && is_zero_guid(first.text)) {
      port().zero_guid = {&line, first};
    } else if (key == "default gid" && first.text.size() == 39 && is_zero_guid(first.text.substr(20))) {
      port().zero_guid = {&line, {first.text.substr(20), first.at + 20}};
    } else if (key == "base lid" || key == "port lid") {
      if (lid_in(first.text) == kUnassignedLid) port().unassigned_lid = {&line, first};
    } else if (key == "rate") {
      port().rate_gbps = number_in(first.text).value_or(0);
    } else if (key == "active mtu") {
      port().active_mtu = {&line, first};
    } else if (key == "max mtu") {
      port().max_mtu = lid_in(first.text).value_or(0);
    } else if (key == "active width") {
      width_ = number_in(first.text.substr(0, first.text.find('X'))).value_or(0);
    } else if (key == "active speed") {
      port().rate_gbps = width_ * number_in(first.text).value_or(0);
    }
  }

  std::vector<PrintedPort> ports_;
  std::string device_;
  Seen zero_node_guid_;
  double width_ = 0;
};

// "link mlx5_4/1 subnet_prefix … lid 65535 sm_lid 0 lmc 0 state INIT physical_state LINK_UP netdev ib0", and older
// "1/1: mlx5_4/1: state ACTIVE …"; each key is before its value. With -j: {"ifname":"mlx5_4","state":"INIT",…}.
std::vector<PrintedPort> ports_of_rdma_link(const Command& command) {
  std::vector<PrintedPort> ports;
  for (const Line& line : command.output) {
    PrintedPort port;
    bool is_port = false;
    bool is_infiniband = false;
    std::string_view key;
    const auto take = [&](std::string_view word) {
      const Found found{word, static_cast<size_t>(word.data() - line.text.data())};
      if (key == "state") {
        port.state = state_of(word);
        port.state_word = {&line, found};
        is_port = true;
      }
      if (key == "physical_state") port.has_link = word == "LINK_UP";
      is_infiniband |= key == "subnet_prefix" || key == "lid";
      if (key == "lid" && lid_in(word) == kUnassignedLid) port.unassigned_lid = {&line, found};
      if (key == "link" || key == "ifname") port.device = word.substr(0, word.find('/'));
      key = word;
    };
    // Quotes, commas and colons of JSON separate words as blanks do.
    const std::string_view separators = line.text.find_first_of("[{\"") == 0 ? " \t\",:{}[]" : " \t";
    for (size_t at = line.text.find_first_not_of(separators); at < line.text.size();) {
      const size_t end = std::min(line.text.find_first_of(separators, at), line.text.size());
      take(line.text.substr(at, end - at));
      at = line.text.find_first_not_of(separators, end);
      if (key == "ifindex" && is_port) {  // the next object of a list
        port.link_layer = is_infiniband ? "InfiniBand" : "Ethernet";
        ports.push_back(std::exchange(port, PrintedPort{}));
        is_port = is_infiniband = false;
      }
    }
    if (!is_port) continue;
    port.link_layer = is_infiniband ? "InfiniBand" : "Ethernet";
    ports.push_back(std::move(port));
  }
  return ports;
}

std::vector<PrintedPort> printed_ports(const Command& command) {
  if (command.words.empty()) return {};
  const std::string& program = command.words[0].text;
  if (program == "rdma") return ports_of_rdma_link(command);
  if (program.starts_with("ibv_dev") || program.starts_with("ibstat")) return PortLines().read(command);
  return {};
}

bool is_infiniband(const PrintedPort& port) {
  return port.link_layer == "InfiniBand";
}

// A VF in the output of `ip` whose link is held down never gets a LID, whatever the subnet manager does.
void vf_link_disabled(const Command& command, Findings& out) {
  constexpr std::string_view kDown = "link-state disable";
  for (const Line& line : command.output) {
    const size_t at = line.text.find(kDown);
    if (at == std::string_view::npos || line.text.find("vf ") > at) continue;
    out.note(part_of(line.span, at, kDown.size()),
             "the link of this VF is disabled: the device exists but carries no traffic")
        .with_fix("linkState: enable in the network, or: ip link set PF vf N state enable");
    return;
  }
}

constexpr std::string_view kGiveGuid =
    "give the VF a GUID (ib-kubernetes, guid of its network, or: ip link set PF vf N port_guid …), then bind its driver "
    "again";

void report_state(const PrintedPort& port, Findings& out) {
  const bool waits = port.state != PrintedState::kDown || (is_infiniband(port) && port.has_link);
  const bool for_interface = waits && port.link_layer == "Ethernet";
  std::string_view why = "this port has no link";
  std::string_view fix = "bring the link up (cable, link state of the VF), then check again";
  if (for_interface) {
    why = "this port waits for its interface";
    fix = "set the interface up (ip link set dev NAME up), then check again";
  } else if (waits) {
    why = "this port waits for the subnet manager";
    fix = "check that a subnet manager runs and knows the port's GUID, then check again";
  }
  if (waits && is_infiniband(port) && port.zero_guid.is_there()) fix = kGiveGuid;
  doc::Diagnostic& reported =
      out.note(port.state_word.span(), fmt::format("{}: the device exists but carries no traffic", why));
  if (is_infiniband(port) && port.zero_guid.is_there())
    reported.note(port.zero_guid.span(), "its GUID is zero, which no subnet manager accepts");
  if (port.unassigned_lid.is_there())
    reported.note(port.unassigned_lid.span(), "65535 is no LID: the subnet manager has not taken the port in");
  reported.with_fix(std::string(fix));
}

bool is_reported_by_state(const PrintedPort& port) {
  return port.state == PrintedState::kDown || port.state == PrintedState::kInit || port.state == PrintedState::kArmed;
}

// The zero in "PORT_GUID 00:00:00:00:00:00:00:00" of a VF's line.
std::optional<Found> zero_vf_guid(std::string_view line) {
  if (line.find("vf ") == std::string_view::npos || line.find("link/infiniband") == std::string_view::npos)
    return std::nullopt;
  constexpr std::string_view kKey = "PORT_GUID ";
  const size_t key = line.find(kKey);
  if (key == std::string_view::npos) return std::nullopt;
  const size_t at = key + kKey.size();
  const std::string_view guid = line.substr(at, line.find_first_of(", \t", at) - at);
  return is_zero_guid(guid) ? std::optional(Found{guid, at}) : std::nullopt;
}

// The rate of each device that some output of a source prints.
std::map<std::string, double> rates_in(const Bundle& bundle, const doc::SourcePtr& source) {
  std::map<std::string, double> rates;
  for (const Command& command : bundle.commands)
    if (command.span.source == source)
      for (const PrintedPort& port : printed_ports(command))
        if (!port.device.empty() && port.rate_gbps > 0) rates.emplace(port.device, port.rate_gbps);
  return rates;
}

constexpr double kFastGbps = 40;      // from such a rate on the size of packets counts
constexpr double kFasterThan25 = 25;  // a result that only such a link gives
constexpr int kSmallMtu = 1024;

void report_mtu(const doc::Span& span, int mtu, double gbps, bool is_measured, bool is_infiniband, Findings& out) {
  out.warning(span, fmt::format("packets of {} bytes on a link {} {:.0f} Gb/s: 4096 are possible", mtu,
                                is_measured ? "that carries" : "of", gbps))
      .with_fix(is_infiniband ? "let the partition have an MTU of 4096 (mtu=5 in the subnet manager's partitions.conf)"
                              : "MTU 9000 (at least 4200) on the interface, its VFs and the ports of the switch");
}

}  // namespace

void port_not_active(const Input& in, Findings& out) {
  for (const Command& command : in.bundle.commands)
    if (!command.words.empty() && command.words.front().text == "ip") vf_link_disabled(command, out);
  for (const Command& command : in.bundle.commands) {
    const std::vector<PrintedPort> ports = printed_ports(command);
    const auto first = std::ranges::find_if(ports, is_reported_by_state);
    if (first != ports.end()) report_state(*first, out);
  }
}

void port_without_guid(const Input& in, Findings& out) {
  constexpr std::string_view kSays = "an InfiniBand port without a GUID: the subnet manager gives it no LID";
  for (const Command& command : in.bundle.commands) {
    const std::vector<PrintedPort> ports = printed_ports(command);
    for (const PrintedPort& port : ports) {
      if (!is_infiniband(port) || !port.zero_guid.is_there() || is_reported_by_state(port)) continue;
      doc::Diagnostic& reported = out.note(port.zero_guid.span(), std::string(kSays));
      if (port.unassigned_lid.is_there()) reported.note(port.unassigned_lid.span(), "65535 is no LID");
      reported.with_fix(std::string(kGiveGuid));
      break;
    }
    if (command.words.empty() || command.words[0].text != "ip") continue;
    for (const Line& line : command.output)
      if (const auto guid = zero_vf_guid(line.text)) {
        out.note(part_of(line.span, guid->at, guid->text.size()), "a VF without a GUID: no subnet manager takes it in")
            .with_fix(std::string(kGiveGuid));
        break;
      }
  }
}

void small_path_mtu(const Input& in, Findings& out) {
  for (const Command& command : in.bundle.commands)
    for (const PrintedPort& port : printed_ports(command)) {
      const int mtu = port.active_mtu.is_there() ? lid_in(port.active_mtu.word.text).value_or(0) : 0;
      if (mtu <= 0 || mtu > kSmallMtu || port.max_mtu < 4096 || port.state != PrintedState::kActive) continue;
      const auto rates = rates_in(in.bundle, command.span.source);
      const auto known = rates.find(port.device);
      const double rate = port.rate_gbps > 0 ? port.rate_gbps : known == rates.end() ? 0 : known->second;
      if (rate >= kFastGbps) report_mtu(port.active_mtu.span(), mtu, rate, false, is_infiniband(port), out);
    }
  for (const ToolCommand& one : tool_commands(in.bundle)) {
    if (one.tool->package != "perftest" || one.parsed.given(*one.tool, "-m") != nullptr) continue;
    bool is_ib = false;
    Seen printed;
    for (const Line& line : one.command->output) {
      if (const auto type = value_behind(line.text, "Link type")) is_ib = type->text == "IB";
      if (const auto mtu = value_behind(line.text, "Mtu")) printed = {&line, *mtu};
    }
    if (!printed.is_there()) continue;
    const int mtu = lid_in(printed.word.text.substr(0, printed.word.text.find('['))).value_or(0);
    if (mtu <= 0 || mtu > kSmallMtu) continue;
    const Word* device = one.tool->device_option.empty() ? nullptr : one.argument(one.tool->device_option);
    const auto rates = rates_in(in.bundle, one.command->span.source);
    const auto known = device == nullptr ? rates.end() : rates.find(device->text);
    const double measured = measured_gbps(*one.command).value_or(0);
    if (known != rates.end() && known->second >= kFastGbps)
      report_mtu(printed.span(), mtu, known->second, false, is_ib, out);
    else if (measured > kFasterThan25)
      report_mtu(printed.span(), mtu, measured, true, is_ib, out);
  }
}

}  // namespace railbed::check

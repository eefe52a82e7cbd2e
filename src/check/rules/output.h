// SPDX-License-Identifier: Apache-2.0
// The rules about pasted output, logs and prose; commands.cc has their rows.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "check/rules/rule.h"

namespace railbed::check {

// A word of a line, and where it begins in it.
struct Found {
  std::string_view text;
  size_t at = 0;
};
// The word after `label` and a colon: "Device : mlx5_6", "Device         : mlx5_6".
std::optional<Found> value_behind(std::string_view line, std::string_view label);
// The words of a line.
std::vector<std::string_view> fields_of_line(std::string_view line);
std::optional<double> number_in(std::string_view text);
// The average in the last row of a bandwidth test's table, in Gb/s.
std::optional<double> measured_gbps(const Command& command);

void ibping_clock(const Input& in, Findings& out);
void output_of_another_device(const Input& in, Findings& out);
void ends_not_mirrored(const Input& in, Findings& out);
void switches_of_one_name(const Input& in, Findings& out);
void clock_changes(const Input& in, Findings& out);
void one_queue_pair(const Input& in, Findings& out);
void never_printed(const Input& in, Findings& out);
void port_not_active(const Input& in, Findings& out);
void path_leads_nowhere(const Input& in, Findings& out);
// of logs, log_lines.cc
void log_shows_tcp(const Input& in, Findings& out);
void provider_not_loaded(const Input& in, Findings& out);
// of ports, port_outputs.cc
void small_path_mtu(const Input& in, Findings& out);
void port_without_guid(const Input& in, Findings& out);

}  // namespace railbed::check

// SPDX-License-Identifier: Apache-2.0
// The rules about pasted output, logs and prose; rules_commands.cc has their rows.
#pragma once

#include "check/rules/rule.h"

namespace railbed::check {

void ibping_clock(const Input& in, Findings& out);
void output_of_another_device(const Input& in, Findings& out);
void ends_not_mirrored(const Input& in, Findings& out);
void switches_of_one_name(const Input& in, Findings& out);
void clock_changes(const Input& in, Findings& out);
void one_queue_pair(const Input& in, Findings& out);
void never_printed(const Input& in, Findings& out);
void port_not_active(const Input& in, Findings& out);
void path_leads_nowhere(const Input& in, Findings& out);

}  // namespace railbed::check

// SPDX-License-Identifier: Apache-2.0
// Rules about NVIDIA's drivers as the GPU operator installs them: their modules and the modules' parameters.
//
// Why: the driver pod waits, or the module loads without what was set, and neither names the line. Threading: pure.
// Failure: findings.
#pragma once

#include "check/rules/rule.h"

namespace railbed::check {

void peermem_without_mofed(const Input& in, Findings& out);
void parameters_on_one_line(const Input& in, Findings& out);
void module_config_not_used(const Input& in, Findings& out);

}  // namespace railbed::check

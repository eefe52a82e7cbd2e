// SPDX-License-Identifier: Apache-2.0
// A mesh as part of the report: findings, heat maps, the worst pairs. Without script everything is shown except the
// names under the pointer.
// Threading: pure.
// Failure: none.
#pragma once

#include <string>

#include "report/mesh_page.h"

namespace railbed::report {

std::string mesh_html(const MeshPage& page);
// What the script shows under the pointer of each of them: a list of {"side", "hosts_per_cell", "hosts", …}.
std::string mesh_data(const std::vector<MeshPage>& pages);

}  // namespace railbed::report

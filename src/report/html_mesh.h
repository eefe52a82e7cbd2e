// SPDX-License-Identifier: Apache-2.0
// A mesh as part of the report: findings, heat maps, the worst pairs. Without script everything is shown except the
// names under the pointer.
// Threading: pure.
// Failure: none.
#pragma once

#include <vector>

#include "report/html_type.h"
#include "report/mesh_page.h"
#include "report/section.h"

namespace railbed::report {

Section meshes_section(const std::vector<MeshPage>& pages);
Html mesh_html(const MeshPage& page);

}  // namespace railbed::report

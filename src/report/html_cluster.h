// SPDX-License-Identifier: Apache-2.0
// A cluster's nodes, policies, networks and pods as tables of the report.
//
// Why tables without script: they can be read, searched and printed. Large clusters are cut after a number of rows,
// with the worst ones first, and the report says how many more there are.
// Threading: pure.
// Failure: none.
#pragma once

#include "report/cluster.h"
#include "report/html_type.h"

namespace railbed::report {

Html cluster_html(const Cluster& cluster);

}  // namespace railbed::report

// SPDX-License-Identifier: Apache-2.0
// Files with a Pod that another program completes: pod templates of Spark, Airflow, Jenkins and runners of GitHub.
//
// Why: such a file has the form of a Pod and leaves out on purpose what the program knows: the image, the name, the
// command. What is written in it is judged, and nothing is missing.
// Threading: pure functions.
// Failure: none.
// Source: Spark's "Running on Kubernetes" (Pod Template), Airflow's pod_template_file, GitHub's runner-container-hooks,
// the Kubernetes plugin of Jenkins.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "check/read/bundle.h"

namespace railbed::check {

// The names of files that settings of such programs name ("podTemplateFile: conf/driver.yaml"), without folders.
std::set<std::string, std::less<>> named_pod_templates(const std::vector<doc::SourcePtr>& sources);

// Why a Pod in `file` is a template that a program completes; empty: it is a Pod. `named`: of named_pod_templates().
std::string why_pod_template(const Document& document, std::string_view file,
                             const std::set<std::string, std::less<>>& named);

}  // namespace railbed::check

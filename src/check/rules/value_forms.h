// SPDX-License-Identifier: Apache-2.0
// Forms that a text has to have: names, paths, references of images, schedules.
//
// Why: rows of data/refusals.yaml name a form; here is what it means, and the words in which messages say it.
// Threading: pure functions over a constant table.
// Failure: null for a name that is no form.
// Source: Kubernetes, pkg/apis/core/validation and pkg/apis/batch/validation; distribution, "Reference"; Linux,
// IFNAMSIZ and ETH_MIN_MTU.
#pragma once

#include <string_view>

namespace railbed::check {

struct ValueForm {
  std::string_view name;  // "dns-label"
  bool (*fits)(std::string_view text);
  std::string_view words;  // "lower-case letters, …": what it must be
};

const ValueForm* find_form(std::string_view name);

}  // namespace railbed::check

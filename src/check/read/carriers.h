// SPDX-License-Identifier: Apache-2.0
// Objects inside objects: policies of ACM, works, templates, compositions, ConfigMaps with manifests.
//
// Why: some users write none of their SR-IOV objects on the top level of a file. Which kind holds others, where and as
// what is a row of src/check/data/carriers.yaml. Findings stand at the place of the inner object in its file.
// Threading: read once, immutable; pure functions.
// Failure: none; what is no object in such a place is skipped.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "check/read/bundle.h"
#include "doc/text.h"

namespace railbed::check {

// The objects that `document` holds directly, as documents of their own; `index` belongs to its source. Their class is
// left to classify(), which reads `carrier` and `carried_as`.
std::vector<Document> carried_by(const Document& document, const doc::LineIndex& index);

// Why objects of a kind may make what no file shows: "applies other files"; empty: they make nothing of that sort.
// `known`: railbed reads the kind itself.
std::string_view why_it_makes(std::string_view group, std::string_view kind, bool known);

}  // namespace railbed::check

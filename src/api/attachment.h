// SPDX-License-Identifier: Apache-2.0
// NetworkAttachmentDefinition and the CNI configuration in it, reading and writing.
//
// Spec: Kubernetes Network Custom Resource Definition De-facto Standard 1.3, CNI 1.1.0 section 1.
#pragma once

#include <optional>

#include "api/objects.h"
#include "doc/diagnostic.h"

namespace railbed::api {

// Of an object that was compared with its schema (compare.h).
NetworkAttachmentDefinition read_attachment(const doc::Value& object, doc::Diagnostics& out);
// Compared and read; nothing when it has errors.
std::optional<NetworkAttachmentDefinition> parse_attachment(const doc::Value& object, doc::Diagnostics& diagnostics);

// spec.config: a single plugin stands alone, several in "plugins".
doc::Value to_value(const NetworkConfig& config);
// The same as text, 4 blanks per level, as the operator writes.
std::string config_text(const NetworkConfig& config);
// The whole manifest.
doc::Value to_value(const NetworkAttachmentDefinition& definition);

}  // namespace railbed::api

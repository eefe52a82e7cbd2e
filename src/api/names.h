// SPDX-License-Identifier: Apache-2.0
// Names of Kubernetes objects and resources, and the placeholders that replace them in templates.
//
// Threading: pure functions.
// Failure: diagnostics 007 (not a name) and 008 (a placeholder).
#pragma once

#include <string_view>

#include "base/object_names.h"
#include "doc/diagnostic.h"
#include "doc/field.h"

namespace railbed::api {

using doc::Field;
using doc::given;

using railbed::is_dns_label;
using railbed::is_dns_subdomain;
// "<your-namespace>", "{REGISTRY}/x", "${NAME}": text that the user forgot to replace.
bool has_placeholder(std::string_view text);

// Reports an error for an invalid name. `what` names the field.
void check_label(const Field<std::string>& name, std::string_view what, doc::Diagnostics& out);
void check_subdomain(const Field<std::string>& name, std::string_view what, doc::Diagnostics& out);
// metadata.name of an object that no reader reads, in the form that its kind has. Silent where it is absent, empty or
// filled in later.
void check_object_name(const doc::Value& object, std::string_view kind, doc::Diagnostics& out);
// The operator's rule: letters, digits, '-', '_', at most 63 bytes.
void check_resource_name(const Field<std::string>& name, std::string_view what, doc::Diagnostics& out);

}  // namespace railbed::api

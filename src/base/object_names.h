// SPDX-License-Identifier: Apache-2.0
// The forms that Kubernetes has for names of objects and for labels.
//
// Why: schemas, readers and rules compare names and labels; all of them use these functions, so that they agree.
// Threading: pure functions.
// Failure: none.
// Source: Kubernetes, "Object Names and IDs", "Labels and Selectors".
#pragma once

#include <string_view>

namespace railbed {

bool is_dns_label(std::string_view text);      // RFC 1123, at most 63 bytes
bool is_dns_subdomain(std::string_view text);  // labels with dots between them, at most 253 bytes
bool is_label_key(std::string_view text);      // "app", "example.com/app"
bool is_label_value(std::string_view text);    // may be empty
// "<name>", "{{ name }}", "${NAME}", "$(NAME)", "%(name)s", "__NAME__", "@NAME@", "...": a step
// that is not read writes another text.
bool is_filled_in_later(std::string_view text);

}  // namespace railbed

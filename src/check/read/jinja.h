// SPDX-License-Identifier: Apache-2.0
// Jinja expressions in the values of Ansible's definitions.
//
// Why: `namespace: "{{ operator_namespace }}"` is no placeholder that somebody forgot: Ansible fills it in.
// Where the play's own `vars` tell the value, it stands in its place, so that objects find each other;
// otherwise a name made of the expression does, the same for the same expression. Threading: pure functions.
// Failure: none; what is no simple expression stays as it is.
#pragma once

#include "doc/value.h"

namespace railbed::check {

// Replaces `{{ … }}` in short texts of `value`; places stay those of the expressions.
// `vars` is an object, or null.
void fill_in_jinja(doc::Value& value, const doc::Value& vars);

// Whether the text at this place is an expression.
bool is_jinja(const doc::Span& span);
// The same for variables of a shell in a here-document: ${NAME}, $NAME.
bool is_shell_variable(const doc::Span& span);
// The same for <<NAME>>, which sed fills in.
bool is_marked_name(const doc::Span& span);

}  // namespace railbed::check

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

// Fills in the texts of `value` that are short and hold `{{ … }}`; places stay where the expressions stand.
// `vars` is an object, or null.
void fill_in_jinja(doc::Value& value, const doc::Value& vars);

// Whether an expression stands at the place, as it was written.
bool is_jinja(const doc::Span& span);
// The same of what a shell fills into a here-document: ${NAME}, $NAME.
bool is_shell_variable(const doc::Span& span);

}  // namespace railbed::check

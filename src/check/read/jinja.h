// SPDX-License-Identifier: Apache-2.0
// Jinja expressions in the values of Ansible's definitions.
//
// Why: `namespace: "{{ operator_namespace }}"` is not a forgotten placeholder: Ansible fills it in. If the play's own
// `vars` define the value, it is substituted, so that references between objects resolve; otherwise a name derived from
// the expression is, the same for the same expression.
// Threading: pure functions.
// Failure: none; an expression that is not simple is kept verbatim.
#pragma once

#include "doc/value.h"

namespace railbed::check {

// Replaces `{{ … }}` in short texts of `value`; places stay those of the expressions.
// `vars` is an object, or null.
void fill_in_jinja(doc::Value& value, const doc::Value& vars);

}  // namespace railbed::check

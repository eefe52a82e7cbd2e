// SPDX-License-Identifier: Apache-2.0
// Which user a container runs as, as far as manifests say it.
// Threading: pure functions.
// Failure: none.
#pragma once

#include "check/read/pods.h"

namespace railbed::check {

// The value that says that the container runs as another user than root: its own runAsUser or runAsNonRoot, or those of
// the pod; null where nothing says so.
const doc::Value* non_root_value(const PodTemplate& pod, const Container& container);
bool runs_as_non_root(const PodTemplate& pod, const Container& container);

}  // namespace railbed::check

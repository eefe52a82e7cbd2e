// SPDX-License-Identifier: Apache-2.0
// libibverbs, loaded only when a device is needed.
//
// Why: with libnl and libnl-route, which it depends on, it is a third of the loader's work at every start of railbed,
// and only `railbed perf` measures over RDMA. verbs_library.cc defines the functions of verbs.h that this library
// calls, with their original names: each forwards its call to libibverbs. So the inline functions of verbs.h work
// unmodified, and a test replaces libibverbs by defining the same (fake_verbs.h).
// Threading: any thread.
// Failure: NotFound, with the package.
// Spec: libibverbs.so.1, IBVERBS_1.11.
#pragma once

#include "base/error.h"

namespace railbed::perf {

// To be asked before the first call of verbs: none of them may be called where this fails.
Result<void> load_verbs();

}  // namespace railbed::perf

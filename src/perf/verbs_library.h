// SPDX-License-Identifier: Apache-2.0
// libibverbs, loaded when a device is looked for and not before.
//
// Why: with libnl and libnl-route, which it brings, it is a third of what the loader does at every start of railbed,
// and only `railbed perf` measures over RDMA. verbs_library.cc defines the functions of verbs.h that this room calls,
// by their own names: each passes its call on to the library. So the inline functions of verbs.h work as they are, and
// a test takes the place of the library by defining the same (fake_verbs.h). Threading: any thread. Failure: NotFound,
// with the package. Spec: libibverbs.so.1, IBVERBS_1.11.
#pragma once

#include "base/error.h"

namespace railbed::perf {

// To be asked before the first call of verbs: none of them may be called where this fails.
Result<void> load_verbs();

}  // namespace railbed::perf

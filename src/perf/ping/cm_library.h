// SPDX-License-Identifier: Apache-2.0
// librdmacm, loaded only when a ping is requested.
//
// Why: as verbs_library.h: only `railbed perf ping` and its peer use the connection manager, and every start of railbed
// would pay for the library. cm_library.cc defines the functions of rdma_cma.h that this library calls, with their
// original names; a test replaces them by defining the same (fake_cm_test.cc).
// Threading: any thread.
// Failure: NotFound, with the package.
// Spec: librdmacm.so.1, RDMACM_1.0.
#pragma once

#include "base/error.h"

namespace railbed::perf {

// To be asked before the first call of the connection manager: none of them may be called where this fails.
Result<void> load_cm();

}  // namespace railbed::perf

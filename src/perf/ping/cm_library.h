// SPDX-License-Identifier: Apache-2.0
// librdmacm, loaded when a ping is asked for and not before.
//
// Why: as verbs_library.h: only `railbed perf ping` and its peer speak to the connection manager, and every start of
// railbed would pay for the library. cm_library.cc defines the functions of rdma_cma.h that this room calls, by their
// own names; a test takes their place by defining the same (fake_cm_test.cc). Threading: any thread. Failure: NotFound,
// with the package. Spec: librdmacm.so.1, RDMACM_1.0.
#pragma once

#include "base/error.h"

namespace railbed::perf {

// To be asked before the first call of the connection manager: none of them may be called where this fails.
Result<void> load_cm();

}  // namespace railbed::perf

// SPDX-License-Identifier: Apache-2.0
// Memory of processes with many threads that mostly wait. Threading: before there are threads. Failure: none.
#pragma once

namespace railbed {

// Two heaps and small stacks are enough for them.
void limit_memory();

}  // namespace railbed

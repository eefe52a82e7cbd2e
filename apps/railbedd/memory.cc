// SPDX-License-Identifier: Apache-2.0
#include "memory.h"

#include <cstddef>

#include <malloc.h>
#include <pthread.h>

namespace railbed {

namespace {
constexpr size_t kThreadStack = 512 << 10;
}

void limit_memory() {
  mallopt(M_ARENA_MAX, 2);
  mallopt(M_TRIM_THRESHOLD, 256 << 10);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kThreadStack);
  pthread_setattr_default_np(&attributes);
  pthread_attr_destroy(&attributes);
}

}  // namespace railbed

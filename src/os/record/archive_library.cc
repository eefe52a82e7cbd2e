// SPDX-License-Identifier: Apache-2.0
#include "os/record/archive_library.h"

#include <dlfcn.h>

namespace railbed::os {
namespace {

constexpr const char* kLibrary = "libarchive.so.13";

Error missing(const char* what) {
  const char* why = ::dlerror();
  return {.code = Code::kNotFound,
          .message = fmt::format("recordings need libarchive 3, and {}: {}", what, why ? why : "unknown reason"),
          .hint = "apt-get install libarchive13 (its file is libarchive.so.13 on other systems, too)"};
}

Result<ArchiveLibrary> load() {
  void* library = ::dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return fail(missing("it cannot be loaded"));
  ArchiveLibrary out;
#define RAILBED_FIND(name)                                                 \
  out.name = reinterpret_cast<decltype(&::name)>(::dlsym(library, #name)); \
  if (out.name == nullptr) return fail(missing("the library found lacks " #name));
  RAILBED_ARCHIVE_FUNCTIONS(RAILBED_FIND)
#undef RAILBED_FIND
  return out;
}

}  // namespace

Result<const ArchiveLibrary*> archive_library() {
  static const Result<ArchiveLibrary> loaded = load();
  if (!loaded) return fail(Error(loaded.error()));
  return &*loaded;
}

}  // namespace railbed::os

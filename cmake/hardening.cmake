# SPDX-License-Identifier: Apache-2.0
# What makes a mistake in memory handling end the program instead of being usable: `railbed_hardening`, which all programs link.
# docs/performance.md has the cost; tests/tools/hardening reads the programs' headers and fails for a flag that is missing.
#
# _FORTIFY_SOURCE is in CMakeLists.txt with the optimizer, without which it only warns. The sanitizers find what the flags below
# guard against, and more of it in memory that is not set to zero: their builds have the assertions of libstdc++ only.
add_library(railbed_hardening INTERFACE)
# operator[] and front() of an empty container, *optional without a value: abort instead of reading what lies there.
target_compile_definitions(railbed_hardening INTERFACE _GLIBCXX_ASSERTIONS)
if(NOT RAILBED_SANITIZE)
  target_compile_options(railbed_hardening INTERFACE -fstack-protector-strong -fstack-clash-protection
    -fno-delete-null-pointer-checks -ftrivial-auto-var-init=zero)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
    # Debian 12 builds crt1.o and most static libraries without it, so the linker leaves the mark off the programs and the
    # kernel does not enforce it: our code is ready for a system that does.
    target_compile_options(railbed_hardening INTERFACE -fcf-protection=full)
  elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
    target_compile_options(railbed_hardening INTERFACE -mbranch-protection=standard)
  endif()
  # -fPIE, not CMake's -fPIC for libraries: calls between our own functions stay direct.
  target_compile_options(railbed_hardening INTERFACE -fPIE)
  target_link_options(railbed_hardening INTERFACE LINKER:-z,relro LINKER:-z,now LINKER:-z,noexecstack)
endif()

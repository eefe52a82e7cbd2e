# SPDX-License-Identifier: Apache-2.0
# Read by CPack once per kind of package. The .deb's symbols go to a package of their own, which strips it; the
# tarball has none.
if(CPACK_GENERATOR STREQUAL "TGZ")
  set(CPACK_STRIP_FILES ON)
endif()

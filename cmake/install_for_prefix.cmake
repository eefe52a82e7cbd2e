# SPDX-License-Identifier: Apache-2.0
# Part of `cmake --install`: what depends on the prefix that the files are for. That is CMAKE_INSTALL_PREFIX, except
# where CPack collects them: below a folder of its own, for /usr in a .deb and for /usr/local in a tarball.
set(prefix "${CMAKE_INSTALL_PREFIX}")
if(prefix MATCHES "/_CPack_Packages/.*/usr$")
  set(prefix /usr)
elseif(prefix MATCHES "/_CPack_Packages/")
  set(prefix /usr/local)
endif()
set(permissions PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)

set(unit lib/systemd/system/railbed-agent.service)
file(READ "${RAILBED_SOURCE_DIR}/deploy/systemd/railbed-agent.service" text)
set(program "${prefix}/bin/railbed")
if(program MATCHES " ")
  set(program "\"${program}\"") # systemd parts words at blanks
endif()
string(REPLACE "/usr/bin/railbed" "${program}" text "${text}")
message(STATUS "Installing: $ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/${unit}")
file(WRITE "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/${unit}" "${text}")
file(CHMOD "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/${unit}" ${permissions})
list(APPEND CMAKE_INSTALL_MANIFEST_FILES "${CMAKE_INSTALL_PREFIX}/${unit}")

# Debian's zsh reads the one below /usr, every zsh the other one below /usr/local.
set(folder share/zsh/site-functions)
if(prefix STREQUAL /usr)
  set(folder share/zsh/vendor-completions)
endif()
file(INSTALL DESTINATION "${CMAKE_INSTALL_PREFIX}/${folder}" TYPE FILE RENAME _railbed
  FILES "${RAILBED_PAGES}/railbed.zsh")

# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` puts where, and the packages that CPack makes of it (make install, make package).
#
#   bin/railbed, bin/railbed-cni             side by side: `railbed cni install` looks for the shim beside railbed
#   libexec/railbed/{railbedd,railbed-cluster}  what railbed becomes for verbs that serve
#                                            (apps/railbed/serving_program.h looks there)
#   lib/systemd/system/railbed-agent.service with the prefix in ExecStart
#   share/man/man1/railbed*.1.gz             written by the program itself, from the options that its verbs declare
#   share/{bash-completion,zsh,fish}         the same
#   share/railbed/deploy                     for a cluster: kinds, roles, examples
#   share/doc/railbed                        licences, examples
#
# Everything lies below the prefix; nothing is written to /etc or /var.

# Manual pages and completions. A folder that is re-created each time holds no page of a verb that is gone.
set(pages ${PROJECT_BINARY_DIR}/pages)
add_custom_command(OUTPUT ${pages}/made
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${pages}
  COMMAND ${CMAKE_COMMAND} -E make_directory ${pages}/man1
  COMMAND railbed man --write ${pages}/man1
  COMMAND sh -c "gzip -9n -- \"$1\"/man1/*.1" sh ${pages}
  COMMAND sh -c "for shell in bash zsh fish; do \"$1\" completion $shell >\"$2\"/railbed.$shell || exit 1; done" sh
    $<TARGET_FILE:railbed> ${pages}
  COMMAND ${CMAKE_COMMAND} -E touch ${pages}/made
  DEPENDS railbed COMMENT "Writing manual pages and completions" VERBATIM)
add_custom_target(pages ALL DEPENDS ${pages}/made)

install(TARGETS railbed railbed-cni RUNTIME DESTINATION bin)
install(TARGETS railbedd railbed-cluster RUNTIME DESTINATION libexec/railbed)
install(DIRECTORY ${pages}/man1 DESTINATION share/man)
install(FILES ${pages}/railbed.bash DESTINATION share/bash-completion/completions RENAME railbed)
install(FILES ${pages}/railbed.fish DESTINATION share/fish/vendor_completions.d)
install(FILES LICENSE NOTICE CHANGELOG.md deploy/debian/copyright DESTINATION share/doc/railbed)
install(DIRECTORY docs/schemas DESTINATION share/doc/railbed)
install(DIRECTORY deploy/crds deploy/rbac deploy/sharing deploy/drains deploy/examples DESTINATION share/railbed/deploy FILES_MATCHING PATTERN *.yaml)
install(FILES deploy/github-action/action.yml DESTINATION share/doc/railbed/examples/github-action)
install(FILES deploy/pre-commit/pre-commit-config.yaml DESTINATION share/doc/railbed/examples/pre-commit)
install(PROGRAMS deploy/pre-commit/hook DESTINATION share/doc/railbed/examples/pre-commit)
# The prefix is known when it is installed, not when it is configured.
install(CODE "set(RAILBED_SOURCE_DIR \"${PROJECT_SOURCE_DIR}\")\nset(RAILBED_PAGES \"${pages}\")")
install(SCRIPT cmake/install_for_prefix.cmake)

set(CPACK_PACKAGE_NAME railbed)
set(CPACK_PACKAGE_VENDOR "The railbed authors")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "SR-IOV and RDMA networks for pods that train or serve large models")
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_GENERATOR DEB TGZ)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE
  WORLD_READ WORLD_EXECUTE)
set(CPACK_PROJECT_CONFIG_FILE ${PROJECT_SOURCE_DIR}/cmake/package_kinds.cmake)
string(TOLOWER ${CMAKE_SYSTEM_NAME} system)
set(CPACK_PACKAGE_FILE_NAME railbed-${PROJECT_VERSION}-${system}-${CMAKE_SYSTEM_PROCESSOR})

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "The railbed authors <railbed@localhost>")
set(CPACK_DEBIAN_PACKAGE_SECTION net)
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
"Reads the manifests that the Kubernetes SR-IOV world uses, says what is wrong
with them before a machine changes, makes them real, attaches pods, and
measures every rail.
.
The agent's systemd unit is installed, and neither enabled nor started. The
CNI shim takes the place of plugins when `railbed cni install` says so.")
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# Loaded by name (os/record/archive_library.h, perf/stream/verbs_library.h, perf/channel/hmac.h).
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libarchive13 (>= 3.6), libibverbs1 (>= 32), libssl3 (>= 3.0)")
# The names of PCI devices (numbers without it), what libibverbs needs to know a NIC, and what `perf ping` loads.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "pci.ids, ibverbs-providers, librdmacm1")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "bash-completion, systemd")
set(CPACK_DEBIAN_DEBUGINFO_PACKAGE ON)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/deploy/debian/prerm
  ${PROJECT_SOURCE_DIR}/deploy/debian/postinst ${PROJECT_SOURCE_DIR}/deploy/debian/postrm)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
include(CPack)

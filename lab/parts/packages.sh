# SPDX-License-Identifier: Apache-2.0
# What the lab is made of. A change here fetches and builds again.

# Installed on the host where the command is missing: command:package.
HOST_TOOLS=(cpio:cpio depmod:kmod zstd:zstd xz:xz-utils flock:util-linux)

# Soft-RoCE carries traffic inside network namespaces from kernel 7.2 on; 6.1 and 6.12 make the device, but nothing
# gets through. Only the full "amd64" flavour will do: the cloud flavour lacks igb, rdma_rxe and 9p.
KERNEL_SUITE=trixie-backports
KERNEL_SERIES=7.2

# The guest's user space: unpacked, never installed. From bookworm unless a suite is named.
# iproute2 of the backports knows newer sub-commands of rdma and devlink.
GUEST_PACKAGES=(
  busybox-static dash bash ncurses-base coreutils kmod procps util-linux strace ethtool pciutils pci.ids
  iproute2/bookworm-backports rdma-core ibverbs-utils ibverbs-providers rdmacm-utils perftest
  # libraries of these tools
  libc6 libgcc-s1 libstdc++6 libtinfo6 libkmod2 libzstd1 liblzma5 libssl3 zlib1g libacl1 libattr1 libgmp10 libunwind8
  libpci3 libudev1 libbpf1 libbsd0 libmd0 libcap2 libdb5.3 libelf1 libselinux1 libpcre2-8-0 libtirpc3 libtirpc-common
  libxtables12 libgssapi-krb5-2 libkrb5-3 libk5crypto3 libcom-err2 libkrb5support0 libkeyutils1 libproc2-0 libsystemd0 libgcrypt20 libgpg-error0 liblz4-1
  libseccomp2 libibverbs1 librdmacm1 libibumad3 libibmad5 libibnetdisc5 libnl-3-200 libnl-route-3-200 libmnl0
  # for tests that bring their own scripts (lab/lab packages): not in the image
  python3.11-minimal libpython3.11-minimal libpython3.11-stdlib libexpat1 libffi8
  # libraries of the product
  libfmt9 libspdlog1.10 libsqlite3-0 libprometheus-cpp-core1.0 libarchive13 libre2-9 libbz2-1.0 libnettle8 libxml2 libicu72
  libcurl4 libnghttp2-14 libidn2-0 libunistring2 librtmp1 libssh2-1 libpsl5 libgnutls30 libhogweed6 libtasn1-6 libp11-kit0
  libldap-2.5-0 libsasl2-2 libbrotli1
)

# Debian's busybox shell prefers its own applets ("ip" would silently be busybox's), so dash is the shell, and the
# tools below replace the applets of their names.
GUEST_TOOLS=(
  dash bash timeout env pgrep pkill flock nsenter unshare kmod strace ethtool lspci setpci ip tc bridge rdma devlink
  ibv_devinfo ibv_devices ibv_rc_pingpong rping ucmatose
  ib_write_bw ib_write_lat ib_read_bw ib_read_lat ib_send_bw ib_send_lat
)

# Put in with everything that they need, though no tool above may want them. libgcc_s: rping loads it at run time.
GUEST_LIBRARIES=(
  libc.so.6 libm.so.6 libpthread.so.0 libdl.so.2 librt.so.1 libstdc++.so.6 libgcc_s.so.1
  libfmt.so.9 libspdlog.so.1.10 libmnl.so.0 libsqlite3.so.0 libarchive.so.13 libre2.so.9
  libibverbs.so.1 librdmacm.so.1 libibumad.so.3 libprometheus-cpp-core.so.1.0 libcurl.so.4
  libseccomp.so.2  # runc
)

# Modules, each with those it depends on.
GUEST_MODULES=(
  igb igbvf virtio_console virtio_net 9p 9pnet_virtio
  rdma_rxe rdma_ucm ib_uverbs ib_umad vfio_pci vfio_iommu_type1
  veth dummy macvlan ipvlan bridge 8021q bonding vrf overlay
)

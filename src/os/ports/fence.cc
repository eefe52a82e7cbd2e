// SPDX-License-Identifier: Apache-2.0
#include "os/ports/fence.h"

namespace railbed::os {
namespace {

constexpr std::string_view kClock[] = {"adjtimex",      "clock_adjtime",   "clock_adjtime64",
                                       "clock_settime", "clock_settime64", "settimeofday"};
constexpr std::string_view kCpuEmulation[] = {"modify_ldt", "subpage_prot", "switch_endian", "vm86", "vm86old"};
constexpr std::string_view kDebug[] = {"lookup_dcookie", "perf_event_open",    "pidfd_getfd",         "ptrace",
                                       "rtas",           "s390_runtime_instr", "sys_debug_setcontext"};
constexpr std::string_view kModule[] = {"delete_module", "finit_module", "init_module"};
constexpr std::string_view kMount[] = {"chroot",        "fsconfig",   "fsmount",   "fsopen",     "fspick", "mount",
                                       "mount_setattr", "move_mount", "open_tree", "pivot_root", "umount", "umount2"};
constexpr std::string_view kObsolete[] = {
    "_sysctl", "afs_syscall",  "bdflush",  "break",    "create_module", "ftime",  "get_kernel_syms",
    "getpmsg", "gtty",         "idle",     "lock",     "mpx",           "prof",   "profil",
    "putpmsg", "query_module", "security", "sgetmask", "ssetmask",      "stime",  "stty",
    "sysfs",   "tuxcall",      "ulimit",   "uselib",   "ustat",         "vserver"};
constexpr std::string_view kRawIo[] = {"ioperm",
                                       "iopl",
                                       "pciconfig_iobase",
                                       "pciconfig_read",
                                       "pciconfig_write",
                                       "s390_pci_mmio_read",
                                       "s390_pci_mmio_write"};
constexpr std::string_view kReboot[] = {"kexec_file_load", "kexec_load", "reboot"};
constexpr std::string_view kResources[] = {"ioprio_set",
                                           "mbind",
                                           "migrate_pages",
                                           "move_pages",
                                           "nice",
                                           "sched_setaffinity",
                                           "sched_setattr",
                                           "sched_setparam",
                                           "sched_setscheduler",
                                           "set_mempolicy",
                                           "set_mempolicy_home_node",
                                           "setpriority",
                                           "setrlimit"};
constexpr std::string_view kSwap[] = {"swapoff", "swapon"};

constexpr CallGroup kGroups[] = {{"@clock", kClock},         {"@cpu-emulation", kCpuEmulation},
                                 {"@debug", kDebug},         {"@module", kModule},
                                 {"@mount", kMount},         {"@obsolete", kObsolete},
                                 {"@raw-io", kRawIo},        {"@reboot", kReboot},
                                 {"@resources", kResources}, {"@swap", kSwap}};

}  // namespace

std::span<const CallGroup> fence_calls() {
  return kGroups;
}

}  // namespace railbed::os

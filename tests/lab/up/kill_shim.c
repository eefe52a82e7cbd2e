// SPDX-License-Identifier: Apache-2.0
// Preloaded into railbed by tests/lab/up.sh: counts the calls that change the machine, and at one of them ends the
// process as kill -9 does, or refuses it.
//
//   SHIM_LOG=FILE         one line per counted call
//   SHIM_KILL=N           SIGKILL at the Nth call; SHIM_AFTER=1: after it took effect, otherwise instead of it
//   SHIM_REFUSE=TEXT      calls whose line contains TEXT fail with the errno SHIM_ERRNO
//
// Counted: writes below /sys and /proc/sys, netlink requests that are no queries, mounts, unlinks below /run/netns.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_int count;

static void die(void) {
  kill(getpid(), SIGKILL);
  for (;;) pause();
}

static int number(const char* name) {
  const char* text = getenv(name);
  return text ? atoi(text) : 0;
}

// Whether the call is to be made; -1 when it is refused.
static int enter(const char* line, int* mine) {
  *mine = atomic_fetch_add(&count, 1) + 1;
  const char* log = getenv("SHIM_LOG");
  if (log) {
    int fd = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    char text[600];
    int size = snprintf(text, sizeof text, "%d %s\n", *mine, line);
    if (fd >= 0 && size > 0) syscall(SYS_write, fd, text, (size_t)size);
    if (fd >= 0) close(fd);
  }
  const char* refuse = getenv("SHIM_REFUSE");
  if (refuse && strstr(line, refuse)) {
    errno = number("SHIM_ERRNO");
    return -1;
  }
  if (*mine == number("SHIM_KILL") && !number("SHIM_AFTER")) die();
  return 0;
}

static void leave(int mine) {
  int saved = errno;
  if (mine == number("SHIM_KILL") && number("SHIM_AFTER")) die();
  errno = saved;
}

ssize_t write(int fd, const void* bytes, size_t size) {
  char link[64], path[400], line[500];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  path[length > 0 ? length : 0] = 0;
  if (strncmp(path, "/sys/", 5) && strncmp(path, "/proc/sys/", 10)) return syscall(SYS_write, fd, bytes, size);
  snprintf(line, sizeof line, "write %s %.*s", path, (int)(size < 40 ? size : 40), (const char*)bytes);
  int mine;
  if (enter(line, &mine)) return -1;
  ssize_t done = syscall(SYS_write, fd, bytes, size);
  leave(mine);
  return done;
}

// Dumps ask; so do rtnetlink's GET messages (every fourth type) and the first operations of the RDMA and generic ones.
static int is_query(int fd, const struct nlmsghdr* header) {
  int protocol = 0;
  socklen_t size = sizeof protocol;
  getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &size);
  if ((header->nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP) return 1;
  if (protocol == NETLINK_ROUTE) return header->nlmsg_type % 4 == 2;
  if (protocol == NETLINK_RDMA) {
    int operation = header->nlmsg_type & 1023;
    return operation != 2 && operation != 3 && operation != 4;  // SET, NEWLINK, DELLINK
  }
  return 1;
}

ssize_t sendto(int fd, const void* bytes, size_t size, int flags, const struct sockaddr* to, socklen_t to_size) {
  const struct nlmsghdr* header = bytes;
  int netlink = to && to->sa_family == AF_NETLINK && size >= sizeof *header;
  if (!netlink || is_query(fd, header)) return syscall(SYS_sendto, fd, bytes, size, flags, to, to_size);
  char line[80];
  snprintf(line, sizeof line, "netlink message %d", header->nlmsg_type);
  int mine;
  if (enter(line, &mine)) return -1;
  ssize_t done = syscall(SYS_sendto, fd, bytes, size, flags, to, to_size);
  leave(mine);
  return done;
}

int mount(const char* source, const char* target, const char* type, unsigned long flags, const void* data) {
  char line[500];
  snprintf(line, sizeof line, "mount %s", target);
  int mine;
  if (enter(line, &mine)) return -1;
  int done = (int)syscall(SYS_mount, source, target, type, flags, data);
  leave(mine);
  return done;
}

int umount2(const char* target, int flags) {
  char line[500];
  snprintf(line, sizeof line, "umount %s", target);
  int mine;
  if (enter(line, &mine)) return -1;
  int done = (int)syscall(SYS_umount2, target, flags);
  leave(mine);
  return done;
}

int unlink(const char* path) {
  if (strncmp(path, "/run/netns/", 11)) return (int)syscall(SYS_unlink, path);
  char line[500];
  snprintf(line, sizeof line, "unlink %s", path);
  int mine;
  if (enter(line, &mine)) return -1;
  int done = (int)syscall(SYS_unlink, path);
  leave(mine);
  return done;
}

// SPDX-License-Identifier: Apache-2.0
// Preloaded into railbed by tests/kill and tests/lab/up.sh: counts the calls that change the machine, and at one of them
// ends the process as kill -9 does, or refuses it.
//
//   SHIM_LOG=FILE         one line per counted call
//   SHIM_KILL=N           SIGKILL at the Nth call; SHIM_AFTER=1: after it took effect, otherwise instead of it
//   SHIM_REFUSE=TEXT      calls whose line contains TEXT fail with the errno SHIM_ERRNO
//   SHIM_FILES=DIR:DIR    also counted: what changes files below these folders (state, leases, journals)
//   SHIM_ANSWERS=1        also counted: what is sent over unix sockets
//   SHIM_CONTROL=FILE     three 32-bit numbers, shared with who started the process: calls so far, and in place of SHIM_KILL
//                         and SHIM_AFTER the call to end at and whether after it. Can be set while the process runs.
//
// Counted always: writes below /sys and /proc/sys, netlink requests that are no queries, mounts, unlinks below /run/netns.
// What SQLite does to its file in shared memory (state.db-shm) is no call and is not seen; it is rebuilt from the log.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/netlink.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

struct control {
  atomic_uint count, kill, after;
};

static struct control own;
static struct control* control = &own;
static const char *files, *log_path, *refuse;
static int answers, refuse_errno, ready;

static int number(const char* name) {
  const char* text = getenv(name);
  return text ? atoi(text) : 0;
}

__attribute__((constructor)) static void begin(void) {
  files = getenv("SHIM_FILES");
  log_path = getenv("SHIM_LOG");
  refuse = getenv("SHIM_REFUSE");
  answers = number("SHIM_ANSWERS");
  refuse_errno = number("SHIM_ERRNO");
  own.kill = (unsigned)number("SHIM_KILL");
  own.after = (unsigned)number("SHIM_AFTER");
  const char* shared = getenv("SHIM_CONTROL");
  int fd = shared ? open(shared, O_RDWR | O_CLOEXEC) : -1;
  if (fd >= 0) {
    void* page = mmap(NULL, sizeof own, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (page != MAP_FAILED) control = page;
    close(fd);
  }
  ready = 1;
}

static void die(void) {
  kill(getpid(), SIGKILL);
  for (;;) pause();
}

// Whether the call is to be made; -1 when it is refused.
static int enter(const char* line, unsigned* mine) {
  *mine = atomic_fetch_add(&control->count, 1) + 1;
  if (log_path) {
    int fd = (int)syscall(SYS_openat, AT_FDCWD, log_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    char text[600];
    int size = snprintf(text, sizeof text, "%u %s\n", *mine, line);
    if (fd >= 0 && size > 0) syscall(SYS_write, fd, text, (size_t)size);
    if (fd >= 0) syscall(SYS_close, fd);
  }
  if (refuse && strstr(line, refuse)) {
    errno = refuse_errno;
    return -1;
  }
  if (*mine == control->kill && !control->after) die();
  return 0;
}

static void leave(unsigned mine) {
  int saved = errno;
  if (mine == control->kill && control->after) die();
  errno = saved;
}

// The call between enter() and leave(), with `line` as printed.
#define COUNTED(type, call, ...)                   \
  ({                                               \
    char line_[600];                               \
    snprintf(line_, sizeof line_, __VA_ARGS__);    \
    unsigned mine_;                                \
    type done_ = -1;                               \
    if (enter(line_, &mine_) == 0) {               \
      done_ = (type)(call);                        \
      leave(mine_);                                \
    }                                              \
    done_;                                         \
  })

static int watched(const char* path) {
  if (!ready || !files) return 0;
  for (const char* from = files; *from;) {
    const char* end = strchrnul(from, ':');
    size_t size = (size_t)(end - from);
    if (size > 0 && !strncmp(path, from, size) && (path[size] == '/' || !path[size])) {
      const char* tail = strrchr(path, '.');
      return !(log_path && !strcmp(path, log_path)) && !(tail && !strcmp(tail, ".db-shm"));
    }
    from = *end ? end + 1 : end;
  }
  return 0;
}

static int kernel_attribute(const char* path) { return !strncmp(path, "/sys/", 5) || !strncmp(path, "/proc/sys/", 10); }

// The name of an open file; empty when it is none.
static const char* name_of(int fd, char* path, size_t size) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, size - 1);
  path[length > 0 ? length : 0] = 0;
  return path;
}

// A path as it is given, made absolute where it is relative to a folder.
static const char* name_at(int folder, const char* name, char* path, size_t size) {
  if (name[0] == '/') return name;
  if (folder == AT_FDCWD) {
    if (!getcwd(path, size)) path[0] = 0;
  } else {
    name_of(folder, path, size);
  }
  size_t used = strlen(path);
  snprintf(path + used, size - used, "/%s", name);
  return path;
}

static int unix_socket(int fd) {
  int domain = 0;
  socklen_t size = sizeof domain;
  return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 && domain == AF_UNIX;
}

// Whether writing to this file counts.
static int counts(int fd, char* path, size_t size) {
  name_of(fd, path, size);
  if (!strncmp(path, "socket:", 7)) return answers && unix_socket(fd);
  return kernel_attribute(path) || watched(path);
}

ssize_t write(int fd, const void* bytes, size_t size) {
  char path[400];
  if (!counts(fd, path, sizeof path)) return syscall(SYS_write, fd, bytes, size);
  int text = kernel_attribute(path) ? (int)(size < 40 ? size : 40) : 0;
  return COUNTED(ssize_t, syscall(SYS_write, fd, bytes, size), "write %s %.*s", path, text, (const char*)bytes);
}

ssize_t writev(int fd, const struct iovec* parts, int amount) {
  char path[400];
  if (!counts(fd, path, sizeof path)) return syscall(SYS_writev, fd, parts, amount);
  return COUNTED(ssize_t, syscall(SYS_writev, fd, parts, amount), "write %s", path);
}

static ssize_t write_at(int fd, const void* bytes, size_t size, off64_t where) {
  char path[400];
  if (!counts(fd, path, sizeof path)) return syscall(SYS_pwrite64, fd, bytes, size, where);
  return COUNTED(ssize_t, syscall(SYS_pwrite64, fd, bytes, size, where), "write %s at %ld", path, (long)where);
}
ssize_t pwrite(int fd, const void* bytes, size_t size, off_t where) { return write_at(fd, bytes, size, where); }
ssize_t pwrite64(int fd, const void* bytes, size_t size, off64_t where) { return write_at(fd, bytes, size, where); }

static int truncate_to(int fd, off64_t size) {
  char path[400];
  if (!watched(name_of(fd, path, sizeof path))) return (int)syscall(SYS_ftruncate, fd, size);
  return COUNTED(int, syscall(SYS_ftruncate, fd, size), "truncate %s", path);
}
int ftruncate(int fd, off_t size) { return truncate_to(fd, size); }
int ftruncate64(int fd, off64_t size) { return truncate_to(fd, size); }

static int synchronise(int fd, long call) {
  char path[400];
  if (!watched(name_of(fd, path, sizeof path))) return (int)syscall(call, fd);
  return COUNTED(int, syscall(call, fd), "sync %s", path);
}
int fsync(int fd) { return synchronise(fd, SYS_fsync); }
int fdatasync(int fd) { return synchronise(fd, SYS_fdatasync); }

// Opening counts when it makes or empties a file.
static int open_at(int folder, const char* name, int flags, mode_t mode) {
  char buffer[PATH_MAX];
  int changes = (flags & (O_CREAT | O_TRUNC)) != 0;
  if (changes && (flags & O_CREAT) && !(flags & (O_TRUNC | O_EXCL)))
    changes = syscall(SYS_faccessat, folder, name, F_OK) != 0;
  const char* path = changes ? name_at(folder, name, buffer, sizeof buffer) : "";
  if (!changes || !watched(path)) return (int)syscall(SYS_openat, folder, name, flags, mode);
  return COUNTED(int, syscall(SYS_openat, folder, name, flags, mode), "open %s", path);
}
static mode_t mode_of(int flags, va_list* more) { return flags & (O_CREAT | O_TMPFILE) ? va_arg(*more, mode_t) : 0; }
#define OPEN_LIKE(folder)                        \
  {                                              \
    va_list more;                                \
    va_start(more, flags);                       \
    mode_t mode = mode_of(flags, &more);         \
    va_end(more);                                \
    return open_at(folder, name, flags, mode);   \
  }
int open(const char* name, int flags, ...) OPEN_LIKE(AT_FDCWD)
int open64(const char* name, int flags, ...) OPEN_LIKE(AT_FDCWD)
int openat(int folder, const char* name, int flags, ...) OPEN_LIKE(folder)
int openat64(int folder, const char* name, int flags, ...) OPEN_LIKE(folder)

static int unlink_at(int folder, const char* name, int flags) {
  char buffer[PATH_MAX];
  const char* path = name_at(folder, name, buffer, sizeof buffer);
  if (strncmp(path, "/run/netns/", 11) && !watched(path)) return (int)syscall(SYS_unlinkat, folder, name, flags);
  return COUNTED(int, syscall(SYS_unlinkat, folder, name, flags), "unlink %s", path);
}
int unlink(const char* name) { return unlink_at(AT_FDCWD, name, 0); }
int unlinkat(int folder, const char* name, int flags) { return unlink_at(folder, name, flags); }
int rmdir(const char* name) { return unlink_at(AT_FDCWD, name, AT_REMOVEDIR); }
int remove(const char* name) {
  int done = unlink_at(AT_FDCWD, name, 0);
  return done < 0 && errno == EISDIR ? rmdir(name) : done;
}

static int rename_at(int from_folder, const char* from, int to_folder, const char* to, unsigned flags) {
  char buffer[PATH_MAX];
  const char* path = name_at(to_folder, to, buffer, sizeof buffer);
  if (!watched(path)) return (int)syscall(SYS_renameat2, from_folder, from, to_folder, to, flags);
  return COUNTED(int, syscall(SYS_renameat2, from_folder, from, to_folder, to, flags), "rename to %s", path);
}
int rename(const char* from, const char* to) { return rename_at(AT_FDCWD, from, AT_FDCWD, to, 0); }
int renameat(int from_folder, const char* from, int to_folder, const char* to) {
  return rename_at(from_folder, from, to_folder, to, 0);
}
int renameat2(int from_folder, const char* from, int to_folder, const char* to, unsigned flags) {
  return rename_at(from_folder, from, to_folder, to, flags);
}

int mkdirat(int folder, const char* name, mode_t mode) {
  char buffer[PATH_MAX];
  const char* path = name_at(folder, name, buffer, sizeof buffer);
  if (!watched(path)) return (int)syscall(SYS_mkdirat, folder, name, mode);
  return COUNTED(int, syscall(SYS_mkdirat, folder, name, mode), "mkdir %s", path);
}
int mkdir(const char* name, mode_t mode) { return mkdirat(AT_FDCWD, name, mode); }

int linkat(int from_folder, const char* from, int to_folder, const char* to, int flags) {
  char buffer[PATH_MAX];
  const char* path = name_at(to_folder, to, buffer, sizeof buffer);
  if (!watched(path)) return (int)syscall(SYS_linkat, from_folder, from, to_folder, to, flags);
  return COUNTED(int, syscall(SYS_linkat, from_folder, from, to_folder, to, flags), "link %s", path);
}
int link(const char* from, const char* to) { return linkat(AT_FDCWD, from, AT_FDCWD, to, 0); }

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
  if (netlink && !is_query(fd, header))
    return COUNTED(ssize_t, syscall(SYS_sendto, fd, bytes, size, flags, to, to_size), "netlink message %d", header->nlmsg_type);
  if (!netlink && answers && unix_socket(fd))
    return COUNTED(ssize_t, syscall(SYS_sendto, fd, bytes, size, flags, to, to_size), "answer of %zu bytes", size);
  return syscall(SYS_sendto, fd, bytes, size, flags, to, to_size);
}
ssize_t send(int fd, const void* bytes, size_t size, int flags) { return sendto(fd, bytes, size, flags, NULL, 0); }

ssize_t sendmsg(int fd, const struct msghdr* message, int flags) {
  const struct sockaddr* to = message->msg_name;
  const struct nlmsghdr* header = message->msg_iovlen ? message->msg_iov[0].iov_base : NULL;
  int netlink = to && to->sa_family == AF_NETLINK && header && message->msg_iov[0].iov_len >= sizeof *header;
  if (netlink && !is_query(fd, header))
    return COUNTED(ssize_t, syscall(SYS_sendmsg, fd, message, flags), "netlink message %d", header->nlmsg_type);
  if (!netlink && answers && unix_socket(fd)) return COUNTED(ssize_t, syscall(SYS_sendmsg, fd, message, flags), "answer");
  return syscall(SYS_sendmsg, fd, message, flags);
}

int mount(const char* source, const char* target, const char* type, unsigned long flags, const void* data) {
  return COUNTED(int, syscall(SYS_mount, source, target, type, flags, data), "mount %s", target);
}

int umount2(const char* target, int flags) {
  return COUNTED(int, syscall(SYS_umount2, target, flags), "umount %s", target);
}

// SPDX-License-Identifier: Apache-2.0
// Holds the kernel's lock of network changes, as a driver in reset does: an ioctl of ethtool copies its answer while it has the
// lock, and the page that it copies to comes late.   hold_lock INTERFACE MS     prints "held", and ends when the lock is free
#include <fcntl.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <linux/userfaultfd.h>
#include <net/if.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int must(int result, const char* what) {
  if (result >= 0) return result;
  perror(what);
  exit(1);
}

struct late_page {
  int faults;
  char* page;
  long size;
  int ms;
};

static void* bring_page(void* argument) {
  struct late_page* late = argument;
  struct uffd_msg message;
  must((int)read(late->faults, &message, sizeof message), "read userfaultfd");
  puts("held");
  fflush(stdout);
  const struct timespec wait = {late->ms / 1000, late->ms % 1000 * 1000000L};
  nanosleep(&wait, NULL);
  struct uffdio_zeropage zero = {.range = {.start = (unsigned long)late->page, .len = (unsigned long)late->size}};
  must(ioctl(late->faults, UFFDIO_ZEROPAGE, &zero), "UFFDIO_ZEROPAGE");
  return NULL;
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  struct late_page late = {.size = sysconf(_SC_PAGESIZE), .ms = atoi(argv[2])};
  char* pages = mmap(NULL, 2 * (size_t)late.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  late.page = pages + late.size;
  late.faults = must((int)syscall(SYS_userfaultfd, O_CLOEXEC), "userfaultfd");
  struct uffdio_api api = {.api = UFFD_API};
  must(ioctl(late.faults, UFFDIO_API, &api), "UFFDIO_API");
  struct uffdio_register range = {.range = {.start = (unsigned long)late.page, .len = (unsigned long)late.size},
                                  .mode = UFFDIO_REGISTER_MODE_MISSING};
  must(ioctl(late.faults, UFFDIO_REGISTER, &range), "UFFDIO_REGISTER");
  pthread_t thread;
  must(-pthread_create(&thread, NULL, bring_page, &late), "pthread_create");
  // The command is the last word of the first page, which is read before the lock; the answer goes to both.
  const unsigned command = ETHTOOL_GLINK;
  char* value = late.page - sizeof command;
  memcpy(value, &command, sizeof command);
  struct ifreq request = {.ifr_data = value};
  strncpy(request.ifr_name, argv[1], IFNAMSIZ - 1);
  const int any = must(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), "socket");
  must(ioctl(any, SIOCETHTOOL, &request), "SIOCETHTOOL");
  return 0;
}

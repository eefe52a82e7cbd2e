// SPDX-License-Identifier: Apache-2.0
// The minimal way to VFs with their drivers:  bare COUNT PF...     (PF is a PCI address)
// A thread per PF writes sriov_numvfs and then every VF's address to drivers_probe; nothing is read, checked or kept.
// autoprobe is off while VFs are made, as railbed does it, and on for the binds: without that no driver binds.
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char* count;

static void put(const char* path, const char* text) {
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0 || write(fd, text, strlen(text)) < 0) {
    perror(path);
    exit(1);
  }
  close(fd);
}

static void* make(void* pf) {
  char path[200], link[200];
  snprintf(path, sizeof path, "/sys/bus/pci/devices/%s/sriov_drivers_autoprobe", (char*)pf);
  put(path, "0");
  char numvfs[200];
  snprintf(numvfs, sizeof numvfs, "/sys/bus/pci/devices/%s/sriov_numvfs", (char*)pf);
  put(numvfs, count);
  put(path, "1");
  for (int vf = 0; vf < atoi(count); ++vf) {
    snprintf(path, sizeof path, "/sys/bus/pci/devices/%s/virtfn%d", (char*)pf, vf);
    ssize_t length = readlink(path, link, sizeof link - 1);
    if (length < 0) exit(1);
    link[length] = 0;
    put("/sys/bus/pci/drivers_probe", strrchr(link, '/') + 1);
  }
  return NULL;
}

int main(int argc, char** argv) {
  pthread_t threads[8];
  if (argc < 3) return 2;
  count = argv[1];
  for (int i = 2; i < argc; ++i) pthread_create(&threads[i - 2], NULL, make, argv[i]);
  for (int i = 2; i < argc; ++i) pthread_join(threads[i - 2], NULL);
  return 0;
}

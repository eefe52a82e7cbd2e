// SPDX-License-Identifier: Apache-2.0
// COUNT processes that do nothing until this one ends: what a look through /proc has to pass.   processes COUNT
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

int main(int argc, char** argv) {
  const int count = argc == 2 ? atoi(argv[1]) : 0;
  for (int made = 0; made < count; ++made) {
    const pid_t child = fork();
    if (child < 0) {
      perror("fork");
      return 1;
    }
    if (child == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      for (;;) pause();
    }
  }
  puts("there");
  fflush(stdout);
  for (;;) pause();
}

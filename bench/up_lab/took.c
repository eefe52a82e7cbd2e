// SPDX-License-Identifier: Apache-2.0
// How long a program takes, from its start to its end, without a shell's own work:  took LOG PROGRAM ARGUMENT...
// Prints milliseconds with six decimals; what the program prints goes to the file LOG. Fails as the program does.
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>

extern char** environ;

int main(int argc, char** argv) {
  struct timespec begin, end;
  posix_spawn_file_actions_t actions;
  pid_t child;
  int status;
  if (argc < 3) return 2;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, argv[1], O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  clock_gettime(CLOCK_MONOTONIC, &begin);
  if (posix_spawnp(&child, argv[2], &actions, NULL, argv + 2, environ) != 0) return 1;
  if (waitpid(child, &status, 0) != child || !WIFEXITED(status)) return 1;
  clock_gettime(CLOCK_MONOTONIC, &end);
  printf("%.6f\n", (double)(end.tv_sec - begin.tv_sec) * 1e3 + (double)(end.tv_nsec - begin.tv_nsec) / 1e6);
  return WEXITSTATUS(status);
}

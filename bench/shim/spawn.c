// SPDX-License-Identifier: Apache-2.0
// Times starting two programs in turn: spawn ROUNDS FIRST SECOND; prints the median and the shortest time of each in
// microseconds, as "first MEDIAN SHORTEST" and "second …". Standard input is empty, output goes nowhere.
#define _GNU_SOURCE
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char** environ;

static double now_us(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1e6 + t.tv_nsec / 1e3;
}

static double start(const char* program, posix_spawn_file_actions_t* files) {
  char* arguments[] = {(char*)program, NULL};
  pid_t pid;
  const double began = now_us();
  if (posix_spawn(&pid, program, files, NULL, arguments, environ) != 0) {
    perror(program);
    exit(1);
  }
  int status;
  waitpid(pid, &status, 0);
  const double took = now_us() - began;
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    fprintf(stderr, "%s: exit status %x\n", program, status);
    exit(1);
  }
  return took;
}

static int by_value(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

int main(int count, char** arguments) {
  if (count != 4) return 2;
  const int rounds = atoi(arguments[1]);
  double* times[2] = {calloc(rounds, sizeof(double)), calloc(rounds, sizeof(double))};
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
  for (int i = -20; i < rounds; ++i)  // the first ones fill the caches
    for (int k = 0; k < 2; ++k) {
      const int which = (i & 1) ^ k;
      const double took = start(arguments[2 + which], &files);
      if (i >= 0) times[which][i] = took;
    }
  for (int which = 0; which < 2; ++which) {
    qsort(times[which], rounds, sizeof(double), by_value);
    printf("%s %.1f %.1f\n", which == 0 ? "first" : "second", times[which][rounds / 2], times[which][0]);
  }
  return 0;
}

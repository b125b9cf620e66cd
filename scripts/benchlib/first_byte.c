/* How long a user waits for the first byte: from just before the command is started to the byte in hand.
 *   first_byte FILE COMMAND [ARG …]      COMMAND exits with 0, then a byte of FILE is read
 *   first_byte -    COMMAND [ARG …]      COMMAND itself prints the byte
 * Prints nanoseconds. In C, as the start of an interpreter would be a part of what is measured. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char** environ;

static long long now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static int fail(const char* what, int error) {
  fprintf(stderr, "first_byte: %s: %s\n", what, strerror(error));
  return 1;
}

static int exit_status(pid_t child) {
  int status = -1;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

static int printed_by_command(char** command) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC)) return fail("pipe", errno);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);

  pid_t child;
  char byte;
  long long start = now();
  int error = posix_spawnp(&child, command[0], &actions, NULL, command, environ);
  if (error) return fail(command[0], error);
  close(ends[1]);
  int got = read(ends[0], &byte, 1) == 1;
  long long end = now();
  if (exit_status(child) != 0 || !got) return fail(command[0], ECHILD);
  printf("%lld\n", end - start);
  return 0;
}

static int read_from_file(const char* path, char** command) {
  pid_t child;
  char byte;
  long long start = now();
  int error = posix_spawnp(&child, command[0], NULL, NULL, command, environ);
  if (error) return fail(command[0], error);
  if (exit_status(child) != 0) return fail(command[0], ECHILD);
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0 || read(file, &byte, 1) != 1) return fail(path, errno);
  long long end = now();
  printf("%lld\n", end - start);
  return 0;
}

int main(int argc, char** argv) {
  if (argc < 3) return fprintf(stderr, "usage: first_byte FILE|- COMMAND [ARG ...]\n"), 2;
  return strcmp(argv[1], "-") == 0 ? printed_by_command(argv + 2) : read_from_file(argv[1], argv + 2);
}

/* Overwrites a file in one way and prints the nanoseconds that it took, from open to close.
 *   writer sequential FILE LENGTH    1 MiB writes over [0, LENGTH)
 *   writer synced FILE LENGTH        the same, and fsync at their end
 *   writer small FILE OFFSET         4 bytes at OFFSET, and fsync */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { PIECE = 1 << 20 };

static const char* path;

static void die(const char* what) {
  fprintf(stderr, "writer: %s: %s: %s\n", path, what, strerror(errno));
  exit(1);
}

static void write_fully(int file, const char* bytes, size_t size, long long at) {
  for (size_t done = 0; done < size;) {
    ssize_t n = pwrite(file, bytes + done, size - done, at + (long long)done);
    if (n <= 0) die("write");
    done += (size_t)n;
  }
}

static long long now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}

int main(int argc, char** argv) {
  if (argc != 4) return fprintf(stderr, "usage: writer sequential|synced|small FILE LENGTH|OFFSET\n"), 2;
  const char* way = argv[1];
  path = argv[2];
  long long number = atoll(argv[3]);

  /* Other bytes each time, and none that repeat within a page: nothing below can make them smaller or skip them. */
  char* bytes = malloc(PIECE);
  if (!bytes) die("memory");
  unsigned long long state = (unsigned long long)now() | 1;
  for (size_t i = 0; i < PIECE; i += sizeof state) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    memcpy(bytes + i, &state, sizeof state);
  }

  long long start = now();
  int file = open(path, O_WRONLY);
  if (file < 0) die("open");
  if (!strcmp(way, "small")) {
    write_fully(file, bytes, 4, number);
  } else {
    for (long long at = 0; at < number; at += PIECE)
      write_fully(file, bytes, number - at < PIECE ? (size_t)(number - at) : PIECE, at);
  }
  if (strcmp(way, "sequential") && fsync(file)) die("fsync");
  if (close(file)) die("close");
  printf("%lld\n", now() - start);
  return 0;
}

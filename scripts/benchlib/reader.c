/* Reads [OFFSET, OFFSET + LENGTH) of a file in one way and prints the nanoseconds that it took.
 *   reader sequential|direct|mapped|random FILE OFFSET LENGTH
 *   reader resident FILE OFFSET LENGTH     prints how many bytes of the range are in the page cache; reads nothing
 * sequential: 1 MiB reads. direct: the same with O_DIRECT. mapped: a byte of each page of a map, in order.
 * random: 20,000 reads of 4 KiB, no page twice, the same ones each time. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 4096, PIECE = 1 << 20, RANDOM_READS = 20000 };

static const char* path;
static long long offset, length;

static void die(const char* what) {
  fprintf(stderr, "reader: %s: %s: %s\n", path, what, errno ? strerror(errno) : "unexpected end");
  exit(1);
}

static void read_fully(int file, char* buffer, size_t size, long long at) {
  for (size_t done = 0; done < size;) {
    ssize_t n = pread(file, buffer + done, size - done, at + (long long)done);
    if (n <= 0) die("read");
    done += (size_t)n;
  }
}

static void in_pieces(int file) {
  char* buffer = aligned_alloc(PAGE, PIECE);
  if (!buffer) die("memory");
  for (long long done = 0; done < length; done += PIECE) {
    long long left = length - done;
    read_fully(file, buffer, left < PIECE ? (size_t)left : PIECE, offset + done);
  }
}

/* The range's pages; `start` receives how far into the first page the range begins. */
static char* map_range(int file, size_t* start, size_t* size) {
  *start = (size_t)(offset % PAGE);
  *size = *start + (size_t)length;
  char* map = mmap(NULL, *size, PROT_READ, MAP_SHARED, file, offset - (long long)*start);
  if (map == MAP_FAILED) die("mmap");
  return map;
}

static void walk_map(int file) {
  size_t start, size;
  const volatile char* map = map_range(file, &start, &size);
  for (size_t at = start; at < size; at += PAGE) (void)map[at];
}

static void at_random(int file) {
  char buffer[PAGE];
  unsigned long long pages = (unsigned long long)length / PAGE;
  /* A prime over the number of pages shares no factor with it, so its multiples visit all before any twice. */
  const unsigned long long step = 2654435761ULL;
  unsigned long long page = 0;
  for (int i = 0; i < RANDOM_READS; i++) {
    page = (page + step) % pages;
    read_fully(file, buffer, PAGE, offset + (long long)(page * PAGE));
  }
}

static void print_resident(int file) {
  size_t start, size, resident = 0;
  char* map = map_range(file, &start, &size);
  size_t pages = (size + PAGE - 1) / PAGE;
  unsigned char* present = malloc(pages);
  if (!present || mincore(map, size, present)) die("mincore");
  for (size_t i = 0; i < pages; i++) resident += present[i] & 1;
  printf("%zu\n", resident * PAGE);
}

static long long now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}

int main(int argc, char** argv) {
  if (argc != 5)
    return fprintf(stderr, "usage: reader sequential|direct|mapped|random|resident FILE OFFSET LENGTH\n"), 2;
  const char* way = argv[1];
  path = argv[2], offset = atoll(argv[3]), length = atoll(argv[4]);
  int file = open(path, O_RDONLY | (strcmp(way, "direct") ? 0 : O_DIRECT));
  if (file < 0) die("open");
  if (!strcmp(way, "resident")) return print_resident(file), 0;
  long long start = now();
  if (!strcmp(way, "mapped")) walk_map(file);
  else if (!strcmp(way, "random")) at_random(file);
  else in_pieces(file);
  printf("%lld\n", now() - start);
  return 0;
}

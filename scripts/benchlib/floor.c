/* The least that a FUSE server can do: one file, MOUNTPOINT/f, whose reads are answered from a map.
 *   floor FILE OFFSET LENGTH MOUNTPOINT       serves [OFFSET, OFFSET + LENGTH) of FILE until it is unmounted
 * How fast it is read is what this machine's FUSE allows; onnxfs is held against it. It runs in the foreground. */
#define FUSE_USE_VERSION 312
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <fuse_lowlevel.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define FOREVER 86400.0

static const fuse_ino_t THE_FILE = 2;
static const char* bytes;
static size_t length;

static struct stat attributes(fuse_ino_t node) {
  struct stat s;
  memset(&s, 0, sizeof s);
  s.st_ino = node;
  s.st_mode = node == THE_FILE ? S_IFREG | 0444 : S_IFDIR | 0555;
  s.st_nlink = node == THE_FILE ? 1 : 2;
  s.st_size = node == THE_FILE ? (off_t)length : 0;
  return s;
}

static void init(void* context, struct fuse_conn_info* connection) {
  (void)context;
  /* Splicing from a map is slower than the plain copy. */
  connection->want &= ~(unsigned)(FUSE_CAP_SPLICE_READ | FUSE_CAP_SPLICE_WRITE | FUSE_CAP_SPLICE_MOVE);
  connection->max_background = 64;
}

static void lookup(fuse_req_t request, fuse_ino_t parent, const char* name) {
  if (parent != FUSE_ROOT_ID || strcmp(name, "f") != 0) {
    fuse_reply_err(request, ENOENT);
    return;
  }
  struct fuse_entry_param entry;
  memset(&entry, 0, sizeof entry);
  entry.ino = THE_FILE;
  entry.attr = attributes(THE_FILE);
  entry.attr_timeout = entry.entry_timeout = FOREVER;
  fuse_reply_entry(request, &entry);
}

static void get_attributes(fuse_req_t request, fuse_ino_t node, struct fuse_file_info* info) {
  (void)info;
  struct stat s = attributes(node);
  fuse_reply_attr(request, &s, FOREVER);
}

static void open_file(fuse_req_t request, fuse_ino_t node, struct fuse_file_info* info) {
  (void)node;
  info->keep_cache = 1;
  fuse_reply_open(request, info);
}

static void read_file(fuse_req_t request, fuse_ino_t node, size_t size, off_t at, struct fuse_file_info* info) {
  (void)node, (void)info;
  size_t begin = (size_t)at < length ? (size_t)at : length;
  struct iovec piece = {(void*)(bytes + begin), size < length - begin ? size : length - begin};
  fuse_reply_iov(request, &piece, 1);
}

static const char* map_range(const char* path, size_t offset) {
  int file = open(path, O_RDONLY);
  struct stat s;
  if (file < 0 || fstat(file, &s) != 0) return NULL;
  if (offset > (size_t)s.st_size || length > (size_t)s.st_size - offset) return errno = ERANGE, NULL;
  char* map = mmap(NULL, offset + length, PROT_READ, MAP_SHARED, file, 0);
  return map == MAP_FAILED ? NULL : map + offset;
}

int main(int argc, char** argv) {
  if (argc != 5) return fprintf(stderr, "usage: floor FILE OFFSET LENGTH MOUNTPOINT\n"), 2;
  length = strtoull(argv[3], NULL, 10);
  bytes = map_range(argv[1], strtoull(argv[2], NULL, 10));
  if (!bytes) return fprintf(stderr, "floor: %s: %s\n", argv[1], strerror(errno)), 1;

  const struct fuse_lowlevel_ops operations = {
      .init = init, .lookup = lookup, .getattr = get_attributes, .open = open_file, .read = read_file};
  struct fuse_args arguments = FUSE_ARGS_INIT(1, argv);
  struct fuse_session* session = fuse_session_new(&arguments, &operations, sizeof operations, NULL);
  if (!session || fuse_set_signal_handlers(session) != 0 || fuse_session_mount(session, argv[4]) != 0) return 1;

  struct fuse_loop_config* loop = fuse_loop_cfg_create();
  fuse_loop_cfg_set_max_threads(loop, 4);
  int status = fuse_session_loop_mt(session, loop);
  fuse_loop_cfg_destroy(loop);
  fuse_session_unmount(session);
  fuse_session_destroy(session);
  return status != 0;
}

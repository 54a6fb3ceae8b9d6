/*
 * Makes system calls on files below a folder fail: loaded into a service and all that it starts by LD_PRELOAD.
 *
 * FAULT_FOLDER is the folder, absolute, and FAULT_CONTROL a file of 4,096 bytes that the test shares with it:
 * int armed (2 has a process killed as soon as it has answered a post), int target (which of the calls that are counted
 * fails, from 1; 0 is a full disk: all that write fail), int count, int error (the number of the error among those of a
 * call, from 0: calls with fewer are not counted), int fired, then the words that say what was made to fail. FAULT_ONLY,
 * such as "rename of .git/index", counts such calls only. CLOCK_OFFSET is the seconds by which the clock is wrong.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

struct control {
  int armed, target, count, error, fired;
  char words[512];
};

static volatile struct control *control;
static char folder[PATH_MAX];
static size_t folder_length;
static const char *only;
static time_t clock_offset;

__attribute__((constructor)) static void start(void) {
  const char *offset = getenv("CLOCK_OFFSET");
  if (offset != NULL) clock_offset = atol(offset);
  const char *file = getenv("FAULT_CONTROL"), *top = getenv("FAULT_FOLDER");
  if (file == NULL || top == NULL) return;
  int fd = open(file, O_RDWR | O_CLOEXEC);
  if (fd < 0) return;
  void *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (memory == MAP_FAILED) return;
  only = getenv("FAULT_ONLY");
  snprintf(folder, sizeof folder, "%s/", top);
  folder_length = strlen(folder);
  control = memory;
}

static int is_below(const char *path) {
  return strncmp(path, folder, folder_length) == 0;
}

static int of_descriptor(int fd, char *path) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, PATH_MAX - 1);
  if (length < 0) return 0;
  path[length] = 0;
  return 1;
}

static int resolve(int at, const char *path, char *full) {
  char start[PATH_MAX];
  if (path[0] == '/') return snprintf(full, 2 * PATH_MAX, "%s", path) > 0;
  if (at == AT_FDCWD ? getcwd(start, sizeof start) == NULL : !of_descriptor(at, start)) return 0;
  return snprintf(full, 2 * PATH_MAX, "%s/%s", start, path) > 0;
}

/* Whether this call is the one that fails. */
static int fails(const char *call, const char *path, int errors[4]) {
  if (control == NULL || control->armed != 1 || !is_below(path)) return 0;
  char words[PATH_MAX + 64];
  snprintf(words, sizeof words, "%s of %s", call, path + folder_length);
  if (only != NULL && strcmp(words, only) != 0) return 0;
  int kinds = 0, full = 0;
  for (; kinds < 4 && errors[kinds] != 0; kinds++) full |= errors[kinds] == ENOSPC;
  if (control->error >= kinds) return 0;
  int count = __sync_add_and_fetch(&control->count, 1);
  if (control->target == 0 ? !full : count != control->target) return 0;
  int error = control->target == 0 ? ENOSPC : errors[control->error];
  snprintf((char *)control->words, sizeof control->words, "%s, %s", words, strerrorname_np(error));
  control->fired = 1;
  errno = error;
  return 1;
}

static int path_fails(const char *call, int at, const char *path, int errors[4]) {
  if (control == NULL || control->armed != 1) return 0;
  char full[2 * PATH_MAX];
  int saved = errno;
  int result = resolve(at, path, full) && fails(call, full, errors);
  if (!result) errno = saved;
  return result;
}

static int descriptor_fails(const char *call, int fd, int errors[4]) {
  if (control == NULL || control->armed != 1) return 0;
  char path[PATH_MAX];
  int saved = errno;
  int result = of_descriptor(fd, path) && fails(call, path, errors);
  if (!result) errno = saved;
  return result;
}

/* Kills this process where it has answered a post: the client has the answer, and nothing is done after it. */
static void end_after(const struct iovec *data, int count) {
  if (control == NULL || control->armed != 2 || count == 0) return;
  if (data->iov_len < 12 || memcmp(data->iov_base, "HTTP/1.1 200", 12) != 0) return;
  for (int i = 0; i < count; i++)
    if (memmem(data[i].iov_base, data[i].iov_len, "\"commit\":", 9) != NULL) kill(getpid(), SIGKILL);
}

static int open_errors[4] = {EMFILE, EIO, EACCES, 0};
static int write_errors[4] = {ENOSPC, EIO, 0, 0};
static int sync_errors[4] = {EIO, ENOSPC, 0, 0};
static int name_errors[4] = {ENOSPC, EIO, EACCES, 0};
static int unlink_errors[4] = {EIO, EACCES, 0, 0};

/* Looked up once: a signal handler that waits for the lock of dlsym hangs. */
#define REAL(name)                                                          \
  (*({                                                                      \
    static __typeof__(&name) real;                                          \
    if (real == NULL) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name);    \
    real;                                                                   \
  }))

#define OPEN(name)                                                          \
  int name(const char *path, int flags, ...) {                              \
    va_list arguments;                                                      \
    va_start(arguments, flags);                                             \
    mode_t mode = va_arg(arguments, mode_t);                                \
    va_end(arguments);                                                      \
    if (path_fails("open", AT_FDCWD, path, open_errors)) return -1;         \
    return REAL(name)(path, flags, mode);                                   \
  }
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                                        \
  int name(int at, const char *path, int flags, ...) {                      \
    va_list arguments;                                                      \
    va_start(arguments, flags);                                             \
    mode_t mode = va_arg(arguments, mode_t);                                \
    va_end(arguments);                                                      \
    if (path_fails("open", at, path, open_errors)) return -1;               \
    return REAL(name)(at, path, flags, mode);                               \
  }
OPENAT(openat)
OPENAT(openat64)

#define DESCRIPTOR(type, name, call, errors, parameters, ...)               \
  type name parameters {                                                    \
    if (descriptor_fails(call, fd, errors)) return -1;                      \
    return REAL(name)(__VA_ARGS__);                                         \
  }
DESCRIPTOR(ssize_t, pwrite, "write", write_errors, (int fd, const void *data, size_t size, off_t at), fd, data, size, at)
DESCRIPTOR(ssize_t, pwrite64, "write", write_errors, (int fd, const void *data, size_t size, off64_t at), fd, data, size, at)
DESCRIPTOR(ssize_t, pwritev, "write", write_errors, (int fd, const struct iovec *data, int count, off_t at), fd, data, count, at)
DESCRIPTOR(ssize_t, pwritev64, "write", write_errors, (int fd, const struct iovec *data, int count, off64_t at), fd, data, count, at)
DESCRIPTOR(int, fsync, "fsync", sync_errors, (int fd), fd)
DESCRIPTOR(int, fdatasync, "fsync", sync_errors, (int fd), fd)
DESCRIPTOR(int, ftruncate, "truncate", write_errors, (int fd, off_t size), fd, size)
DESCRIPTOR(int, ftruncate64, "truncate", write_errors, (int fd, off64_t size), fd, size)

ssize_t write(int fd, const void *data, size_t size) {
  if (descriptor_fails("write", fd, write_errors)) return -1;
  ssize_t written = REAL(write)(fd, data, size);
  end_after(&(struct iovec){(void *)data, size}, 1);
  return written;
}

ssize_t writev(int fd, const struct iovec *data, int count) {
  if (descriptor_fails("write", fd, write_errors)) return -1;
  ssize_t written = REAL(writev)(fd, data, count);
  end_after(data, count);
  return written;
}

#define PATH(name, call, at, path, errors, parameters, ...)                 \
  int name parameters {                                                     \
    if (path_fails(call, at, path, errors)) return -1;                      \
    return REAL(name)(__VA_ARGS__);                                         \
  }
PATH(rename, "rename", AT_FDCWD, to, name_errors, (const char *from, const char *to), from, to)
PATH(renameat, "rename", there, to, name_errors, (int here, const char *from, int there, const char *to), here, from, there, to)
PATH(link, "link", AT_FDCWD, to, name_errors, (const char *from, const char *to), from, to)
PATH(linkat, "link", there, to, name_errors, (int here, const char *from, int there, const char *to, int flags), here, from, there, to, flags)
PATH(unlink, "unlink", AT_FDCWD, path, unlink_errors, (const char *path), path)
PATH(unlinkat, "unlink", at, path, unlink_errors, (int at, const char *path, int flags), at, path, flags)
PATH(rmdir, "rmdir", AT_FDCWD, path, unlink_errors, (const char *path), path)
PATH(mkdir, "mkdir", AT_FDCWD, path, name_errors, (const char *path, mode_t mode), path, mode)
PATH(mkdirat, "mkdir", at, path, name_errors, (int at, const char *path, mode_t mode), at, path, mode)

int clock_gettime(clockid_t clock, struct timespec *time) {
  int result = REAL(clock_gettime)(clock, time);
  if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE) time->tv_sec += clock_offset;
  return result;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
  int result = REAL(gettimeofday)(time, zone);
  time->tv_sec += clock_offset;
  return result;
}

time_t time(time_t *into) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (into != NULL) *into = now.tv_sec;
  return now.tv_sec;
}

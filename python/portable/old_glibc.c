/* What glibc had under other names, or not at all, before 2.33: for an extension that is linked on a newer system and runs on an
 * older one (tools/lower_glibc.py). Hidden, so that the extension alone takes them.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* 2.32; for libstdc++ to use a lock less where there is one thread: never. */
char __libc_single_threaded = 0;

/* 2.33: macros over __xstat before. On 64-bit Linux the kernel's structure is the C library's. */
static int ask(int folder, const char* path, void* told, int flags) {
  return (int)syscall(SYS_newfstatat, folder, path, told, flags);
}
int stat(const char* path, struct stat* told) { return ask(AT_FDCWD, path, told, 0); }
int lstat(const char* path, struct stat* told) { return ask(AT_FDCWD, path, told, AT_SYMLINK_NOFOLLOW); }
int fstat(int file, struct stat* told) { return ask(file, "", told, AT_EMPTY_PATH); }
int fstat64(int file, struct stat64* told) { return ask(file, "", told, AT_EMPTY_PATH); }

/* 2.36; of std::random_device. */
uint32_t arc4random(void) {
  uint32_t number;
  while (getentropy(&number, sizeof number) != 0) {
  }
  return number;
}

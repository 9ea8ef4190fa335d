// Faults of the system, for a command that is started with this library preloaded (LD_PRELOAD).
//
//     FARO_FAULT=KIND     memory, open, read, write, sync, rename, map, reserve, attribute: calls of the C
//     library of one kind; short, interrupt: a reading that gives less, or nothing and EINTR FARO_FAULT_AT=N
//     the N-th of them fails, from 1; 0: none, they are counted FARO_FAULT_COUNT=F  their number is written
//     to the file F at the end FARO_FAULT_KILL=1   instead of failing, the process is killed before the N-th
//     FARO_FAULT_WAIT=S   instead of failing, the N-th waits for S seconds
//     FARO_THREADS=N      no more than N threads at a time
//     FARO_NO_TMPFILE=1   no file system has nameless files
//     FARO_REMOTE=1       nor O_DIRECT, nor blocks that are set aside, nor locks: as some remote ones
//     FARO_PAGE=N         the kernel's pages have N bytes: mappings begin at them, and what is given back or
//                         advised begins at one, or the process ends
//
// Of io_uring: ring_short, a request that moves half of what it was asked for; ring_error, one that fails.
//
// Counted are calls after main() began, and of memory only those of the program and of C++'s libraries: where
// the loader or OpenMP's library get none, they end the process themselves.
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#if __has_include(<liburing.h>)
#include <liburing.h>
#endif

namespace {

template <typename Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

std::atomic<bool> began{false};
std::atomic<long> calls{0};
std::atomic<int> threads{1};

long number_of(const char* variable, long otherwise) {
  const char* const text = getenv(variable);
  return text == nullptr ? otherwise : strtol(text, nullptr, 10);
}

struct Settings {
  const char* kind = getenv("FARO_FAULT");
  long at = number_of("FARO_FAULT_AT", 0);
  bool kills = number_of("FARO_FAULT_KILL", 0) != 0;
  long wait_seconds = number_of("FARO_FAULT_WAIT", 0);
  bool is_remote = number_of("FARO_REMOTE", 0) != 0;
  bool has_no_tmpfile = is_remote || number_of("FARO_NO_TMPFILE", 0) != 0;
  long most_threads = number_of("FARO_THREADS", 0);
  size_t page_bytes = static_cast<size_t>(number_of("FARO_PAGE", 0));
};

const Settings& settings() {
  static const Settings read;
  return read;
}

// Whether this call of `kind` is to fail.
bool fails(const char* kind) {
  if (!began || settings().kind == nullptr || strcmp(settings().kind, kind) != 0) return false;
  const long call = ++calls;
  if (call != settings().at) return false;
  if (settings().kills) kill(getpid(), SIGKILL);
  if (settings().wait_seconds == 0) return true;
  sleep(static_cast<unsigned>(settings().wait_seconds));
  return false;
}

size_t whole_pages(size_t bytes) {
  const size_t page = settings().page_bytes;
  return page == 0 ? bytes : (bytes + page - 1) / page * page;
}

void require_page(const void* address) {
  const size_t page = settings().page_bytes;
  if (page != 0 && reinterpret_cast<uintptr_t>(address) % page != 0) abort();
}

// Room of whole pages that begins at one, for a mapping to take the place of.
char* room_at_page(size_t bytes) {
  static const auto map = next<void* (*)(void*, size_t, int, int, int, off_t)>("mmap");
  static const auto unmap = next<int (*)(void*, size_t)>("munmap");
  const size_t page = settings().page_bytes;
  void* const found =
      map(nullptr, bytes + page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (found == MAP_FAILED) return nullptr;
  char* const begin = static_cast<char*>(found);
  const size_t before = (0 - reinterpret_cast<uintptr_t>(begin)) % page;
  if (before != 0) unmap(begin, before);
  unmap(begin + before + bytes, page - before);
  return begin + before;
}

int error(int number) {
  errno = number;
  return -1;
}

// By the file name of the library that the call came from.
bool is_ours(void* caller) {
  Dl_info info{};
  if (dladdr(caller, &info) == 0 || info.dli_fname == nullptr) return false;
  const char* const name = info.dli_fname;
  return strstr(name, "libgomp") == nullptr && strstr(name, "/ld-") == nullptr &&
         strstr(name, "libc.so") == nullptr && strstr(name, "libcuda") == nullptr;
}

struct Counter {
  ~Counter() {
    const char* const file = getenv("FARO_FAULT_COUNT");
    if (file == nullptr) return;
    began = false;
    const int descriptor = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    char text[32];
    int length = 0;
    char digits[24];
    int count = 0;
    for (long left = calls; left > 0 || count == 0; left /= 10)
      digits[count++] = static_cast<char>('0' + left % 10);
    while (count > 0) text[length++] = digits[--count];
    [[maybe_unused]] const auto written = write(descriptor, text, static_cast<size_t>(length));
    close(descriptor);
  }
} counter;

struct Start {
  void* (*work)(void*);
  void* argument;
};

void* counted(void* argument) {
  const Start start = *static_cast<Start*>(argument);
  delete static_cast<Start*>(argument);
  void* const result = start.work(start.argument);
  --threads;
  return result;
}

}  // namespace

extern "C" {

// The command's first act in main().
int sigaction(int signal, const struct sigaction* action, struct sigaction* old) noexcept {
  static const auto real = next<int (*)(int, const struct sigaction*, struct sigaction*)>("sigaction");
  if (signal == SIGBUS) began = true;
  return real(signal, action, old);
}

void* malloc(size_t bytes) noexcept {
  static const auto real = next<void* (*)(size_t)>("malloc");
  if (began && settings().kind != nullptr && strcmp(settings().kind, "memory") == 0 &&
      is_ours(__builtin_return_address(0)) && fails("memory")) {
    errno = ENOMEM;
    return nullptr;
  }
  return real(bytes);
}

void* aligned_alloc(size_t alignment, size_t bytes) noexcept {
  static const auto real = next<void* (*)(size_t, size_t)>("aligned_alloc");
  if (fails("memory")) {
    errno = ENOMEM;
    return nullptr;
  }
  return real(alignment, bytes);
}

void* mmap(void* address, size_t bytes, int protection, int flags, int descriptor, off_t offset) noexcept {
  static const auto real = next<void* (*)(void*, size_t, int, int, int, off_t)>("mmap");
  if (fails("map")) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  if (settings().page_bytes == 0 || address != nullptr)
    return real(address, bytes, protection, flags, descriptor, offset);
  if (static_cast<size_t>(offset) % settings().page_bytes != 0) abort();
  char* const room = room_at_page(whole_pages(bytes));
  if (room == nullptr) return MAP_FAILED;
  return real(room, bytes, protection, flags | MAP_FIXED, descriptor, offset);
}

int munmap(void* address, size_t bytes) noexcept {
  static const auto real = next<int (*)(void*, size_t)>("munmap");
  require_page(address);
  return real(address, whole_pages(bytes));
}

int madvise(void* address, size_t bytes, int advice) noexcept {
  static const auto real = next<int (*)(void*, size_t, int)>("madvise");
  require_page(address);
  return real(address, bytes, advice);
}

int msync(void* address, size_t bytes, int flags) {
  static const auto real = next<int (*)(void*, size_t, int)>("msync");
  require_page(address);
  return real(address, bytes, flags);
}

long sysconf(int name) noexcept {
  static const auto real = next<long (*)(int)>("sysconf");
  const auto page = static_cast<long>(settings().page_bytes);
  return name == _SC_PAGESIZE && page != 0 ? page : real(name);
}

int open(const char* path, int flags, ...) {
  static const auto real = next<int (*)(const char*, int, ...)>("open");
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = va_arg(arguments, mode_t);
  va_end(arguments);
  if (settings().has_no_tmpfile && (flags & O_TMPFILE) == O_TMPFILE) return error(EOPNOTSUPP);
  if (settings().is_remote && (flags & O_DIRECT) != 0) return error(EINVAL);
  if (fails("open")) return error(EMFILE);
  return real(path, flags, mode);
}

// What open() is where it is checked (_FORTIFY_SOURCE), without a mode.
int __open_2(const char* path, int flags) { return open(path, flags, 0); }

ssize_t pwrite(int descriptor, const void* data, size_t bytes, off_t offset) {
  static const auto real = next<ssize_t (*)(int, const void*, size_t, off_t)>("pwrite");
  if (fails("write")) return error(EIO);
  return real(descriptor, data, bytes, offset);
}

// short: the N-th reading gives half of what it was asked for; interrupt: none, and EINTR.
ssize_t pread(int descriptor, void* data, size_t bytes, off_t offset) {
  static const auto real = next<ssize_t (*)(int, void*, size_t, off_t)>("pread");
  if (fails("read")) return error(EIO);
  if (fails("interrupt")) return error(EINTR);
  if (fails("short")) bytes = bytes / 2 + 1;
  return real(descriptor, data, bytes, offset);
}

int fsync(int descriptor) {
  static const auto real = next<int (*)(int)>("fsync");
  if (fails("sync")) return error(EIO);
  return real(descriptor);
}

int syncfs(int descriptor) noexcept {
  static const auto real = next<int (*)(int)>("syncfs");
  if (fails("sync")) return error(EIO);
  return real(descriptor);
}

int rename(const char* from, const char* to) noexcept {
  static const auto real = next<int (*)(const char*, const char*)>("rename");
  if (fails("rename")) return error(EIO);
  return real(from, to);
}

int linkat(int from_folder, const char* from, int to_folder, const char* to, int flags) noexcept {
  static const auto real = next<int (*)(int, const char*, int, const char*, int)>("linkat");
  if (fails("rename")) return error(EIO);
  return real(from_folder, from, to_folder, to, flags);
}

int fallocate(int descriptor, int mode, off_t offset, off_t bytes) {
  static const auto real = next<int (*)(int, int, off_t, off_t)>("fallocate");
  if (fails("reserve")) return error(ENOSPC);
  if (settings().is_remote) return error(EOPNOTSUPP);
  return real(descriptor, mode, offset, bytes);
}

int flock(int descriptor, int operation) noexcept {
  static const auto real = next<int (*)(int, int)>("flock");
  if (settings().is_remote) return error(ENOLCK);
  return real(descriptor, operation);
}

#if __has_include(<liburing.h>)
int io_uring_submit(io_uring* ring) {
  static const auto real = next<int (*)(io_uring*)>("io_uring_submit");
  constexpr unsigned kBlock = 4096;
  const unsigned mask = *ring->sq.kring_mask;
  for (unsigned at = ring->sq.sqe_head; at != ring->sq.sqe_tail; ++at) {
    io_uring_sqe& request = ring->sq.sqes[at & mask];
    if (fails("ring_short")) request.len = request.len / 2 / kBlock * kBlock;
    if (fails("ring_error")) request.fd = -1;
  }
  return real(ring);
}
#endif

int fsetxattr(int descriptor, const char* name, const void* value, size_t bytes, int flags) noexcept {
  static const auto real = next<int (*)(int, const char*, const void*, size_t, int)>("fsetxattr");
  if (fails("attribute")) return error(EOPNOTSUPP);
  return real(descriptor, name, value, bytes, flags);
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*work)(void*),
                   void* argument) noexcept {
  static const auto real =
      next<int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*)>("pthread_create");
  if (settings().most_threads == 0) return real(thread, attributes, work, argument);
  if (++threads > settings().most_threads) {
    --threads;
    return EAGAIN;
  }
  return real(thread, attributes, counted, new Start{work, argument});
}

}  // extern "C"

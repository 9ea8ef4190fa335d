#include "io/buffer.hpp"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "faro/error.hpp"
#include "faro/threads.hpp"
#include "rounding.hpp"
#include "size_text.hpp"
#include "thread_team.hpp"

namespace faro::io {
namespace {

using faro::detail::round_up;

constexpr std::uint64_t kHugePageBytes = std::uint64_t{2} << 20;

void touch(std::byte* data, std::uint64_t bytes, std::uint64_t page_bytes) {
  constexpr std::uint64_t kFewPages = 64;
  const std::uint64_t pages = (bytes + page_bytes - 1) / page_bytes;
  const int threads = pages > kFewPages ? detail::thread_count() : 1;
  // By the threads that will write them: a run shares its output out in the same parts.
  detail::share_out_evenly(pages, threads, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t page = begin; page < end; ++page)
      *static_cast<volatile std::byte*>(data + page * page_bytes) = std::byte{0};
  });
}

// The first number in `file` after `key`, or `otherwise`.
std::uint64_t number_in(const char* file, const std::string& key, std::uint64_t otherwise) {
  std::ifstream stream(file);
  for (std::string word; !key.empty() && stream >> word && word != key;) {
  }
  std::uint64_t value = 0;
  return stream >> value ? value : otherwise;
}

constexpr std::uint64_t kUnknown = std::uint64_t{1} << 62;

struct GroupFiles {
  const char* limit;
  const char* used;
  const char* cache;  // in memory.stat: what is given back first
};

// What one control group's folder leaves. Pages of files that nobody has used for long count as free, as in
// MemAvailable.
std::uint64_t left_in_group(const std::string& folder, const GroupFiles& files) {
  const std::uint64_t limit = number_in((folder + files.limit).c_str(), "", kUnknown);
  if (limit >= kUnknown) return kUnknown;
  const std::uint64_t used = number_in((folder + files.used).c_str(), "", 0);
  const std::uint64_t cache = number_in((folder + "/memory.stat").c_str(), files.cache, 0);
  return limit - std::min(limit, used - std::min(used, cache));
}

// What the groups leave that this process is in, and all above them.
std::uint64_t left_in_groups() {
  constexpr GroupFiles kVersion1{"/memory.limit_in_bytes", "/memory.usage_in_bytes", "total_inactive_file"};
  constexpr GroupFiles kVersion2{"/memory.max", "/memory.current", "inactive_file"};
  std::uint64_t left = kUnknown;
  const auto limit_by = [&](const std::string& root, std::string group, const GroupFiles& files) {
    for (;; group.resize(group.rfind('/'))) {
      left = std::min(left, left_in_group(root + group, files));
      if (group.rfind('/') == std::string::npos) return;
    }
  };
  // "0::/a/b" of version 2, "4:cpu,memory:/a" of version 1. In a container the path may be the host's: the
  // root of what is mounted there is looked at in any case.
  std::ifstream groups("/proc/self/cgroup");
  limit_by("/sys/fs/cgroup", "", kVersion2);
  limit_by("/sys/fs/cgroup/memory", "", kVersion1);
  for (std::string line; std::getline(groups, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    if (controllers == ",,") limit_by("/sys/fs/cgroup", line.substr(second + 1), kVersion2);
    if (controllers.find(",memory,") != std::string::npos)
      limit_by("/sys/fs/cgroup/memory", line.substr(second + 1), kVersion1);
  }
  return left;
}

// What a limit leaves such as `ulimit -v` sets.
std::uint64_t left_of_address_space() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return kUnknown;
  const std::uint64_t taken =
      number_in("/proc/self/statm", "", 0) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return limit.rlim_cur - std::min<std::uint64_t>(limit.rlim_cur, taken);
}

}  // namespace

Buffer::Buffer(std::uint64_t bytes, PageKind pages, PageTouch touched) : bytes_(bytes) {
  const auto base_page_bytes = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  if (bytes <= (std::uint64_t{1} << 62)) {
    mapping_bytes_ = round_up(std::max<std::uint64_t>(bytes, 1), kHugePageBytes) + kHugePageBytes;
    mapping_ = mmap(nullptr, mapping_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  }
  if (mapping_ == nullptr || mapping_ == MAP_FAILED) {
    fail(ErrorCode::value, "allocate", size_text(bytes),
         "at most the " + size_text(available_memory_bytes()) + " of memory that are free");
  }
  auto* const start = static_cast<std::byte*>(mapping_);
  const auto misaligned = reinterpret_cast<std::uintptr_t>(start) % kHugePageBytes;
  data_ = start + (misaligned == 0 ? 0 : kHugePageBytes - misaligned);
  // Advice only: where it is not followed the pages are small, and everything else is the same.
  const bool use_huge = pages == PageKind::huge && bytes >= kHugePageBytes;
  madvise(data_, round_up(bytes, base_page_bytes), use_huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
  if (touched == PageTouch::at_once) touch(data_, bytes, base_page_bytes);
}

Buffer::~Buffer() { munmap(mapping_, mapping_bytes_); }

void populate(std::byte* mapping, std::uint64_t bytes, const std::function<void(std::uint64_t)>& advance) {
  constexpr std::uint64_t kPieceBytes = std::uint64_t{64} << 20;
  const bool fits = bytes <= available_memory_bytes() / 2;
  for (std::uint64_t begin = 0; begin < bytes; begin += kPieceBytes) {
    const std::uint64_t piece = std::min(kPieceBytes, bytes - begin);
    madvise(mapping + begin, piece, fits ? MADV_POPULATE_READ : MADV_WILLNEED);
    if (advance) advance(piece);
  }
}

bool fits_in_memory(std::uint64_t bytes) {
  constexpr std::uint64_t kAlwaysThere = std::uint64_t{64} << 20;
  return bytes <= kAlwaysThere || bytes <= available_memory_bytes();
}

void require_memory_for_array(const std::string& operation, std::uint64_t bytes) {
  if (fits_in_memory(bytes)) return;
  fail(ErrorCode::unsupported, operation, "an array of " + size_text(bytes),
       "one that fits in the memory that is free, " + size_text(available_memory_bytes()));
}

std::uint64_t available_memory_bytes() {
  const std::uint64_t available_kib = number_in("/proc/meminfo", "MemAvailable:", kUnknown >> 10);
  return std::min({available_kib << 10, left_in_groups(), left_of_address_space()});
}

}  // namespace faro::io

namespace faro::detail {

void require_memory(const std::string& operation, const std::string& what, std::uint64_t bytes) {
  constexpr std::uint64_t kAlwaysThere = std::uint64_t{64} << 20;
  if (bytes <= kAlwaysThere) return;
  const std::uint64_t available = io::available_memory_bytes();
  if (bytes <= available) return;
  fail(ErrorCode::value, operation, what + ", which needs " + size_text(bytes) + " of memory",
       "at most the " + size_text(available) + " that are free",
       "on a machine with more memory it would work");
}

}  // namespace faro::detail

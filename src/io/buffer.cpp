#include "io/buffer.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>

#include "faro/error.hpp"
#include "rounding.hpp"
#include "threads.hpp"

namespace faro::io {
namespace {

using faro::detail::round_up;

constexpr std::uint64_t kHugePageBytes = std::uint64_t{2} << 20;

void touch(std::byte* data, std::uint64_t bytes, std::uint64_t page_bytes) {
  const auto pages = static_cast<std::int64_t>((bytes + page_bytes - 1) / page_bytes);
#pragma omp parallel for schedule(static) num_threads(detail::thread_count()) if (pages > 64)
  for (std::int64_t page = 0; page < pages; ++page) {
    *static_cast<volatile std::byte*>(data + static_cast<std::uint64_t>(page) * page_bytes) = std::byte{0};
  }
}

// The first number in `file` after `key`, or `otherwise`.
std::uint64_t number_in(const char* file, const std::string& key, std::uint64_t otherwise) {
  std::ifstream stream(file);
  for (std::string word; !key.empty() && stream >> word && word != key;) {
  }
  std::uint64_t value = 0;
  return stream >> value ? value : otherwise;
}

}  // namespace

Buffer::Buffer(std::uint64_t bytes, PageKind pages) : bytes_(bytes) {
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
  touch(data_, bytes, base_page_bytes);
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

std::string size_text(std::uint64_t bytes) {
  constexpr std::array<const char*, 6> kUnits{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
  auto value = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  // What would be rounded to 1024 is one of the next unit.
  for (; value >= 1023.5 && unit + 1 < kUnits.size(); ++unit) value /= 1024;
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), value >= 99.95 ? "%.0f %s" : "%.3g %s", value, kUnits.at(unit));
  return text.data();
}

void require_memory_for_array(const std::string& operation, std::uint64_t bytes) {
  constexpr std::uint64_t kAlwaysThere = std::uint64_t{64} << 20;
  if (bytes <= kAlwaysThere) return;
  const std::uint64_t available = available_memory_bytes();
  if (bytes <= available) return;
  fail(ErrorCode::unsupported, operation, "an array of " + size_text(bytes),
       "one that fits in the memory that is free, " + size_text(available),
       "arrays larger than the memory are not supported yet");
}

std::uint64_t available_memory_bytes() {
  constexpr std::uint64_t kUnknown = std::uint64_t{1} << 62;
  const std::uint64_t available_kib = number_in("/proc/meminfo", "MemAvailable:", kUnknown >> 10);
  const std::uint64_t limit = number_in("/sys/fs/cgroup/memory.max", "", kUnknown);
  const std::uint64_t used = limit == kUnknown ? 0 : number_in("/sys/fs/cgroup/memory.current", "", 0);
  return std::min(available_kib << 10, limit - std::min(used, limit));
}

}  // namespace faro::io

namespace faro::detail {

void require_memory(const std::string& operation, const std::string& what, std::uint64_t bytes) {
  constexpr std::uint64_t kAlwaysThere = std::uint64_t{64} << 20;
  if (bytes <= kAlwaysThere) return;
  const std::uint64_t available = io::available_memory_bytes();
  if (bytes <= available) return;
  fail(ErrorCode::value, operation, what + ", which needs " + io::size_text(bytes) + " of memory",
       "at most the " + io::size_text(available) + " that are free",
       "on a machine with more memory it would work");
}

}  // namespace faro::detail

// Large arrays of bytes on the pages that permuting wants.
//
// A permutation touches many places of an array at once, and with 4 KiB pages each of them costs a walk of
// the page table: the same plan runs up to twice as fast on 2 MiB pages. An ordinary allocation gets those
// only by luck.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

namespace faro::io {

enum class PageKind {
  huge,  // 2 MiB where the system gives them (transparent huge pages), else small
  base,  // the system's base pages, even where it would give huge ones
};

enum class PageTouch {
  at_once,  // every page, by all threads, so that the first sweep measures the sweep
  as_used,  // by whoever comes first: what waits for a disk has pages cleared meanwhile
};

/// Anonymous memory, aligned to 2 MiB, returned when destroyed.
class Buffer {
 public:
  /// The bytes are zero. Errors: ErrorCode::value where the system refuses so much memory.
  explicit Buffer(std::uint64_t bytes, PageKind pages = PageKind::huge,
                  PageTouch touched = PageTouch::at_once);
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  std::byte* data() const { return data_; }
  std::uint64_t size() const { return bytes_; }
  std::span<std::byte> span() const { return {data_, static_cast<std::size_t>(bytes_)}; }

 private:
  std::byte* data_ = nullptr;
  std::uint64_t bytes_ = 0;
  void* mapping_ = nullptr;
  std::uint64_t mapping_bytes_ = 0;
};

/// Has the system read a mapped file where it fits in memory, piece by piece, `advance` told of each. Advice:
/// a failure leaves the pages to be read when they are touched.
void populate(std::byte* mapping, std::uint64_t bytes, const std::function<void(std::uint64_t)>& advance);

/// Whether memory can hold an array; few bytes always.
bool fits_in_memory(std::uint64_t bytes);

/// Refuses an array that memory cannot hold, before it is touched. Errors: ErrorCode::unsupported, naming
/// what it needs and what there is.
void require_memory_for_array(const std::string& operation, std::uint64_t bytes);

/// Bytes that can be taken without swapping: the kernel's estimate, within the control group's limit. A guess
/// where neither is known.
std::uint64_t available_memory_bytes();

}  // namespace faro::io

// Whether an array fits this machine's memory, asked before it is allocated.

namespace faro::detail {

/// Errors: ErrorCode::value naming `operation`, what `bytes` are for and how many are free, where they are
/// more than that.   Cost: nothing below 64 MiB.
void require_memory(const std::string& operation, const std::string& what, std::uint64_t bytes);

}  // namespace faro::detail

// What is refused of rows' arrays before anything is queued, what their kernels' faults are reported as, and
// their workspace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "engines/cuda/host/array_addresses.hpp"
#include "engines/cuda/rows/device_faults.hpp"
#include "engines/cuda/runtime/device_arrays.hpp"
#include "faro/error.hpp"
#include "faro/stream.hpp"

namespace faro::cuda {

/// Errors: ErrorCode::value for entries that the device cannot read, or that are misaligned.
inline void require_device_entries(const RowNumbers& numbers, const char* operation, const char* what,
                                   int device) {
  if (numbers.count == 0) return;
  require_accessible(numbers.data, what, device);
  require_aligned(address(numbers.data), static_cast<std::uint64_t>(numbers.type.bytes),
                  {.operation = operation, .what = what});
}

/// A workspace that was lent, or one of the stream's pool.
class RowWorkspace {
 public:
  RowWorkspace(void* lent, std::uint64_t bytes, int device, Stream stream)
      : lent_(lent), own_(lent == nullptr ? bytes : 0, device, stream) {
    if (lent != nullptr && bytes > 0) require_accessible(lent, "workspace", device);
  }
  std::byte* data() const { return static_cast<std::byte*>(lent_ == nullptr ? own_.data() : lent_); }

 private:
  void* lent_;
  StreamMemory own_;
};

/// Refuses faults that were found. Errors: ErrorCode::value where an entry was out of range.
inline void require_in_range(const char* operation, const char* what, const kernels::RowFaults& found,
                             std::uint64_t rows) {
  if (found.out_of_range == kernels::kNoFault) return;
  fail(ErrorCode::value, operation, std::string(what) + ", at position " + std::to_string(found.out_of_range),
       rows == 0 ? "no entry: there are no rows" : "numbers from 0 to " + std::to_string(rows - 1),
       "it was left out");
}

/// Likewise where a row was named twice.
inline void require_distinct(const char* operation, const kernels::RowFaults& found) {
  if (found.twice == kernels::kNoFault) return;
  fail(ErrorCode::value, operation,
       "a row that is named twice, once at position " + std::to_string(found.twice), "each row at most once",
       "add takes rows that repeat");
}

}  // namespace faro::cuda

// How blocks of threads share rows, a vector a thread: a block has a part of one row, or a few whole ones.
//
//     4 threads     rows of 6 vectors    block   0 0 0 0 1 1   2 2 2 2 3 3
//                   rows of 2 vectors    block   0 0 | 0 0   1 1 | 1 1
//
// So what a row needs beside its vectors is looked up once a block, into shared memory.
#pragma once

#include <cstdint>

#include "faro/device/division.hpp"

namespace faro::kernels {

template <std::uint32_t kThreads>
class RowParts {
 public:
  constexpr RowParts() : RowParts(1) {}
  /// Requires: vectors > 0 (unchecked).
  explicit constexpr RowParts(std::uint64_t vectors)
      : vectors_(vectors),
        parts_((vectors + kThreads - 1) / kThreads),
        width_(vectors < kThreads ? static_cast<std::uint32_t>(vectors) : kThreads) {}

  constexpr std::uint64_t vectors() const { return vectors_; }  // of a row
  constexpr std::uint32_t rows_of_block() const { return kThreads / width_.divisor(); }
  constexpr std::uint64_t blocks(std::uint64_t rows) const {
    return parts_.divisor() * ((rows + rows_of_block() - 1) / rows_of_block());
  }

  struct Place {
    std::uint64_t first_row = 0;  // of the block
    std::uint32_t row = 0;        // of the thread, counted from that
    std::uint64_t vector = 0;     // of the row
    bool there = false;
  };
  constexpr Place place(std::uint64_t block, std::uint32_t thread, std::uint64_t rows) const {
    Place made;
    std::uint64_t part = block;
    made.first_row = parts_.divide(part) * rows_of_block();
    std::uint32_t vector = thread;
    made.row = width_.divide(vector);
    made.vector = part * kThreads + vector;
    made.there = made.row < rows_of_block() && made.first_row + made.row < rows && made.vector < vectors_;
    return made;
  }

 private:
  std::uint64_t vectors_;
  device::Division64 parts_;
  device::Division32 width_;
};

}  // namespace faro::kernels

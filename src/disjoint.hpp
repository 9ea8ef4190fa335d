// Arrays in memory, and whether two of them have a byte in common: the one check of every output.
//
//     columns of one table, 4 rows of 6 elements of 8 bytes
//
//         m[:, 0::2]   a . b . c .        strides 48, 16 bytes
//         m[:, 1::2]   . d . e . f        they reach into one another, and share no byte
//         m[:, 2:5]    . . x x x .        shares bytes with both
//
// An array has bytes at address + i_0 stride_0 + i_1 stride_1 + … + u for all indices i below its extents and
// all u below the width of an element. Two arrays share a byte where an equation in whole numbers within
// bounds has a solution. In general that is hard to find out; strides of arrays, of which each is longer than
// all that the smaller ones reach, leave two values of an index or less to be tried at every axis.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>

namespace faro::detail {

/// An array as it lies in memory. Without axes it is one element: any dense array is, of all its bytes.
struct LaidArray {
  const void* address = nullptr;  // of index 0: negative strides reach before it
  std::uint64_t element_bytes = 0;
  std::span<const std::uint64_t> extents = {};
  std::span<const std::int64_t> stride_bytes = {};  // as many
};

inline LaidArray laid(std::span<const std::byte> dense) { return {dense.data(), dense.size()}; }

/// Whether two arrays have a byte in common. Exact, but for strides that would take more than some ten
/// thousand steps: these count as sharing one where their ranges do. Cost: as many steps as axes for usual
/// strides.
bool share_bytes(const LaidArray& a, const LaidArray& b);

/// Whether two elements of an array have a byte in common. Exact in the same bounds.
bool shares_own_bytes(const LaidArray& array);

/// An array of a run, as an error calls it.
struct RunArray {
  const char* name = "";
  LaidArray laid;
};

/// Errors: ErrorCode::value where an output has a byte in common with an input or another output, or two of
/// its own elements have one. Inputs may share bytes. Cost: near the number of arrays, times its logarithm,
/// if few ranges meet.
void check_disjoint(const char* operation, std::span<const RunArray> outputs,
                    std::span<const RunArray> inputs, const char* remedy = "");

/// The same of one output; allocates nothing where no range meets its own.
void check_disjoint(const char* operation, const RunArray& output, std::initializer_list<RunArray> inputs,
                    const char* remedy = "");

}  // namespace faro::detail

// Arrays that are one run of bytes in a file: an offset, and a stride for each axis.
//
//     file     header | a b c d | e f g h | …          C order; Fortran order and gaps between slices are strides too
//     region           b c       f g                   read and written in rows: runs that lie together
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include "store/box.hpp"
#include "store/element_type.hpp"
#include "store/sides.hpp"

namespace faro::store {

struct RunForm {
  Shape shape;
  Strides strides;  // in elements, none below 0
  ElementType type;
  ByteOrder byte_order = ByteOrder::little;
  std::uint64_t offset = 0;  // bytes, of the first element
};

/// A run in C order.
RunForm dense_run(Shape shape, ElementType type, std::uint64_t offset,
                  ByteOrder byte_order = ByteOrder::little);
/// A run whose first axis is the fastest.
RunForm fortran_run(Shape shape, ElementType type, std::uint64_t offset,
                    ByteOrder byte_order = ByteOrder::little);

/// Bytes from the file's begin to the array's end.
std::uint64_t end_of(const RunForm& run);

/// Errors: ErrorCode::file for a file that cannot be read, is none, or ends before the array.
std::unique_ptr<Source> run_source(const std::filesystem::path& path, RunForm form);
/// Into a descriptor that stays open.
std::unique_ptr<Sink> run_sink(int descriptor, std::filesystem::path label, RunForm form);

}  // namespace faro::store

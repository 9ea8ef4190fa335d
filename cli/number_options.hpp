// What a verb does to a file's numbers while it moves them, from --dtype, --scale and the like:
//
//     faro permute 'n h w c -> n c h w' images.npy planes.npy --dtype float32 --scale 1/255
//
// Types are NumPy's words: f4, >f4, float32; and bfloat16, float8_e4m3fn, … of ml_dtypes. In a .npy file the
// latter are items of 2 bytes and of 1, '<V2' and '<V1', as ml_dtypes writes them, which numpy.load() reads
// as bytes: `.view(ml_dtypes.bfloat16)` makes numbers of them. (Of float8_e5m2 ml_dtypes writes '<f1', which
// numpy.load() refuses: it is read, and written as '<V1'.)
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "faro/file.hpp"
#include "io/npy.hpp"

namespace faro::cli {

/// What is done to numbers, and to which file.
struct NumberChange {
  Arithmetic arithmetic;
  std::string descr;  // of the result
  std::string along;  // the axis of the result that scale and offset have values along; empty: none
  std::string added;  // the file that is added; empty: none

  /// The change of a result of this shape. Errors: ErrorCode::value for an axis that it does not have, for a
  /// list of another length, and for an added file of another shape or order; ErrorCode::file.
  file::Numbers of_result(const std::string& operation, const std::vector<std::uint64_t>& shape,
                          io::MemoryOrder order) const;
};

struct NumberOptions {
  std::string dtype;
  std::string dtype_in;
  std::string op;
  std::string scale;
  std::string offset;
  std::string along;
  std::string add;
  std::string beta;
  std::string rounding;
  bool saturate = false;

  void add_to(CLI::App& command);
  /// The same of a verb that has no files: --add names a type.
  void add_types_to(CLI::App& command);
  /// The first of these options that was given; empty where none was.
  std::string first() const;
  /// Likewise of the others than --dtype.
  std::string first_beside_dtype() const;

  /// The change of a file with this header; nothing where that leaves every number as it is. Errors:
  /// ErrorCode::value for types, numbers and names that there are not, for options that need another one, and
  /// for a dtype that holds no numbers.
  std::optional<NumberChange> change(const std::string& operation, const io::NpyHeader& header) const;
  /// The change of a file that is none yet: of items of dtype_in, with a result of the shape that is asked
  /// for where it matters. Errors: as change() and of_result(). Requires: dtype_in.
  /// The change of arrays of dtype_in where there are no files, with a result of this shape; nothing where no
  /// option was given. Errors: those of change(); ErrorCode::value without dtype_in.
  std::optional<Arithmetic> of_types(const std::string& operation,
                                     const std::vector<std::uint64_t>& shape) const;
  file::Numbers example(const std::function<std::vector<std::uint64_t>()>& result_shape) const;

 private:
  void add_common(CLI::App& command);
};

}  // namespace faro::cli

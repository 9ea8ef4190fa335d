// Which kernel a box with arithmetic needs (kernels/value_box.hpp): one is compiled for each combination that
// is asked for, the popular ones with the library, others by NVRTC from the same source.
#pragma once

#include <optional>
#include <string>

#include "faro/arithmetic.hpp"
#include "faro/block_scales.hpp"
#include "faro/engines/nvrtc.hpp"
#include "kernels/number_program.hpp"
#include "kernels/value_arrays.hpp"
#include "plan/gpu/gpu_kernel.hpp"
#include "plan/gpu/value_boxes.hpp"
#include "plan/gpu/value_rows.hpp"
#include "plan/gpu/value_tiles.hpp"

namespace faro::cuda {

struct ValueKernel {
  Number from = Number::f32;
  Number to = Number::f32;
  Number computed = Number::f32;
  std::optional<Number> addend = {};
  Function function = Function::identity;
  unsigned flags = 0;  // kernels::ProgramStep
  bool direct = false;
  int columns = 0;
  kernels::Interleaved interleaved = kernels::Interleaved::input;
  int in = 1;  // numbers of a vector
  int out = 1;
  kernels::ValueOrder loads = kernels::ValueOrder::by_table;
  kernels::ValueOrder stores = kernels::ValueOrder::by_table;
  bool rounds_first = false;
  bool copied = false;
  bool aligned = false;
  bool turned = false;
  kernels::ValueFactorsOf factors = kernels::ValueFactorsOf::all;

  friend bool operator==(const ValueKernel&, const ValueKernel&) = default;
};

ValueKernel value_kernel_of(const Arithmetic& arithmetic, const faro::detail::ValueBoxes& boxes);

/// As a type: "faro::kernels::MoveValues<…>".
std::string type_text(const ValueKernel& kernel);

inline constexpr const char* kValueKernelName = "faro_values";

/// A translation unit with a kernel of that type, extern "C" by kValueKernelName.
RuntimeSource kernel_source(const std::string& type);

/// Of a group: the kernel of kernels/group_values.hpp.
std::string group_type_text(const ValueKernel& kernel);

/// A kernel that the library has, for cudaLaunchKernel; null where it has none. Its one parameter is
/// kernels::ValueArrays.
const void* compiled_value_kernel(const ValueKernel& kernel);

/// The same of boxes whose numbers have scales in blocks (kernels/quantize_box.hpp), of which the library has
/// none.
struct BlockKernel {
  Number wide = Number::f32;
  BlockFormat format = BlockFormat::mxfp8_e4m3;
  bool back = false;  // to wide numbers
  int in = 1;         // numbers of a vector
  int out = 1;
  kernels::ValueOrder loads = kernels::ValueOrder::by_table;
  kernels::ValueOrder stores = kernels::ValueOrder::by_table;

  friend bool operator==(const BlockKernel&, const BlockKernel&) = default;
};

std::string type_text(const BlockKernel& kernel);

/// Of tiles in registers (kernels/quantize_tile.hpp).
struct BlockTileKernel {
  Number wide = Number::f32;
  BlockFormat format = BlockFormat::mxfp8_e4m3;
  bool back = false;
  int part = 1;
  int vector = 1;
  bool wide_along = false;
  bool data_along = false;

  friend bool operator==(const BlockTileKernel&, const BlockTileKernel&) = default;
};

std::string type_text(const BlockTileKernel& kernel);

/// As compiled_value_kernel(); its one parameter is kernels::ScaledArrays.
const void* compiled_block_kernel(const BlockTileKernel& kernel);

/// Of rows (kernels/row_values.hpp).
struct RowValueKernel {
  std::string program;  // kernels::program_text()
  bool takes = true;
  int numbers = 1;  // of a vector
  bool along_axes = false;
  std::uint64_t arrays = 0;  // of rows of one vector that a thread moves at once; 0: rows of any length

  friend bool operator==(const RowValueKernel&, const RowValueKernel&) = default;
};

RowValueKernel row_value_kernel_of(const faro::detail::RowValues& of, const faro::detail::ValueRows& rows);

std::string type_text(const RowValueKernel& kernel);

/// As compiled_value_kernel(); its one parameter is that of engines/cuda/rows/value_row_arguments.hpp.
const void* compiled_row_kernel(const RowValueKernel& kernel);

/// Of tiles of an affine map (kernels/value_tile.hpp): the type of a kernel whose one parameter is
/// kernels::ValueTileArrays. There are none with the library.
std::string tile_type_text(const Arithmetic& arithmetic, const faro::detail::ValueTiles& tiles);

/// Of a pass of an index array whose numbers change as it reads, or as it writes them
/// (kernels/index_steps.hpp): the type of a kernel whose one parameter is kernels::ChangedArrays. Nothing for
/// a kernel that is no step. There are none with the library.
std::optional<std::string> step_type_text(const Arithmetic& arithmetic, bool rounds_first,
                                          const faro::detail::GpuKernel& kernel);

/// Of a map's kernel, such as "MoveModularTiles<4, std::uint32_t>", that changes numbers so
/// (kernels/converting_memory.hpp): its one parameter is kernels::ChangedMapArrays.
std::string map_type_text(const Arithmetic& arithmetic, bool rounds_first, const std::string& map);

}  // namespace faro::cuda

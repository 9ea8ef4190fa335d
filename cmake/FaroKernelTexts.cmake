# #include "kernel_texts.hpp" gives faro::cuda::kernel_texts(): headers of kernels as text, by the names that they are
# included by, for what is compiled while the library runs (engines/cuda/value_program.hpp).
set(faro_kernel_headers
  src:kernels/value_box.hpp src:kernels/quantize_box.hpp src:kernels/quantize_tile.hpp src:kernels/block_scales.hpp src:kernels/value_registers.hpp src:kernels/value_tile.hpp src:kernels/converting_memory.hpp src:kernels/index_steps.hpp src:kernels/sum_rows.hpp src:kernels/row_numbers.hpp src:kernels/modular_tile.hpp src:kernels/block_array.hpp src:kernels/computed_tile.hpp src:kernels/computed_parts.hpp src:permutation/healpix_pixels.hpp src:permutation/hilbert_cells.hpp src:kernels/indexed_direct.hpp src:kernels/partition.hpp src:kernels/partition_in_global.hpp src:kernels/partition_params.hpp src:kernels/partition_runs.hpp src:kernels/row_column.hpp src:kernels/runs.hpp src:kernels/window.hpp src:kernels/moved_vector.hpp src:kernels/value_turned.hpp src:kernels/affine_tile.hpp include:faro/kernels/affine_tile_index.hpp src:kernels/value_arrays.hpp src:kernels/value_factors.hpp src:kernels/row_values.hpp src:kernels/row_vectors.hpp src:kernels/row_walk.hpp src:kernels/row_elements.hpp src:kernels/row_entries.hpp src:kernels/group_values.hpp src:kernels/group_table.hpp src:kernels/number_program.hpp src:kernels/number_lanes.hpp src:kernels/value_functions.hpp src:kernels/values.hpp
  src:kernels/small_floats.hpp include:faro/device/division.hpp include:faro/device/memory.hpp include:faro/require_cxx20.hpp)
set(texts "")
foreach(header IN LISTS faro_kernel_headers)
  string(REPLACE ":" ";" parts ${header})
  list(GET parts 0 folder)
  list(GET parts 1 name)
  set(path ${PROJECT_SOURCE_DIR}/${folder}/${name})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${path})
  file(READ ${path} text)
  string(APPEND texts "    {\"${name}\", R\"faro_text(${text})faro_text\"},\n")
endforeach()
list(LENGTH faro_kernel_headers count)
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/kernel_texts.hpp @ONLY CONTENT [=[
#pragma once
#include <array>
#include <utility>
namespace faro::cuda {
inline const std::array<std::pair<const char*, const char*>, @count@>& kernel_texts() {
  static const std::array<std::pair<const char*, const char*>, @count@> kTexts{{
@texts@  }};
  return kTexts;
}
}  // namespace faro::cuda
]=])

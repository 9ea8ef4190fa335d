// A tile between memory and its buffer: read by rows of whole segments, written by rows of the pass's map.
//
//     read    buffer[column | row << s]    = array[block_source(b) ^ source_row(row) | column]
//     write   array[block_target(b) ^ ...] = buffer[place],     place' = local * place
//
// Where the map is the identity the rows go back as they came.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "faro/network/plan.hpp"

namespace faro::network::cpu {

class TileRows {
 public:
  TileRows(const Pass& pass, std::uint64_t element_bytes);

  void read(f2::Word block, const std::byte* array, std::byte* buffer) const;
  /// `streamed`: past the caches, where lines are whole (cpu::finish_streams afterwards).
  void write(f2::Word block, const std::byte* buffer, std::byte* array, bool streamed) const;

 private:
  void copy_row(const std::byte* from, std::byte* to, bool streamed) const;
  template <typename Element>
  void gather_row(f2::Word row, f2::Word flip, const std::byte* buffer, std::byte* to) const;

  std::uint64_t element_bytes_;
  std::uint64_t row_bytes_;
  f2::Word column_mask_;
  bool straight_;                             // rows go back as they came
  std::vector<f2::Word> block_sources_;       // elements
  std::vector<f2::Word> block_targets_;       // elements
  f2::Word complement_;                       // elements
  std::vector<std::uint64_t> source_rows_;    // bytes, by row
  std::vector<std::uint64_t> target_rows_;    // bytes, by row
  std::vector<std::uint32_t> row_places_;     // where a target row's elements are in the buffer:
  std::vector<std::uint32_t> column_places_;  // row_places_[row] ^ column_places_[column ^ flip]
};

}  // namespace faro::network::cpu

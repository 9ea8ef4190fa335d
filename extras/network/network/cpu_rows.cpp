#include "network/cpu_rows.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "engines/cpu/copy_kernel.hpp"
#include "faro/error.hpp"

namespace faro::network::cpu {
namespace {

// Every combination of `directions`, times `scale`.
template <typename Value>
std::vector<Value> all_combinations(const std::vector<f2::Word>& directions, std::uint64_t scale) {
  std::vector<Value> values(std::size_t{1} << directions.size());
  for (std::size_t i = 1; i < values.size(); ++i) {
    const auto bit = static_cast<std::size_t>(f2::trailing_bit(i));
    values[i] = values[i & (i - 1)] ^ static_cast<Value>(directions[bit] * scale);
  }
  return values;
}

}  // namespace

TileRows::TileRows(const Pass& pass, std::uint64_t element_bytes)
    : element_bytes_(element_bytes),
      row_bytes_(element_bytes << pass.tile.segment_bits),
      column_mask_(f2::low_mask(pass.tile.segment_bits)),
      straight_(pass.map.is_identity()),
      block_sources_(pass.tile.block_sources),
      block_targets_(pass.tile.block_targets),
      complement_(pass.tile.complement),
      source_rows_(all_combinations<std::uint64_t>(pass.tile.source_rows, element_bytes)) {
  if (straight_) return;
  FARO_CHECK(pass.tile.tile_bits() <= 32);
  target_rows_ = all_combinations<std::uint64_t>(pass.tile.target_rows, element_bytes);
  const auto inverse = pass.tile.local.inverse();
  FARO_CHECK(inverse.has_value());
  const auto columns = inverse->column_span();
  const auto first_row = columns.begin() + pass.tile.segment_bits;
  column_places_ = all_combinations<std::uint32_t>({columns.begin(), first_row}, 1);
  row_places_ = all_combinations<std::uint32_t>({first_row, columns.end()}, 1);
}

void TileRows::copy_row(const std::byte* from, std::byte* to, bool streamed) const {
  if (streamed) {
    faro::cpu::copy_streamed(from, to, row_bytes_);
  } else {
    std::memcpy(to, from, row_bytes_);
  }
}

void TileRows::read(f2::Word block, const std::byte* array, std::byte* buffer) const {
  constexpr std::uint64_t kLineBytes = 64;
  constexpr std::size_t kRowsAhead = 8;
  const std::uint64_t start = f2::combine(block_sources_.data(), block) * element_bytes_;
  const std::size_t rows = source_rows_.size();
  for (std::size_t row = 0; row < rows; ++row) {
    // Rows are far apart: no prefetcher guesses the next one.
    const std::byte* const ahead = array + (start ^ source_rows_[std::min(row + kRowsAhead, rows - 1)]);
    for (std::uint64_t at = 0; at < row_bytes_; at += kLineBytes) __builtin_prefetch(ahead + at, 0, 2);
    std::memcpy(buffer + row * row_bytes_, array + (start ^ source_rows_[row]), row_bytes_);
  }
}

template <typename Element>
void TileRows::gather_row(f2::Word row, f2::Word flip, const std::byte* buffer, std::byte* to) const {
  const std::uint32_t place = row_places_[row];
  for (f2::Word column = 0; column <= column_mask_; ++column) {
    const std::size_t from = place ^ column_places_[column ^ flip];
    std::memcpy(to + column * sizeof(Element), buffer + from * sizeof(Element), sizeof(Element));
  }
}

void TileRows::write(f2::Word block, const std::byte* buffer, std::byte* array, bool streamed) const {
  if (straight_) {
    const std::uint64_t start = f2::combine(block_sources_.data(), block) * element_bytes_;
    for (const std::uint64_t row : source_rows_) {
      copy_row(buffer, array + (start ^ row), streamed);
      buffer += row_bytes_;
    }
    return;
  }
  const f2::Word target = complement_ ^ f2::combine(block_targets_.data(), block);
  const f2::Word flip = target & column_mask_;
  const std::uint64_t start = (target ^ flip) * element_bytes_;
  // The row is put together here and then copied whole.
  constexpr std::uint64_t kStageBytes = 4096;
  alignas(64) std::byte stage[kStageBytes];
  const bool staged = streamed && row_bytes_ <= kStageBytes;
  for (f2::Word row = 0; row < target_rows_.size(); ++row) {
    std::byte* const place = array + (start ^ target_rows_[row]);
    std::byte* const to = staged ? stage : place;
    switch (element_bytes_) {
      case 4:
        gather_row<std::array<std::byte, 4>>(row, flip, buffer, to);
        break;
      case 8:
        gather_row<std::array<std::byte, 8>>(row, flip, buffer, to);
        break;
      case 16:
        gather_row<std::array<std::byte, 16>>(row, flip, buffer, to);
        break;
      default:
        gather_row<std::array<std::byte, 32>>(row, flip, buffer, to);
        break;
    }
    if (staged) copy_row(stage, place, true);
  }
}

}  // namespace faro::network::cpu

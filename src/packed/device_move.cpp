#include "packed/device_move.hpp"

#include <string>
#include <utility>

#include "faro/error.hpp"
#include "packed/affine_words.hpp"
#include "packed/bit_axes.hpp"
#include "packed/bit_runs.hpp"

namespace faro::packed {
namespace {

bool is_of_whole_bytes(const PackedLayout& layout) {
  return layout.row_elements == 0 && layout.first_bit % kBitsOfByte == 0;
}

bool is_width_of_words(std::uint32_t bits) { return bits == 1 || bits == 2 || bits == 4; }

kernels::PackedRows rows_of(const PackedProblem& problem) {
  const PackedLayout& layout = problem.out;
  const std::uint64_t elements = element_count(problem.permutation) * problem.batch;
  if (layout.row_elements == 0) {
    constexpr std::uint64_t kAll = std::uint64_t{1} << 60;  // there is one row
    return {.first = layout.first_bit, .pitch = kAll, .row_bits = elements * problem.element_bits, .rows = 1};
  }
  return {.first = layout.first_bit,
          .pitch = layout.pitch_bits,
          .row_bits = layout.row_elements * problem.element_bits,
          .rows = elements / layout.row_elements,
          .more = elements % layout.row_elements * problem.element_bits};
}

}  // namespace

bool is_affine_array(const PackedProblem& problem) {
  const auto* map = std::get_if<Affine>(&problem.permutation);
  return map != nullptr && is_width_of_words(problem.element_bits) && is_of_whole_bytes(problem.in) &&
         is_of_whole_bytes(problem.out) && map->bits() >= bits_below_byte(problem.element_bits);
}

cuda::PackedMove device_move(const PackedProblem& problem) {
  constexpr const char* kOperation = "plan packed elements with engine cuda";
  if (problem.element_bits > kernels::kWordBits) {
    fail(ErrorCode::unsupported, kOperation, "elements of " + std::to_string(problem.element_bits) + " bits",
         "at most 32 bits", "engine cpu takes others");
  }
  cuda::PackedMove move;
  move.work.element_bits = problem.element_bits;
  move.work.in_high_first = problem.in.order == BitOrder::high_first;
  move.work.out_high_first = problem.out.order == BitOrder::high_first;
  move.batch = problem.batch;
  if (problem.pads == PadBits::zero) move.cleared = rows_of(problem);
  if (is_affine_array(problem)) {
    move.places = map_of_places(std::get<Affine>(problem.permutation), problem.element_bits, problem.in.order,
                                problem.out.order);
    move.tiles = kernels::make_packed_tiles(problem.element_bits, *move.places, problem.batch);
    move.in_skipped = problem.in.first_bit / kBitsOfByte;
    move.out_skipped = problem.out.first_bit / kBitsOfByte;
    return move;
  }
  auto axes = bit_axes(problem);
  if (!axes) {
    const auto* map = std::get_if<Affine>(&problem.permutation);
    if (map == nullptr) {
      fail(ErrorCode::unsupported, kOperation, to_text(problem.permutation),
           "axes that stay in rows, or an affine map", "engine cpu takes it");
    }
    move.map = *map;
    move.rows = {.in_first = problem.in.first_bit,
                 .in_row = problem.in.row_elements,
                 .in_pitch = problem.in.pitch_bits,
                 .out_first = problem.out.first_bit,
                 .out_row = problem.out.row_elements,
                 .out_pitch = problem.out.pitch_bits};
    return move;
  }
  move.parts = std::move(axes->parts);
  move.tiles = kernels::make_packed_tiles(problem.element_bits, move.parts);
  return move;
}

}  // namespace faro::packed

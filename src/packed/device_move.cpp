#include "packed/device_move.hpp"

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "faro/threads.hpp"
#include "oracle.hpp"
#include "packed/affine_words.hpp"
#include "packed/bit_axes.hpp"
#include "packed/bit_runs.hpp"
#include "thread_team.hpp"

namespace faro::packed {
namespace {

bool is_of_whole_bytes(const PackedLayout& layout) {
  return layout.row_elements == 0 && layout.first_bit % kBitsOfByte == 0;
}

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

// An index array of a permutation that no kernel of bits has a form for. On a device it stays as it is.
Indexed gathered(const Permutation& permutation) {
  if (const auto* indices = std::get_if<Indexed>(&permutation))
    return indices->on_host() ? indices->redirected(Direction::gather) : *indices;
  const Permutation back = inverse(permutation);
  const std::uint64_t count = element_count(permutation);
  std::vector<std::uint64_t> places(count);
  faro::detail::share_out_evenly(count, faro::detail::thread_count(0),
                                 [&](std::uint64_t begin, std::uint64_t end) {
                                   destinations(back, begin, std::span(places).subspan(begin, end - begin));
                                 });
  if (count > std::uint64_t{1} << 32) return {std::move(places), Direction::gather};
  return {std::vector<std::uint32_t>(places.begin(), places.end()), Direction::gather};
}

}  // namespace

bool is_affine_array(const PackedProblem& problem) {
  const auto* map = std::get_if<Affine>(&problem.permutation);
  return map != nullptr && packs_bytes(problem.element_bits) && is_of_whole_bytes(problem.in) &&
         is_of_whole_bytes(problem.out) && map->bits() >= bits_below_byte(problem.element_bits);
}

cuda::PackedMove pads_of(const PackedProblem& problem) {
  cuda::PackedMove move;
  move.work.element_bits = problem.element_bits;
  move.work.in_high_first = problem.in.order == BitOrder::high_first;
  move.work.out_high_first = problem.out.order == BitOrder::high_first;
  move.batch = problem.batch;
  if (problem.pads == PadBits::zero) move.cleared = rows_of(problem);
  return move;
}

cuda::PackedMove device_move(const PackedProblem& problem) {
  cuda::PackedMove move = pads_of(problem);
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
    if (map != nullptr) {
      move.map = *map;
    } else {
      move.indices = gathered(problem.permutation);
    }
    move.rows = {.in_first = problem.in.first_bit,
                 .in_row = problem.in.row_elements,
                 .in_pitch = problem.in.pitch_bits,
                 .out_first = problem.out.first_bit,
                 .out_row = problem.out.row_elements,
                 .out_pitch = problem.out.pitch_bits};
    return move;
  }
  move.parts = std::move(axes->parts);
  move.tiles = kernels::make_packed_tiles(move.work, move.parts);
  return move;
}

}  // namespace faro::packed

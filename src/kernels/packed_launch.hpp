// Permutations of packed elements as launches of kernels: `queue.run(kernel)` of any queue.
//
//     affine maps            tiles of words (packed_affine.hpp); small or unaligned arrays by words
//     the same in place      tiles that change places (packed_in_place.hpp)
//     index arrays           by words
//     axes                   tiles, where powers of two are in their extents (packed_strided.hpp); matrices
//                            (packed_matrix.hpp), long runs
//                            (packed_runs.hpp); boxes (packed_box.hpp); few elements by words
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "faro/error.hpp"
#include "faro/permutation/affine.hpp"
#include "kernels/packed_affine_params.hpp"
#include "kernels/packed_box.hpp"
#include "kernels/packed_in_place.hpp"
#include "kernels/packed_matrix.hpp"
#include "kernels/packed_runs.hpp"
#include "kernels/packed_strided.hpp"
#include "kernels/packed_words.hpp"
#include "permutation/axis_map.hpp"
#include "rounding.hpp"

namespace faro::kernels {

/// Two arrays of bits at any addresses.
struct PackedWork {
  std::uint32_t element_bits = 1;  // of other than 1, 2 and 4 both orders are the same
  const std::byte* in = nullptr;
  std::uint64_t in_bytes = 0;
  bool in_high_first = false;
  std::byte* out = nullptr;
  std::uint64_t out_bytes = 0;
  bool out_high_first = false;
};

/// Rows of elements on both sides, and how many bits from one to the next; 0: all elements are one row.
struct PackedRowsOfBoth {
  std::uint64_t in_first = 0;  // bits
  std::uint64_t in_row = 0;
  std::uint64_t in_pitch = 0;
  std::uint64_t out_first = 0;
  std::uint64_t out_row = 0;
  std::uint64_t out_pitch = 0;
};

/// What tiles want to know of a permutation, made once: of affine maps, or of each part of axes; nothing
/// where a shape of kPackedTiles does not fit, or is of another width.
using StridedTiles = std::array<std::optional<PackedStridedParams>, kPackedTileCount>;
struct PackedPartTiles {
  StridedTiles strided = {};
  std::optional<PackedBox> box = {};
};
struct PackedTiles {
  std::array<std::optional<PackedAffineParams>, kPackedTileCount> affine = {};
  std::vector<PackedPartTiles> parts = {};
};

/// Cost: some hundred microseconds.
PackedTiles make_packed_tiles(std::uint32_t element_bits, const Affine& map, std::uint64_t batch);
PackedTiles make_packed_tiles(const PackedWork& work, const std::vector<faro::detail::AxisMap>& parts);

/// Which bits of an output are elements: rows of so many bits, `pitch` apart.
struct PackedRows {
  std::uint64_t first = 0;  // bits
  std::uint64_t pitch = 1;
  std::uint64_t row_bits = 1;
  std::uint64_t rows = 0;
  std::uint64_t more = 0;  // bits of a last row that is not full
};

namespace detail {

template <typename Byte>
PackedArray<Byte> packed_array(Byte* data, std::uint64_t bytes, bool high_first) {
  const std::uint64_t skew = reinterpret_cast<std::uintptr_t>(data) % 4;
  return {.base = data - skew, .skew = skew, .bytes = bytes, .high_first = high_first};
}

/// Both arrays in words.
struct PackedArrays {
  PackedArray<const std::byte> in;
  PackedArray<std::byte> out;

  explicit PackedArrays(const PackedWork& work)
      : in(packed_array(work.in, work.in_bytes, work.in_high_first)),
        out(packed_array(work.out, work.out_bytes, work.out_high_first)) {}
};

inline PackedAxes packed_axes(const faro::detail::AxisMap& part, const PackedArrays& arrays,
                              std::uint32_t element_bits) {
  if (part.axes.size() > static_cast<std::size_t>(kMostPackedAxes)) {
    fail(ErrorCode::unsupported, "permute packed elements",
         std::to_string(part.axes.size()) + " axes on a device",
         "at most " + std::to_string(kMostPackedAxes));
  }
  PackedAxes made;
  made.element_bits = element_bits;
  made.in_first = static_cast<std::uint64_t>(part.in_first) + 8 * arrays.in.skew;
  made.out_first = static_cast<std::uint64_t>(part.out_first) + 8 * arrays.out.skew;
  made.count = static_cast<std::int32_t>(part.axes.size());
  for (std::size_t k = 0; k < part.axes.size(); ++k) {
    const faro::detail::StridedAxis& axis = part.axes[part.axes.size() - 1 - k];
    made.axes[k] = {.out = device::Division64(static_cast<std::uint64_t>(axis.out)),
                    .extent = axis.extent,
                    .in = axis.in};
  }
  return made;
}

// The axis of the input's rows, where a part is matrices that are worth tiles.
inline std::optional<std::size_t> columns_of_matrix(const faro::detail::AxisMap& part,
                                                    std::uint32_t element_bits) {
  const auto element = static_cast<std::int64_t>(element_bits);
  const std::uint64_t least = 2 * kWordBits / element_bits;
  const auto& axes = part.axes;
  if (!can_turn(element_bits) || axes.empty() || axes.size() > kMostOtherAxes ||
      axes.front().out != element || axes.front().extent < least || part.out_first % element != 0)
    return std::nullopt;
  std::optional<std::size_t> columns;
  for (std::size_t k = 0; k < axes.size(); ++k) {
    if (axes[k].out % element != 0) return std::nullopt;
    if (k > 0 && std::abs(axes[k].in) == element && axes[k].extent >= least) columns = k;
  }
  return columns;
}

// All axes but the first and `without`, and how many there are of them.
inline PackedOthers others_of(const faro::detail::AxisMap& part, std::size_t without, std::uint64_t& number) {
  PackedOthers made;
  number = 1;
  for (std::size_t k = 1; k < part.axes.size(); ++k) {
    const faro::detail::StridedAxis& axis = part.axes[k];
    if (k == without) continue;
    made.axes[made.count++] = {.extent = device::Division32(static_cast<std::uint32_t>(axis.extent)),
                               .in = axis.in,
                               .out = axis.out};
    number *= axis.extent;
  }
  return made;
}

// Whether a part is runs that are worth a thread a word.
inline bool has_long_runs(const faro::detail::AxisMap& part, std::uint32_t element_bits) {
  constexpr std::uint64_t kLeastBits = 256;
  constexpr std::uint64_t kMostRuns = (std::uint64_t{1} << 31) - 1;
  const auto element = static_cast<std::int64_t>(element_bits);
  const auto& axes = part.axes;
  return !axes.empty() && axes.size() <= kMostOtherAxes && axes.front().out == element &&
         (axes.front().in == element || (axes.front().in == -element && can_turn(element_bits))) &&
         axes.front().extent * element_bits >= kLeastBits &&
         faro::detail::unit_count(axes) / axes.front().extent <= kMostRuns &&
         (!can_turn(element_bits) ||
          (part.out_first % element == 0 &&
           std::all_of(axes.begin(), axes.end(), [&](const auto& axis) { return axis.out % element == 0; })));
}

template <bool along, typename Queue>
void move_runs_by(Queue& queue, const faro::detail::AxisMap& part, const PackedArrays& arrays,
                  std::uint32_t element_bits) {
  MovePackedRuns<along> kernel;
  kernel.in = arrays.in;
  kernel.out = arrays.out;
  kernel.in_first = part.in_first + static_cast<std::int64_t>(8 * arrays.in.skew);
  kernel.out_first = part.out_first + static_cast<std::int64_t>(8 * arrays.out.skew);
  kernel.others = others_of(part, 0, kernel.runs);
  kernel.run_bits = part.axes.front().extent * element_bits;
  kernel.element_bits = element_bits;
  kernel.backwards = part.axes.front().in < 0;
  kernel.of_run = device::Division64(kernel.words_of_run(kernel.run_bits));
  queue.run(kernel);
}

template <typename Queue>
void move_runs(Queue& queue, const faro::detail::AxisMap& part, const PackedArrays& arrays,
               std::uint32_t element_bits) {
  constexpr std::uint64_t kLongBits = 8192;
  if (part.axes.front().extent * element_bits >= kLongBits)
    return move_runs_by<true>(queue, part, arrays, element_bits);
  move_runs_by<false>(queue, part, arrays, element_bits);
}

// The first of the other axes becomes one with the rows.
inline void chain(PackedMatrixParams& matrices) {
  PackedOthers& others = matrices.others;
  const std::uint32_t number = others.axes[0].extent.divisor();
  matrices.is_chain = true;
  matrices.of_chain = device::Division32(static_cast<std::uint32_t>(matrices.rows));
  matrices.chain_in = others.axes[0].in;
  matrices.rows *= number;
  matrices.matrices /= number;
  std::copy(others.axes + 1, others.axes + others.count, others.axes);
  --others.count;
}

template <int q, typename Queue>
void move_matrices(Queue& queue, faro::detail::AxisMap part, std::size_t columns,
                   const PackedArrays& arrays) {
  using Kernel = MovePackedMatrix<q>;
  if (part.axes[columns].in < 0) faro::detail::flip(part, columns);
  Kernel kernel;
  kernel.in = arrays.in;
  kernel.out = arrays.out;
  kernel.in_first = static_cast<std::uint64_t>(part.in_first) + 8 * arrays.in.skew;
  kernel.out_first = static_cast<std::uint64_t>(part.out_first) + 8 * arrays.out.skew;
  kernel.rows = part.axes.front().extent;
  kernel.in_pitch = part.axes.front().in;
  kernel.columns = part.axes[columns].extent;
  kernel.out_pitch = part.axes[columns].out;
  kernel.others = others_of(part, columns, kernel.matrices);
  const auto begins_at = [&](std::uint64_t bits, std::uint64_t first) {
    const auto divides = [&](std::int64_t stride) { return stride % static_cast<std::int64_t>(bits) == 0; };
    return first % bits == 0 && divides(kernel.out_pitch) &&
           std::all_of(kernel.others.axes, kernel.others.axes + kernel.others.count,
                       [&](const PackedOthers::Axis& axis) { return divides(axis.out); });
  };
  const auto row_bits = [&] { return static_cast<std::int64_t>(kernel.rows * Kernel::kElementBits); };
  const auto go_on = [&] { return kernel.others.count > 0 && kernel.others.axes[0].out == row_bits(); };
  constexpr std::uint64_t kMostChainedRows = (std::uint64_t{1} << 31) - 1;
  constexpr std::int64_t kSectorBits = Kernel::kSectorWords * std::int64_t{kWordBits};
  if (go_on() && row_bits() % kSectorBits != 0 &&
      kernel.rows * kernel.others.axes[0].extent.divisor() <= kMostChainedRows)
    chain(kernel);
  const std::uint64_t base = reinterpret_cast<std::uintptr_t>(arrays.out.base) / 4 % Kernel::kSectorWords;
  kernel.base_in_sector = static_cast<std::uint32_t>(base);
  kernel.skewed = !begins_at(kWordBits, kernel.out_first);
  const bool ragged = !begins_at(std::uint64_t{kSectorBits}, kernel.out_first + base * kWordBits);
  if (ragged && std::abs(kernel.out_pitch) == row_bits())
    kernel.next = PackedNext::column;
  else if (ragged && go_on())
    kernel.next = PackedNext::matrix;
  kernel.cut(ragged);
  queue.run(kernel);
}

inline bool is_aligned_to_vectors(const PackedWork& work) {
  constexpr std::uintptr_t kVectorBytes = 16;
  return (reinterpret_cast<std::uintptr_t>(work.in) | reinterpret_cast<std::uintptr_t>(work.out)) %
             kVectorBytes ==
         0;
}

constexpr std::uint64_t kFewTiles = 132;  // of a multiprocessor each

template <std::size_t index, typename Queue>
bool move_strided(Queue& queue, const PackedWork& work, const StridedTiles& tiles, std::uint64_t least) {
  if (!is_aligned_to_vectors(work) || work.in_high_first || work.out_high_first) return false;
  const std::optional<PackedStridedParams>& params = tiles[index];
  if (!params) return false;
  MovePackedStrided<index> kernel;
  kernel.params = *params;
  kernel.in = work.in;
  kernel.out = work.out;
  if (kernel.blocks() < least) return false;
  queue.run(kernel);
  return true;
}

template <typename Queue, std::size_t... large>
bool move_large_strided(Queue& queue, const PackedWork& work, const StridedTiles& tiles,
                        std::index_sequence<large...>) {
  return (move_strided<large>(queue, work, tiles, kFewTiles) || ...);
}
template <typename Queue, std::size_t... small>
bool move_small_strided(Queue& queue, const PackedWork& work, const StridedTiles& tiles,
                        std::index_sequence<small...>) {
  return (move_strided<kLargePackedTiles + small>(queue, work, tiles, 1) || ...);
}

template <typename Queue>
void move_words(Queue& queue, const PackedAxes& axes, const PackedArrays& arrays, std::uint64_t first,
                std::uint64_t number) {
  MovePackedWords<PackedAxes> words;
  words.source = axes;
  words.in = arrays.in;
  words.out = arrays.out;
  words.first = first;
  words.number = number;
  queue.run(words);
}

template <int q, typename Queue>
void move_box(Queue& queue, const PackedBox& box, const PackedArrays& arrays) {
  MovePackedBox<q> kernel;
  kernel.params = box.params;
  kernel.params.in_first += static_cast<std::int64_t>(8 * arrays.in.skew);
  kernel.params.out_first += static_cast<std::int64_t>(8 * arrays.out.skew);
  kernel.in = arrays.in;
  kernel.out = arrays.out;
  queue.run(kernel);
}

template <typename Queue>
void move_boxes(Queue& queue, const PackedBox& box, const PackedArrays& arrays) {
  if (box.q == 3)
    move_box<3>(queue, box, arrays);
  else if (box.q == 4)
    move_box<4>(queue, box, arrays);
  else
    move_box<5>(queue, box, arrays);
}

template <typename Queue>
void move_part(Queue& queue, const PackedWork& work, const faro::detail::AxisMap& part,
               const PackedPartTiles& tiles) {
  const std::uint64_t units = faro::detail::unit_count(part.axes);
  if (units == 0) return;
  const PackedArrays arrays(work);
  const PackedAxes axes = packed_axes(part, arrays, work.element_bits);
  if (move_large_strided(queue, work, tiles.strided, std::make_index_sequence<kLargePackedTiles>())) return;
  const auto columns = columns_of_matrix(part, work.element_bits);
  const bool runs = has_long_runs(part, work.element_bits);
  if (!runs && !columns &&
      move_small_strided(queue, work, tiles.strided, std::make_index_sequence<kSmallPackedTiles>()))
    return;
  if (runs || columns || tiles.box) {
    if (runs)
      move_runs(queue, part, arrays, work.element_bits);
    else if (!columns)
      move_boxes(queue, *tiles.box, arrays);
    else if (work.element_bits == 1)
      move_matrices<5>(queue, part, *columns, arrays);
    else if (work.element_bits == 2)
      move_matrices<4>(queue, part, *columns, arrays);
    else
      move_matrices<3>(queue, part, *columns, arrays);
    // Words that are not wholly in the array.
    for (const std::uint64_t word : {std::uint64_t{0}, arrays.out.words() - 1}) {
      if (!arrays.out.holds_word(word)) move_words(queue, axes, arrays, word, 1);
    }
    return;
  }
  std::uint64_t last = axes.out_first + work.element_bits - 1;
  for (const auto& axis : part.axes) last += (axis.extent - 1) * static_cast<std::uint64_t>(axis.out);
  const std::uint64_t first = axes.out_first / kWordBits;
  move_words(queue, axes, arrays, first, last / kWordBits + 1 - first);
}

template <std::size_t index, typename Queue>
bool move_tiles(Queue& queue, const PackedWork& work, const PackedTiles& tiles, std::uint64_t least) {
  const std::optional<PackedAffineParams>& params = tiles.affine[index];
  if (!params || params->tile.blocks() < least) return false;
  const auto move = [&](auto kernel) {
    kernel.params = *params;
    kernel.in = work.in;
    kernel.out = work.out;
    queue.run(kernel);
  };
  if constexpr (kPackedTiles[index].shape.has_squares()) {
    if (params->steps == SquareSteps::transpose) {
      move(MovePackedTiles<index, SquareSteps::transpose>());
      return true;
    }
    if (params->steps == SquareSteps::all) {
      move(MovePackedTiles<index, SquareSteps::all>());
      return true;
    }
  }
  move(MovePackedTiles<index>());
  return true;
}

template <typename Queue, std::size_t... index>
bool move_any_tiles(Queue& queue, const PackedWork& work, const PackedTiles& tiles,
                    std::index_sequence<index...>) {
  return (move_tiles<index>(queue, work, tiles, index < kLargePackedTiles ? kFewTiles : 1) || ...);
}

}  // namespace detail

/// Parts whose strides are bits, without shifts, in normal form, one after another. What no part has stays.
/// Errors: ErrorCode::unsupported for more than 32 axes.
template <typename Queue>
void move_packed_axes(Queue& queue, const PackedWork& work, const std::vector<faro::detail::AxisMap>& parts,
                      const PackedTiles& tiles) {
  for (std::size_t i = 0; i < parts.size(); ++i) detail::move_part(queue, work, parts[i], tiles.parts[i]);
}

namespace detail {

template <typename Queue, typename Source>
void move_rows(Queue& queue, const PackedWork& work, std::uint64_t batch, const PackedRowsOfBoth& rows,
               Source source) {
  constexpr std::uint64_t kOneRow = std::uint64_t{1} << 60;
  const PackedArrays arrays(work);
  source.batch = batch;
  source.element_bits = work.element_bits;
  source.in_first = rows.in_first + 8 * arrays.in.skew;
  source.out_first = rows.out_first + 8 * arrays.out.skew;
  source.in_row = device::Division64(rows.in_row == 0 ? kOneRow : rows.in_row);
  source.in_pitch = rows.in_pitch;
  source.out_row = rows.out_row == 0 ? kOneRow : rows.out_row;
  source.out_pitch = device::Division64(rows.out_row == 0 ? kOneRow : rows.out_pitch);
  MovePackedWords<Source> words;
  words.source = source;
  words.in = arrays.in;
  words.out = arrays.out;
  words.number = arrays.out.words();
  queue.run(words);
}

}  // namespace detail

/// An affine map of arrays in any rows, by words. Errors: ErrorCode::unsupported for more than 2^48 elements.
template <typename Queue>
void move_packed_map(Queue& queue, const PackedWork& work, const Affine& map, std::uint64_t batch,
                     const PackedRowsOfBoth& rows) {
  if (map.bits() > kMostPackedIndexBits) {
    fail(ErrorCode::unsupported, "permute packed elements",
         "2^" + std::to_string(map.bits()) + " elements a word at a time",
         "at most 2^" + std::to_string(kMostPackedIndexBits));
  }
  PackedPlaces source{};
  const Affine back = map.inverse();
  for (int j = 0; j < map.bits(); ++j) source.columns[j] = back.matrix().column(j);
  source.complement = map.complement();
  source.index_bits = static_cast<std::uint32_t>(map.bits());
  detail::move_rows(queue, work, batch, rows, source);
}

/// By the entries of a gather's index array, out[y] = in[Q[y]], where the queue's kernels can read them.
template <typename Queue, typename Entry>
void move_packed_entries(Queue& queue, const PackedWork& work, const Entry* entries, std::uint64_t count,
                         std::uint64_t batch, const PackedRowsOfBoth& rows) {
  if (count == 0) return;
  PackedEntries<Entry> source{};
  source.entries = entries;
  source.count = device::Division64(count);
  detail::move_rows(queue, work, batch, rows, source);
}

/// Dense arrays; `map` is of places, so that orders of bits are in it, and both arrays are taken low bits
/// first. Requires: arrays of whole bytes (unchecked). Errors: as make_packed_affine_params().
template <typename Queue>
void move_packed_affine(Queue& queue, const PackedWork& work, const Affine& map, std::uint64_t batch,
                        const PackedTiles& tiles) {
  if (detail::is_aligned_to_vectors(work) &&
      detail::move_any_tiles(queue, work, tiles, std::make_index_sequence<kPackedTileCount>()))
    return;
  PackedWork low_first = work;
  low_first.in_high_first = low_first.out_high_first = false;
  move_packed_map(queue, low_first, map, batch, {});
}

/// In place. Requires: an array of whole vectors' alignment, whose passes these are (unchecked).
template <typename Queue>
void move_packed_in_place(Queue& queue, std::byte* data, const PackedInPlacePasses& passes) {
  const auto run = [&]<std::size_t index>() {
    if (passes.tile != index) return;
    for (const PackedInPlaceParams& pass : passes.passes) {
      MovePackedInPlace<index> kernel;
      kernel.params = pass;
      kernel.data = data;
      queue.run(kernel);
    }
  };
  [&]<std::size_t... index>(std::index_sequence<index...>) { (run.template operator()<index>(), ...); }
  (std::make_index_sequence<kPackedInPlaceTileCount>());
}

/// Zeros in all bits of the output that are none of the rows'.
template <typename Queue>
void clear_packed_pads(Queue& queue, const PackedWork& work, const PackedRows& rows) {
  ClearPackedPads kernel;
  kernel.out = detail::PackedArrays(work).out;
  kernel.pitch = device::Division64(rows.pitch);
  kernel.row_bits = rows.row_bits;
  kernel.first = rows.first + 8 * kernel.out.skew;
  kernel.rows = rows.rows;
  kernel.more = rows.more;
  // Of dense arrays these are all but the first word and the last.
  kernel.inside = (kernel.first + kWordBits - 1) / kWordBits;
  const std::uint64_t end = rows.rows > 0 ? (kernel.first + rows.row_bits) / kWordBits : 0;
  kernel.inside_words = end > kernel.inside ? end - kernel.inside : 0;
  if (kernel.words() > 0) queue.run(kernel);
}

}  // namespace faro::kernels

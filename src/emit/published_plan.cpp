// The published rungs: naive, and tiles along coordinate directions.
//
//     column bits   0 .. t-1                                    t = n_tile
//     row bits      { j : A e_j within the low t bits }         exactly t of them, or the map is not tiled
//     block bits    the rest; the lowest n_iter are iterations
//
//     position j of x  [ block ... | row only ... | both ... | column only ]   in any order
//     reading          threads run along the column bits, warps along the bits that are rows only
//     writing          threads run along the row bits, warps along the bits that are columns only
//
// Within the tile the block bits are left out and the others move together.
//
// Rotated rows: lanes that write together differ in row bits. Those that are columns, too, tell columns
// apart; the others are bits of the row's number i, and row i is rotated by them, scattered to the columns
// that are still free. So 2^t lanes meet 2^t different columns. Rows longer than a bank row, 128 bytes, are
// rotated bank row by bank row, and the lanes are those of one hardware phase: the same, with fewer bits.
// Source: Bouverot-Dupuis and Sheeran, sections 4.1 to 4.3 and 5.1.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "emit/bit_moves.hpp"
#include "emit/kernel_plan.hpp"
#include "faro/emit/emit.hpp"
#include "tell/published_class.hpp"

namespace faro::emit {
namespace {

using f2::Word;

std::vector<Word> units(const std::vector<int>& bits) {
  std::vector<Word> columns;
  columns.reserve(bits.size());
  for (const int bit : bits) columns.push_back(f2::unit(bit));
  return columns;
}

std::vector<Word> units(int first, int count) {
  std::vector<Word> columns;
  columns.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) columns.push_back(f2::unit(first + i));
  return columns;
}

// One thread an element.
KernelPlan plan_naive(const Affine& map, const ElementType& element) {
  constexpr int usual_thread_bits = 8;
  constexpr int most_blocks_bits = 30;
  const int n = map.bits();
  KernelPlan plan;
  plan.map = map;
  plan.element_bytes = plan.result_bytes = element.bytes;
  plan.thread_bits = std::min(n, std::max(usual_thread_bits, n - most_blocks_bits));
  plan.block_bits = n - plan.thread_bits;
  plan.source.thread = units(0, plan.thread_bits);
  plan.source.block = units(plan.thread_bits, plan.block_bits);
  plan.origin = plan.source;
  plan.target = apply(map, plan.source);
  return plan;
}

// The bits of x by their part in the tile, each list ascending.
struct Parts {
  std::vector<int> rows;          // t of them
  std::vector<int> rows_only;     // not columns
  std::vector<int> columns_only;  // not rows
  std::vector<int> blocks;
};

Parts parts_of(const Affine& map, int t) {
  Parts parts;
  for (int j = 0; j < map.bits(); ++j) {
    const bool is_row = (map.matrix().column(j) & ~f2::low_mask(t)) == 0;
    const bool is_column = j < t;
    if (is_row) parts.rows.push_back(j);
    if (is_row && !is_column) parts.rows_only.push_back(j);
    if (is_column && !is_row) parts.columns_only.push_back(j);
    if (!is_row && !is_column) parts.blocks.push_back(j);
  }
  return parts;
}

// Where bit j of x, a column or row bit, sits in the tile: block bits below it are left out.
std::vector<Word> compact(const std::vector<int>& bits, const Parts& parts) {
  std::vector<Word> columns;
  for (const int bit : bits) {
    const auto below =
        std::count_if(parts.blocks.begin(), parts.blocks.end(), [&](int b) { return b < bit; });
    columns.push_back(f2::unit(bit - static_cast<int>(below)));
  }
  return columns;
}

constexpr int kBankRowBytesBits = 7;
constexpr int kWarpBits = 5;

int bank_row_bits(int element_bytes) {
  return kBankRowBytesBits - std::countr_zero(static_cast<unsigned>(element_bytes));
}

// The shift of every bit of a row's number: of those that are bits of lanes, in the order of the lanes, the
// lowest column from `first` on that is free, or the lowest at all.
std::vector<Word> shifts_of(const KernelPlan& plan, int first) {
  std::vector<Word> shifts(static_cast<std::size_t>(plan.tile_bits - plan.turn_bits), 0);
  const int lane_bits = std::min(plan.thread_bits, plan.turn_bits);
  Word free = f2::low_mask(plan.turn_bits);
  for (int lane = 0; lane < plan.thread_bits; ++lane)
    free &= ~plan.loaded.thread[static_cast<std::size_t>(lane)];
  for (int k = 0; k < lane_bits; ++k) {
    const int row_bit = f2::trailing_bit(plan.loaded.thread[static_cast<std::size_t>(k)]) - plan.turn_bits;
    if (row_bit < 0 || free == 0) continue;  // a column, which tells lanes apart as it is
    const Word apart = free & ~f2::low_mask(first);
    const Word column = f2::unit(f2::trailing_bit(apart != 0 ? apart : free));
    shifts[static_cast<std::size_t>(row_bit)] = column;
    free &= ~column;
  }
  return shifts;
}

// The published order of the columns, the lowest first; where several elements share a word and that is not
// free of conflicts, words first.
void turn_rows(KernelPlan& plan) {
  const int bank_row = bank_row_bits(plan.element_bytes);
  plan.turn_bits = std::min(plan.column_bits, bank_row);
  plan.turned = shifts_of(plan, 0);
  const int word_bits = bank_row - kWarpBits;
  if (word_bits <= 0) return;
  KernelPlan other = plan;
  other.turned = shifts_of(plan, word_bits);
  const auto congestion = [](const KernelPlan& of) { return predict(of).shared_loads.max_congestion(); };
  if (congestion(other) < congestion(plan)) plan = other;
}

}  // namespace

int default_tile_bits(int element_bytes) {
  return published_tile_bits_of(static_cast<std::uint64_t>(element_bytes));
}

KernelPlan plan_published(const Affine& map, const ElementType& element, const Options& options) {
  if (options.rung == Rung::naive) return plan_naive(map, element);
  const int t =
      std::min(options.tile_bits > 0 ? options.tile_bits : default_tile_bits(element.bytes), map.bits());
  const Parts parts = parts_of(map, t);
  if (const std::size_t rows = parts.rows.size(); static_cast<int>(rows) != t) {
    fail(ErrorCode::unsupported, operation_of(options),
         fmt::format(
             "a map that is not tiled for n_tile = {}: {} columns of its matrix have no bit at or above "
             "{}, and a tiled map has {} such columns",
             t, rows, t, t),
         "a BP, a BPC or a tiled BMMC", "rungs naive, two-pass and one-pass carry out every map");
  }

  KernelPlan plan;
  plan.map = map;
  plan.element_bytes = plan.result_bytes = element.bytes;
  plan.has_tile = true;
  plan.column_bits = t;
  plan.thread_bits = t;
  plan.warp_bits = static_cast<int>(parts.rows_only.size());
  plan.tile_bits = t + plan.warp_bits;
  const int outside = static_cast<int>(parts.blocks.size());
  plan.iteration_bits = options.rung == Rung::iters ? std::min(options.iteration_bits, outside) : 0;
  plan.block_bits = outside - plan.iteration_bits;
  plan.tile_an_iteration = true;

  const auto split = parts.blocks.begin() + plan.iteration_bits;
  const std::vector<Word> iterations = units({parts.blocks.begin(), split});
  const std::vector<Word> blocks = units({split, parts.blocks.end()});
  const std::vector<Word> tiles = units(plan.tile_bits, plan.iteration_bits);
  plan.source.block = blocks;
  plan.source.iteration = iterations;
  plan.source.thread = units(0, t);
  plan.source.warp = units(parts.rows_only);
  plan.stored.iteration = tiles;
  plan.stored.thread = units(0, t);
  plan.stored.warp = units(t, plan.warp_bits);
  plan.origin.block = blocks;
  plan.origin.iteration = iterations;
  plan.origin.thread = units(parts.rows);
  plan.origin.warp = units(parts.columns_only);
  plan.loaded.iteration = tiles;
  plan.loaded.thread = compact(parts.rows, parts);
  plan.loaded.warp = compact(parts.columns_only, parts);
  plan.target = apply(map, plan.origin);
  const bool turned = options.rung == Rung::banks || (options.rung == Rung::iters && options.turned_rows);
  require_room(plan, options);
  if (turned) turn_rows(plan);
  return plan;
}

AddressInstructions address_instructions(const Affine& map, const Options& options) {
  const KernelPlan plan = plan_published(map, find_element(options), options);
  AddressInstructions sum;
  for (const Form* const form : {&plan.source, &plan.stored, &plan.loaded, &plan.target}) {
    for (const auto* const part : {&form->block, &form->thread, &form->warp, &form->iteration}) {
      sum.one_by_one += static_cast<std::uint64_t>(one_by_one(*part).operations());
      sum.merged += static_cast<std::uint64_t>(merge(*part).operations());
    }
  }
  return sum;
}

}  // namespace faro::emit

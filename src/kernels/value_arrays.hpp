// What kernels with arithmetic work on: where boxes of a view lie, whose thread moves what, and the factors
// of each number. MoveValues (value_box.hpp) moves boxes by way of shared memory, those of
// value_registers.hpp and value_turned.hpp do without.
//
// A *run* lies together in an array; *rows* are where runs begin. The lanes of a warp are shared out over
// vectors of a run and over rows.
//
//     places[p]    where number p of a run of the input lies in shared memory, from its row's place
//     rows[r]      where run r begins in the array, in shared memory, and among the factors
//
// Factors that differ along a run of the output are brought to shared memory first, those that differ from
// row to row are read with the row.
#pragma once

#include <cstddef>
#include <cstdint>

#include "faro/device/division.hpp"
#include "faro/device/memory.hpp"
#include "kernels/number_lanes.hpp"
#include "kernels/number_program.hpp"

namespace faro::kernels {

inline constexpr int kValueGridAxes = 32;
inline constexpr std::uint32_t kValueThreads = 256;
inline constexpr std::uint32_t kValueWarpLanes = 32;
inline constexpr std::int32_t kUncut = -1;
inline constexpr std::uint64_t kTurnedVectors = 8;  // at most, that a thread reads of a tile

/// Where a run begins, in numbers from the box's corner, and in shared memory.
struct alignas(16) ValueRow {
  std::int64_t at;
  std::uint32_t place;
  std::uint32_t unused;
};
/// What else a run of the output has.
struct alignas(16) ValueRowFactors {
  std::int64_t addend;
  std::int32_t scale;
  std::int32_t offset;
};

struct ValuePlace {
  std::int64_t in = 0;
  std::int64_t out = 0;
  std::int64_t addend = 0;
  std::int64_t scale = 0;
  std::int64_t offset = 0;
};

/// One side of a box.
struct ValueSide {
  std::uint32_t run = 1;       // numbers of a whole run
  std::uint32_t rows = 1;      // of a whole box
  std::int32_t run_cut = -1;   // which limit cuts the runs: 0, 1, or none
  std::int32_t rows_cut = -1;  // and the rows
  std::uint32_t run_step = 1;  // numbers of a run, and rows, for each index along the axis that is cut
  std::uint32_t rows_step = 1;
  std::uint32_t lanes_log2 = 5;  // of a warp, along a run
  std::uint32_t warps_log2 = 0;  // of a block, along a run
  std::int64_t row_at = 0;       // from row to row, where they are counted along one axis
  std::uint32_t row_place = 0;
};

/// How a thread goes through its vectors of a side: from row to row by the table, or by steps where rows are
/// counted along one axis, or along few long runs.
enum class ValueOrder { by_table, by_steps, along_runs };

/// Factors are one for all numbers, one for each row of the output, or differ along its runs.
enum class ValueFactorsOf { all, rows, runs };

/// Which side has the numbers of all columns together (value_registers.hpp).
enum class Interleaved { input, output };

struct ValueBoxParams {
  /// An axis along which there are several boxes, the fastest of the output first.
  struct GridAxis {
    device::Division64 boxes;
    device::Division32 few_boxes;  // the same, where all boxes are fewer than 2^31
    ValuePlace step;
    std::int32_t cut = kUncut;
  };
  struct Cut {
    std::uint64_t extent = 1;
    std::uint32_t box = 1;
  };
  std::int32_t grid_axes = 0;
  std::int32_t few = 0;           // whether all boxes are fewer than 2^31
  std::int32_t factors_vary = 0;  // along a run of the output: bit 0 the scale, bit 1 the offset
  std::int32_t out_sectors = 0;   // whether runs of the output begin and end at sectors
  std::uint32_t factors_at = 0;   // where those lie in shared memory, in bytes
  std::uint32_t shared_bytes = 0;
  std::uint32_t group_place =
      0;                        // of MoveCopiedValues: so much further apart are groups of rows of the input
  std::uint32_t others_at = 0;  // and where what is added lies in shared memory, in bytes
  // Of aligned copies: the numbers of the input from its first on that the view lies among, for vectors reach
  // beyond runs.
  std::int64_t in_begin = 0;
  std::int64_t in_end = 0;
  ValuePlace first;
  ValuePlace column;  // of MoveValueColumns: from column to column; of MoveTurnedValues: of vectors written
  ValuePlace row;     // of MoveTurnedValues: from vector to vector that is read
  std::uint64_t tiles = 0;  // of the latter
  // Runs of the input that go down an axis which is cut begin later where it is shorter, and end where they
  // did: by so much for each index that is missing.
  std::int64_t missing_in = 0;
  std::uint32_t missing_place = 0;
  std::uint64_t first_box = 0;  // of the launch
  Cut cut[2];
  ValueSide in;
  ValueSide out;
  GridAxis grid[kValueGridAxes];
};

/// Where a box begins, and how much there is of its cut axes.
struct ValueCorner {
  ValuePlace at;
  std::uint32_t limit[2] = {1, 1};  // never indexed at run time, so that they stay in registers
  std::uint32_t back = 0;           // places of the input's runs lie so much lower

  constexpr std::uint32_t run_of(const ValueSide& side) const {
    return side.run_cut < 0 ? side.run : limit_of(side.run_cut) * side.run_step;
  }
  constexpr std::uint32_t rows_of(const ValueSide& side) const {
    return side.rows_cut < 0 ? side.rows : limit_of(side.rows_cut) * side.rows_step;
  }
  constexpr std::uint32_t limit_of(std::int32_t cut) const { return cut == 0 ? limit[0] : limit[1]; }
};

namespace detail {
constexpr std::uint64_t divide_boxes(const ValueBoxParams::GridAxis& axis, std::uint64_t& number) {
  return axis.boxes.divide(number);
}
constexpr std::uint32_t divide_boxes(const ValueBoxParams::GridAxis& axis, std::uint32_t& number) {
  return axis.few_boxes.divide(number);
}

template <typename Program, typename Number>
constexpr ValueCorner corner_of_number(const ValueBoxParams& p, Number number) {
  ValueCorner corner{.at = p.first, .limit = {p.cut[0].box, p.cut[1].box}};
  FARO_NO_UNROLL
  for (std::int32_t a = 0; a < p.grid_axes; ++a) {
    const ValueBoxParams::GridAxis& axis = p.grid[a];
    const Number next = divide_boxes(axis, number);
    const auto digit = static_cast<std::int64_t>(number);
    number = next;
    corner.at.in += digit * axis.step.in;
    corner.at.out += digit * axis.step.out;
    if constexpr (Program::kHasAddend) corner.at.addend += digit * axis.step.addend;
    if constexpr (Program::kHasScale) corner.at.scale += digit * axis.step.scale;
    if constexpr (Program::kHasOffset) corner.at.offset += digit * axis.step.offset;
    if (axis.cut < 0) continue;
    const ValueBoxParams::Cut& cut = p.cut[axis.cut];
    const std::uint64_t rest = cut.extent - static_cast<std::uint64_t>(digit) * cut.box;
    const std::uint32_t limit = rest < cut.box ? static_cast<std::uint32_t>(rest) : cut.box;
    corner.limit[0] = axis.cut == 0 ? limit : corner.limit[0];
    corner.limit[1] = axis.cut == 1 ? limit : corner.limit[1];
  }
  if (p.missing_place != 0) {
    const std::uint32_t missing = p.cut[p.in.run_cut].box - corner.limit_of(p.in.run_cut);
    corner.at.in += static_cast<std::int64_t>(missing) * p.missing_in;
    corner.back = missing * p.missing_place;
  }
  return corner;
}
}  // namespace detail

template <typename Program>
constexpr ValueCorner corner_of(const ValueBoxParams& p, std::uint64_t block) {
  if (p.few != 0) return detail::corner_of_number<Program>(p, static_cast<std::uint32_t>(block));
  return detail::corner_of_number<Program>(p, block + p.first_box);
}

/// Of tiles, of which each thread has its own.
template <typename Program>
constexpr ValueCorner corner_of_tile(const ValueBoxParams& p, std::uint64_t number) {
  if (p.few != 0) return detail::corner_of_number<Program>(p, static_cast<std::uint32_t>(number));
  return detail::corner_of_number<Program>(p, number);
}

/// Which vectors of a side are a thread's: those from (slot, row) on, every so many along the run and rows.
struct ValueWalk {
  std::uint32_t slot;
  std::uint32_t row;
  std::uint32_t slot_step;
  std::uint32_t row_step;
  std::uint32_t slots;
  std::uint32_t rows;

  constexpr ValueWalk(const ValueSide& side, std::uint32_t thread, std::uint32_t slots_of,
                      std::uint32_t rows_of)
      : slots(slots_of), rows(rows_of) {
    constexpr std::uint32_t kLanesLog2 = 5;
    constexpr std::uint32_t kWarpsLog2 = 3;
    static_assert(kValueWarpLanes == 1U << kLanesLog2 && kValueThreads == kValueWarpLanes << kWarpsLog2);
    const std::uint32_t lane = thread % kValueWarpLanes;
    const std::uint32_t warp = thread / kValueWarpLanes;
    const std::uint32_t along = side.lanes_log2;
    const std::uint32_t warps_along = side.warps_log2;
    slot_step = 1U << (along + warps_along);
    row_step = 1U << (kLanesLog2 - along + kWarpsLog2 - warps_along);
    slot = (lane & ((1U << along) - 1)) | (warp & ((1U << warps_along) - 1)) << along;
    row = lane >> along | warp >> warps_along << (kLanesLog2 - along);
  }
};

/// The rows of a thread, one after another.
template <ValueOrder kOrder>
class ValueRows {
 public:
  constexpr ValueRows(const ValueSide& side, const ValueRow* table, std::uint32_t first, std::uint32_t step)
      : table_(table + first), step_(step) {
    if constexpr (kOrder != ValueOrder::by_steps) return;
    row_ = {.at = side.row_at * std::int64_t{first}, .place = side.row_place * first, .unused = 0};
    at_step_ = side.row_at * std::int64_t{step};
    place_step_ = side.row_place * step;
  }

  constexpr ValueRow next() {
    if constexpr (kOrder == ValueOrder::by_steps) {
      const ValueRow row = row_;
      row_.at += at_step_;
      row_.place += place_step_;
      return row;
    } else {
      const ValueRow row = *table_;
      table_ += step_;
      return row;
    }
  }

 private:
  const ValueRow* table_;
  std::uint32_t step_;
  ValueRow row_{};
  std::int64_t at_step_ = 0;
  std::uint32_t place_step_ = 0;
};

/// A number as it is computed with, of any such type.
struct alignas(16) ValueFactor {
  unsigned char bytes[16] = {};
};

/// What a launch works on, the same for all types: pointers to what the program says. Tables are the
/// device's, made with the plan.
struct ValueArrays {
  ValueBoxParams p;
  const ValueRow* in_rows = nullptr;
  const ValueRow* out_rows = nullptr;
  const ValueRowFactors* row_factors = nullptr;  // of the output's rows
  const std::uint16_t* places = nullptr;         // of a run of the input
  const std::int32_t* scales_of_run = nullptr;   // of a run of the output, where scales vary along it
  const std::int32_t* offsets_of_run = nullptr;  // likewise
  const void* scales = nullptr;
  const void* offsets = nullptr;
  const void* in = nullptr;
  const void* addend = nullptr;
  void* out = nullptr;
  ValueFactor beta;
};

/// Factors of numbers that are being finished. `kMayVary`: along a run; where they do not, no number asks.
template <typename Program, bool kMayVary = true>
class ValueFactors {
 public:
  using Computed = typename Program::Computed;

  constexpr ValueFactors(const ValueArrays& of, std::byte* shared)
      : vary_(of.p.factors_vary),
        scales_of_run_(reinterpret_cast<Computed*>(shared + of.p.factors_at)),
        offsets_of_run_(scales_of_run_ + ((vary_ & 1) != 0 ? of.p.out.run : 0)),
        scales_(static_cast<const Computed*>(of.scales)),
        offsets_(static_cast<const Computed*>(of.offsets)),
        beta_(*reinterpret_cast<const Computed*>(of.beta.bytes)) {}

  /// Brings those that differ along a run to shared memory; a barrier follows.
  template <typename Block>
  constexpr void stage(const ValueArrays& of, const ValueCorner& corner, std::uint32_t run,
                       Block& block) const {
    for (std::uint32_t i = block.thread(); i < run; i += kValueThreads) {
      if constexpr (Program::kHasScale) {
        if ((vary_ & 1) != 0) scales_of_run_[i] = scales_[corner.at.scale + of.scales_of_run[i]];
      }
      if constexpr (Program::kHasOffset) {
        if ((vary_ & 2) != 0) offsets_of_run_[i] = offsets_[corner.at.offset + of.offsets_of_run[i]];
      }
    }
  }

  /// Those of a row.
  constexpr void begin(const ValueCorner& corner, const ValueRowFactors& row) {
    if constexpr (Program::kHasScale) {
      if ((vary_ & 1) == 0) scale_ = scales_[corner.at.scale + row.scale];
    }
    if constexpr (Program::kHasOffset) {
      if ((vary_ & 2) == 0) offset_ = offsets_[corner.at.offset + row.offset];
    }
  }

  /// A number that is widened, at `of_run`.
  constexpr Computed scaled(Computed x, std::uint32_t of_run) const {
    if constexpr (Program::kHasScale)
      x = product(x, kMayVary && (vary_ & 1) != 0 ? scales_of_run_[of_run] : scale_);
    if constexpr (Program::kHasOffset)
      x = sum(x, kMayVary && (vary_ & 2) != 0 ? offsets_of_run_[of_run] : offset_);
    return x;
  }
  template <typename Addend>
  constexpr Computed added(Computed x, Addend other) const {
    if constexpr (Program::kHasAddend) {
      return sum(x, product(Program::widened_addend(other), beta_));
    } else {
      return x;
    }
  }

 private:
  std::int32_t vary_;
  Computed* scales_of_run_;
  Computed* offsets_of_run_;
  const Computed* scales_;
  const Computed* offsets_;
  Computed scale_ = {};
  Computed offset_ = {};
  Computed beta_;
};

}  // namespace faro::kernels

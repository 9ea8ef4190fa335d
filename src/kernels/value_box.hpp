// Boxes whose numbers change on their way: any view, in one pass (docs/theory/boxes.md;
// what is done to a number is kernels/number_program.hpp).
//
//     in    runs of the input            shared memory              out   runs of the output
//           vectors of kIn numbers  -->  one number a place    -->  vectors of kOut numbers
//           [rounded]                                               widened, scaled, added to, rounded
//
// The two sides have types of different widths, so each has vectors of its own. Between them numbers lie as
// they are stored in the input, or, where that is narrower and nothing is known of the output only when they
// are read, in the output: f32 to bf16 is rounded as it is read. A *run* lies together in an array; *rows*
// are where runs begin. The lanes of a warp are shared out over vectors of a run and over rows, so that few
// of them meet in a bank.
//
//     places[p]    where number p of a run of the input lies in shared memory, from its row's place
//     rows[r]      where run r begins in the array, in shared memory, and among the factors
//
// A run of the output lies together in shared memory, too. Where runs of both sides begin with the
// same axis and are long, MoveValueRuns goes without shared memory.
//
// Factors that differ along a run of the output are brought to shared memory first, those that differ from
// row to row are read with the row.
//
// Few columns, as the channels of images, are exchanged in registers (MoveValueColumns): a thread has k
// numbers of each.
//
//     r g b r g b r g b r g b   <-->   r r r r  g g g g  b b b b        3 columns, k = 4
#pragma once

#include <cstddef>
#include <cstdint>

#include "faro/device/division.hpp"
#include "faro/device/memory.hpp"
#include "kernels/number_program.hpp"

namespace faro::kernels {

inline constexpr int kValueGridAxes = 32;
inline constexpr std::uint32_t kValueThreads = 256;
inline constexpr std::uint32_t kValueWarpLanes = 32;
inline constexpr std::int32_t kUncut = -1;

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
  std::uint32_t factors_at = 0;   // where those lie in shared memory, in bytes
  std::uint32_t shared_bytes = 0;
  ValuePlace first;
  ValuePlace column;  // of MoveValueColumns: from column to column
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

/// Factors of numbers that are being finished.
template <typename Program>
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
    if constexpr (Program::kHasScale) x = product(x, (vary_ & 1) != 0 ? scales_of_run_[of_run] : scale_);
    if constexpr (Program::kHasOffset) x = sum(x, (vary_ & 2) != 0 ? offsets_of_run_[of_run] : offset_);
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

/// Vectors that a thread has on their way.
inline constexpr std::uint32_t kValueBatch = 4;

/// How boxes are moved, known when a kernel is compiled.
template <int kInVector, int kOutVector, ValueOrder kInOrder = ValueOrder::by_table,
          ValueOrder kOutOrder = ValueOrder::by_table, bool kRoundsFirst = false>
struct ValueShape {
  static constexpr int kIn =
      kInVector;  // numbers of a vector, of which runs and what they begin at are multiples
  static constexpr int kOut = kOutVector;
  static constexpr ValueOrder kLoads = kInOrder;
  static constexpr ValueOrder kStores = kOutOrder;
  static constexpr bool kRounds = kRoundsFirst;  // as they are read; no addend, and no factors that differ
};

/// Boxes by way of shared memory. The addend's runs lie as the output's.
template <typename Program, typename Shape>
struct MoveValues : ValueArrays {
  using From = typename Program::From;
  using To = typename Program::To;
  using Addend = typename Program::Addend;
  using Computed = typename Program::Computed;
  using Held = std::conditional_t<Shape::kRounds, To, From>;
  static constexpr std::uint32_t kThreads = kValueThreads;
  static constexpr int kMinBlocks = 5;

  constexpr std::uint32_t shared_bytes() const { return p.shared_bytes; }

  template <typename Block>
  constexpr void operator()(Block& block) const {
    auto* const held = reinterpret_cast<Held*>(block.shared());
    const ValueCorner corner = corner_of<Program>(p, block.index());
    ValueFactors<Program> factors(*this, block.shared());
    if constexpr (Shape::kRounds) factors.begin({}, ValueRowFactors{});
    if constexpr (Program::kHasScale || Program::kHasOffset) {
      if (p.factors_vary != 0) factors.stage(*this, corner, corner.run_of(p.out), block);
    }
    const ValueWalk loads(p.in, block.thread(), corner.run_of(p.in) / kIn, corner.rows_of(p.in));
    if constexpr (Shape::kLoads == ValueOrder::along_runs) {
      load_along_runs(corner, loads, held, factors);
    } else {
      load_rows(corner, loads, held, factors);
    }
    block.barrier();
    store(corner, ValueWalk(p.out, block.thread(), corner.run_of(p.out) / kOut, corner.rows_of(p.out)), held,
          factors);
  }

 private:
  static constexpr int kIn = Shape::kIn;
  static constexpr int kOut = Shape::kOut;
  static constexpr std::uint32_t kBatch = kValueBatch;
  static constexpr std::uint32_t kStored = Program::kHasAddend ? kBatch : 1;  // at a time
  using Vector = Lanes<From, kIn>;
  using Places = Lanes<std::uint16_t, kIn>;
  using Results = Lanes<To, kOut>;
  using Others = Lanes<Addend, kOut>;

  static constexpr Held held_of(From x, const ValueFactors<Program>& factors) {
    if constexpr (Shape::kRounds) {
      return Program::rounded(factors.scaled(Program::widened(x), 0));
    } else {
      return x;
    }
  }
  static constexpr void hold(const Vector& vector, const Places& of_slot, std::uint32_t row_place, Held* held,
                             const ValueFactors<Program>& factors) {
    FARO_UNROLL
    for (int j = 0; j < kIn; ++j)
      held[row_place + std::uint32_t{of_slot.get(j)}] = held_of(vector.get(j), factors);
  }
  constexpr const Vector* vector_at(std::int64_t begin, std::int64_t row) const {
    return reinterpret_cast<const Vector*>(static_cast<const From*>(in) + begin + row);
  }

  constexpr void load_along_runs(const ValueCorner& corner, const ValueWalk& walk, Held* held,
                                 const ValueFactors<Program>& factors) const {
    const auto* const all_places = reinterpret_cast<const Places*>(places);
    for (std::uint32_t row = walk.row; row < walk.rows; row += walk.row_step) {
      const ValueRow of_row = in_rows[row];
      const Vector* const run = vector_at(corner.at.in, of_row.at);
      for (std::uint32_t slot = walk.slot; slot < walk.slots; slot += kBatch * walk.slot_step) {
        Vector vectors[kBatch];
        FARO_UNROLL
        for (std::uint32_t i = 0; i < kBatch; ++i) {
          const std::uint32_t at = slot + i * walk.slot_step;
          if (at < walk.slots) vectors[i] = run[at];
        }
        FARO_UNROLL
        for (std::uint32_t i = 0; i < kBatch; ++i) {
          const std::uint32_t at = slot + i * walk.slot_step;
          if (at < walk.slots) hold(vectors[i], all_places[at], of_row.place - corner.back, held, factors);
        }
      }
    }
  }

  constexpr void load_rows(const ValueCorner& corner, const ValueWalk& walk, Held* held,
                           const ValueFactors<Program>& factors) const {
    for (std::uint32_t slot = walk.slot; slot < walk.slots; slot += walk.slot_step) {
      const Places of_slot = reinterpret_cast<const Places*>(places)[slot];
      const std::int64_t begin = corner.at.in + std::int64_t{slot} * kIn;
      ValueRows<Shape::kLoads> rows(p.in, in_rows, walk.row, walk.row_step);
      std::uint32_t row = walk.row;
      for (; row + (kBatch - 1) * walk.row_step < walk.rows; row += kBatch * walk.row_step)
        load_batch<true>(kBatch, begin, of_slot, corner.back, rows, held, factors);
      if (row >= walk.rows) continue;
      load_batch<false>((walk.rows - row - 1) / walk.row_step + 1, begin, of_slot, corner.back, rows, held,
                        factors);
    }
  }

  template <bool kWhole>
  constexpr void load_batch(std::uint32_t count, std::int64_t begin, const Places& of_slot,
                            std::uint32_t back, ValueRows<Shape::kLoads>& rows, Held* held,
                            const ValueFactors<Program>& factors) const {
    ValueRow of_rows[kBatch];
    Vector vectors[kBatch];
    FARO_UNROLL
    for (std::uint32_t i = 0; i < kBatch; ++i) {
      if (kWhole || i < count) of_rows[i] = rows.next();
    }
    FARO_UNROLL
    for (std::uint32_t i = 0; i < kBatch; ++i) {
      if (kWhole || i < count) vectors[i] = *vector_at(begin, of_rows[i].at);
    }
    FARO_UNROLL
    for (std::uint32_t i = 0; i < kBatch; ++i) {
      if (kWhole || i < count) hold(vectors[i], of_slot, of_rows[i].place - back, held, factors);
    }
  }

  constexpr void store(const ValueCorner& corner, const ValueWalk& walk, const Held* held,
                       ValueFactors<Program>& factors) const {
    for (std::uint32_t slot = walk.slot; slot < walk.slots; slot += walk.slot_step) {
      ValueRows<Shape::kStores> rows(p.out, out_rows, walk.row, walk.row_step);
      for (std::uint32_t row = walk.row; row < walk.rows; row += kStored * walk.row_step) {
        Others others[kStored];
        if constexpr (Program::kHasAddend) {
          FARO_UNROLL
          for (std::uint32_t i = 0; i < kStored; ++i) {
            const std::uint32_t at = row + i * walk.row_step;
            if (at < walk.rows) others[i] = other_at(corner, at, slot);
          }
        }
        FARO_UNROLL
        for (std::uint32_t i = 0; i < kStored; ++i) {
          const std::uint32_t at = row + i * walk.row_step;
          if (at >= walk.rows) continue;
          if constexpr (Program::kHasScale || Program::kHasOffset) factors.begin(corner, row_factors[at]);
          finish(corner, rows.next(), slot * kOut, held, others[i], factors);
        }
      }
    }
  }

  constexpr Others other_at(const ValueCorner& corner, std::uint32_t row, std::uint32_t slot) const {
    const std::int64_t at = corner.at.addend + row_factors[row].addend + std::int64_t{slot} * kOut;
    return *reinterpret_cast<const Others*>(static_cast<const Addend*>(addend) + at);
  }

  // So many are read from shared memory at once, of a word.
  static constexpr int kWord =
      sizeof(Held) >= 4
          ? 1
          : (4 / static_cast<int>(sizeof(Held)) < kOut ? 4 / static_cast<int>(sizeof(Held)) : kOut);

  constexpr void finish(const ValueCorner& corner, const ValueRow& of_row, std::uint32_t first,
                        const Held* held, const Others& others, ValueFactors<Program>& factors) const {
    Results results;
    FARO_UNROLL
    for (int w = 0; w < kOut; w += kWord) {
      using Word = Lanes<Held, kWord>;
      const std::uint32_t of_run = first + static_cast<std::uint32_t>(w);
      const Word word = *reinterpret_cast<const Word*>(held + of_row.place + of_run);
      FARO_UNROLL
      for (int j = 0; j < kWord; ++j) {
        if constexpr (Shape::kRounds) {
          results.put(w + j, word.get(j));
        } else {
          Computed x = factors.scaled(Program::widened(word.get(j)), of_run + static_cast<std::uint32_t>(j));
          if constexpr (Program::kHasAddend) x = factors.added(x, others.get(w + j));
          results.put(w + j, Program::rounded(x));
        }
      }
    }
    const std::int64_t at = corner.at.out + of_row.at + std::int64_t{first};
    *reinterpret_cast<Results*>(static_cast<To*>(out) + at) = results;
  }
};

/// Runs that are the same on both sides, a vector of k numbers at a time.
template <typename Program, int k>
struct MoveValueRuns : ValueArrays {
  using From = typename Program::From;
  using To = typename Program::To;
  using Addend = typename Program::Addend;
  using Computed = typename Program::Computed;
  static constexpr std::uint32_t kThreads = kValueThreads;
  static constexpr int kMinBlocks = 6;

  constexpr std::uint32_t shared_bytes() const { return p.shared_bytes; }

  template <typename Block>
  constexpr void operator()(Block& block) const {
    const ValueCorner corner = corner_of<Program>(p, block.index());
    ValueFactors<Program> factors(*this, block.shared());
    if constexpr (Program::kHasScale || Program::kHasOffset) {
      if (p.factors_vary != 0) {
        factors.stage(*this, corner, corner.run_of(p.out), block);
        block.barrier();
      }
    }
    move(corner, block.thread(), factors);
  }

 private:
  using Vector = Lanes<From, k>;
  using Results = Lanes<To, k>;
  using Others = Lanes<Addend, k>;

  constexpr void move(const ValueCorner& corner, std::uint32_t thread, ValueFactors<Program>& factors) const {
    constexpr std::uint32_t kBatch = 4;
    const ValueWalk walk(p.out, thread, corner.run_of(p.out) / k, corner.rows_of(p.out));
    // One number after another, along the run first: vectors of long runs and of many short ones alike.
    const std::uint32_t slots =
        walk.slot < walk.slots ? (walk.slots - walk.slot - 1) / walk.slot_step + 1 : 0;
    const std::uint32_t rows = walk.row < walk.rows ? (walk.rows - walk.row - 1) / walk.row_step + 1 : 0;
    std::uint32_t slot = walk.slot;
    std::uint32_t row = walk.row;
    for (std::uint32_t left = slots * rows; left > 0; left = left > kBatch ? left - kBatch : 0) {
      Vector vectors[kBatch];
      Others others[kBatch];
      std::uint32_t at_slot[kBatch];
      std::uint32_t at_row[kBatch];
      FARO_UNROLL
      for (std::uint32_t i = 0; i < kBatch; ++i) {
        at_slot[i] = slot;
        at_row[i] = row;
        if (i >= left) continue;
        const std::int64_t first = std::int64_t{slot} * k;
        vectors[i] = *reinterpret_cast<const Vector*>(static_cast<const From*>(in) +
                                                      (corner.at.in + in_rows[row].at + first));
        if constexpr (Program::kHasAddend) {
          others[i] = *reinterpret_cast<const Others*>(static_cast<const Addend*>(addend) +
                                                       (corner.at.addend + row_factors[row].addend + first));
        }
        row += walk.row_step;
        if (row < walk.rows) continue;
        row = walk.row;
        slot += walk.slot_step;
      }
      FARO_UNROLL
      for (std::uint32_t i = 0; i < kBatch; ++i) {
        if (i < left) finish(corner, at_row[i], at_slot[i], vectors[i], others[i], factors);
      }
    }
  }

  constexpr void finish(const ValueCorner& corner, std::uint32_t row, std::uint32_t slot,
                        const Vector& vector, const Others& others, ValueFactors<Program>& factors) const {
    if constexpr (Program::kHasScale || Program::kHasOffset) factors.begin(corner, row_factors[row]);
    const std::uint32_t first = slot * k;
    Results results;
    FARO_UNROLL
    for (int j = 0; j < k; ++j) {
      const std::uint32_t of_run = first + static_cast<std::uint32_t>(j);
      Computed x = factors.scaled(Program::widened(vector.get(j)), of_run);
      if constexpr (Program::kHasAddend) x = factors.added(x, others.get(j));
      results.put(j, Program::rounded(x));
    }
    const std::int64_t at = corner.at.out + out_rows[row].at + std::int64_t{first};
    *reinterpret_cast<Results*>(static_cast<To*>(out) + at) = results;
  }
};

/// A run of pairs, triples, … on one side, and of so many columns on the other. The run of kInterleaved is
/// counted in those tuples, of which the side has all numbers together.
enum class Interleaved { input, output };

template <typename Program, int kColumns, int k, Interleaved kInterleaved>
struct MoveValueColumns : ValueArrays {
  using From = typename Program::From;
  using To = typename Program::To;
  using Addend = typename Program::Addend;
  using Computed = typename Program::Computed;
  static constexpr std::uint32_t kThreads = kValueThreads;
  static constexpr int kMinBlocks = 4;

  constexpr std::uint32_t shared_bytes() const { return 0; }

  template <typename Block>
  constexpr void operator()(Block& block) const {
    const ValueCorner corner = corner_of<Program>(p, block.index());
    const ValueWalk walk(p.out, block.thread(), corner.run_of(p.out) / k, corner.rows_of(p.out));
    for (std::uint32_t row = walk.row; row < walk.rows; row += walk.row_step) {
      for (std::uint32_t slot = walk.slot; slot < walk.slots; slot += kBatch * walk.slot_step) {
        Parts<From> parts[kBatch];
        FARO_UNROLL
        for (std::uint32_t i = 0; i < kBatch; ++i) {
          const std::uint32_t at = slot + i * walk.slot_step;
          if (at < walk.slots)
            parts[i] = read<From, kFrom>(in, corner.at.in + in_rows[row].at, p.column.in, at);
        }
        FARO_UNROLL
        for (std::uint32_t i = 0; i < kBatch; ++i) {
          const std::uint32_t at = slot + i * walk.slot_step;
          if (at < walk.slots) finish(corner, row, at, parts[i]);
        }
      }
    }
  }

 private:
  // Tuples on their way take so many registers.
  static constexpr std::uint32_t kPartWords = (sizeof(From) * kColumns * k + 3) / 4;
  static constexpr std::uint32_t kBatch = kPartWords <= 6 ? 4 : kPartWords <= 12 ? 2 : 1;
  static constexpr bool kFrom = kInterleaved == Interleaved::input;

  // k tuples of numbers, as they lie: those of a column together, or those of a tuple.
  template <typename T>
  struct Parts {
    Lanes<T, k> part[kColumns];

    // Number j of a column.
    template <bool kTogether>
    constexpr T get(int column, int j) const {
      const int flat = kTogether ? j * kColumns + column : column * k + j;
      return part[flat / k].get(flat % k);
    }
    template <bool kTogether>
    constexpr void put(int column, int j, T x) {
      const int flat = kTogether ? j * kColumns + column : column * k + j;
      part[flat / k].put(flat % k, x);
    }
  };

  template <bool kTogether>
  static constexpr std::int64_t part_at(std::int64_t begin, std::int64_t column_step, std::uint32_t slot,
                                        int part) {
    if constexpr (kTogether) return begin + (std::int64_t{slot} * kColumns + part) * k;
    return begin + std::int64_t{slot} * k + part * column_step;
  }

  template <typename T, bool kTogether>
  static constexpr Parts<T> read(const void* array, std::int64_t begin, std::int64_t column_step,
                                 std::uint32_t slot) {
    Parts<T> parts;
    FARO_UNROLL
    for (int i = 0; i < kColumns; ++i) {
      parts.part[i] = *reinterpret_cast<const Lanes<T, k>*>(static_cast<const T*>(array) +
                                                            part_at<kTogether>(begin, column_step, slot, i));
    }
    return parts;
  }

  constexpr void finish(const ValueCorner& corner, std::uint32_t row, std::uint32_t slot,
                        Parts<From>& parts) const {
    using Others = Parts<std::conditional_t<Program::kHasAddend, Addend, char>>;
    const ValueRowFactors of_row = row_factors[row];
    Others others;
    if constexpr (Program::kHasAddend) {
      others = read<Addend, !kFrom>(addend, corner.at.addend + of_row.addend, p.column.addend, slot);
    }
    Parts<To> results;
    ValueFactors<Program> factors(*this, nullptr);
    FARO_UNROLL
    for (int c = 0; c < kColumns; ++c) {
      if constexpr (Program::kHasScale || Program::kHasOffset) {
        factors.begin(corner, {.addend = 0,
                               .scale = of_row.scale + c * static_cast<std::int32_t>(p.column.scale),
                               .offset = of_row.offset + c * static_cast<std::int32_t>(p.column.offset)});
      }
      FARO_UNROLL
      for (int j = 0; j < k; ++j) {
        Computed x = factors.scaled(Program::widened(parts.template get<kFrom>(c, j)), 0);
        if constexpr (Program::kHasAddend) x = factors.added(x, others.template get<!kFrom>(c, j));
        results.template put<!kFrom>(c, j, Program::rounded(x));
      }
    }
    const std::int64_t begin = corner.at.out + out_rows[row].at;
    FARO_UNROLL
    for (int i = 0; i < kColumns; ++i) {
      *reinterpret_cast<Lanes<To, k>*>(static_cast<To*>(out) +
                                       part_at<!kFrom>(begin, p.column.out, slot, i)) = results.part[i];
    }
  }
};

}  // namespace faro::kernels

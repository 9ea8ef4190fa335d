#include "packed/file_tiles.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "engines/cpu/team.hpp"
#include "faro/error.hpp"
#include "faro/layout/tile.hpp"
#include "io/buffer.hpp"
#include "packed/affine_words.hpp"
#include "packed/bit_axes.hpp"
#include "packed/bit_runs.hpp"
#include "packed/device_move.hpp"
#include "rounding.hpp"

namespace faro::packed {
namespace {

using detail::AxisMap;
using detail::StridedAxis;

[[noreturn]] void fail_verification(const std::string& mismatch) {
  fail(ErrorCode::verification, "permute packed elements", mismatch, "every element in its place");
}

// --- Boxes of axes

// One side of a box: rows of bits in the file, and where they begin in memory, each with a byte.
class BoxRows {
 public:
  BoxRows(const std::vector<StridedAxis>& axes, std::int64_t StridedAxis::*stride, std::int64_t first,
          std::uint64_t element_bits)
      : row_bits_(element_bits), lowest_(first), strides_(axes.size()) {
    std::vector<std::size_t> order(axes.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto length = [&](std::size_t i) { return static_cast<std::uint64_t>(std::abs(axes[i].*stride)); };
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return length(a) < length(b); });
    std::size_t next = 0;
    for (; next < order.size() && length(order[next]) == row_bits_; ++next) {
      strides_[order[next]] = axes[order[next]].*stride;
      row_bits_ *= axes[order[next]].extent;
    }
    std::uint64_t pitch = row_bytes() * kBitsOfByte;
    for (; next < order.size(); ++next) {
      const StridedAxis& axis = axes[order[next]];
      strides_[order[next]] = static_cast<std::int64_t>(axis.*stride < 0 ? -pitch : pitch);
      rows_.push_back(
          {.extent = axis.extent, .in = static_cast<std::int64_t>(length(order[next])), .out = 0});
      pitch *= axis.extent;
    }
    bytes_ = pitch / kBitsOfByte;
    for (std::size_t i = 0; i < axes.size(); ++i) {
      if (axes[i].*stride >= 0) continue;
      const auto steps = static_cast<std::int64_t>(axes[i].extent - 1);
      lowest_ += steps * (axes[i].*stride);
      first_ -= steps * strides_[i];
    }
  }

  std::uint64_t count() const { return detail::unit_count(rows_); }
  std::uint64_t row_bits() const { return row_bits_; }
  std::uint64_t row_bytes() const { return bytes_of_bits(row_bits_); }
  std::uint64_t bytes() const { return bytes_; }
  std::int64_t stride(std::size_t axis) const { return strides_[axis]; }  // in memory
  std::int64_t first() const { return first_; }

  // The bit of the file that row `number` begins with.
  std::uint64_t bit(std::uint64_t number) const {
    std::int64_t bit = lowest_;
    for (const StridedAxis& axis : rows_) {
      bit += static_cast<std::int64_t>(number % axis.extent) * axis.in;
      number /= axis.extent;
    }
    return static_cast<std::uint64_t>(bit);
  }

 private:
  std::uint64_t row_bits_;
  std::int64_t lowest_;  // bit of the file
  std::vector<StridedAxis> rows_;
  std::vector<std::int64_t> strides_;
  std::int64_t first_ = 0;
  std::uint64_t bytes_ = 0;
};

class BoxSweep {
 public:
  BoxSweep(const BitAxes& axes, const InputFile& in, io::OutputFile& out, const FileTiles& options)
      : axes_(axes), in_(in), out_(out), options_(options) {}

  // Extents of a box that the memory holds, of longer and longer rows on both sides; nothing where it holds
  // no element.
  std::optional<std::vector<std::uint64_t>> box_of(const AxisMap& part) const {
    std::vector<std::uint64_t> box(part.axes.size(), 1);
    if (!fits(part, box)) return std::nullopt;
    for (bool grown = true; grown;) {
      grown = false;
      const bool in_first =
          rows_of(part, box, &StridedAxis::in).row_bits() <= rows_of(part, box, &StridedAxis::out).row_bits();
      for (const bool of_in : {in_first, !in_first}) {
        grown = grow(part, box, of_in ? &StridedAxis::in : &StridedAxis::out);
        if (grown) break;
      }
    }
    return box;
  }

  void run(const AxisMap& part, const std::vector<std::uint64_t>& box) {
    std::vector<StridedAxis> grid;
    for (std::size_t i = 0; i < box.size(); ++i)
      grid.push_back({.extent = detail::ceil_div(part.axes[i].extent, box[i])});
    const std::uint64_t boxes = detail::unit_count(grid);
    for (std::uint64_t number = 0; number < boxes; ++number) {
      AxisMap cut = part;
      std::uint64_t rest = number;
      for (std::size_t i = 0; i < box.size(); ++i) {
        const std::uint64_t begin = rest % grid[i].extent * box[i];
        rest /= grid[i].extent;
        cut = detail::cut(cut, i, begin, std::min(box[i], part.axes[i].extent - begin));
      }
      move(cut);
    }
  }

 private:
  BoxRows rows_of(const AxisMap& part, const std::vector<std::uint64_t>& box,
                  std::int64_t StridedAxis::*stride) const {
    std::vector<StridedAxis> axes = part.axes;
    for (std::size_t i = 0; i < box.size(); ++i) axes[i].extent = box[i];
    return {axes, stride, 0, axes_.element_bits};
  }

  bool fits(const AxisMap& part, const std::vector<std::uint64_t>& box) const {
    return rows_of(part, box, &StridedAxis::in).bytes() + rows_of(part, box, &StridedAxis::out).bytes() <=
           options_.memory_bytes;
  }

  // The fastest axis of a side that is not whole gets twice as long.
  bool grow(const AxisMap& part, std::vector<std::uint64_t>& box, std::int64_t StridedAxis::*stride) const {
    std::optional<std::size_t> next;
    for (std::size_t i = 0; i < box.size(); ++i) {
      if (box[i] == part.axes[i].extent) continue;
      if (!next || std::abs(part.axes[i].*stride) < std::abs(part.axes[*next].*stride)) next = i;
    }
    if (!next) return false;
    std::vector<std::uint64_t> longer = box;
    longer[*next] = std::min(2 * box[*next], part.axes[*next].extent);
    if (!fits(part, longer)) return false;
    box = longer;
    return true;
  }

  void move(const AxisMap& box) {
    const BoxRows from(box.axes, &StridedAxis::in, box.in_first, axes_.element_bits);
    const BoxRows to(box.axes, &StridedAxis::out, box.out_first, axes_.element_bits);
    const io::Buffer in(from.bytes());
    const io::Buffer out(to.bytes());
    read(from, in.data());
    AxisMap map{.in_first = from.first(), .out_first = to.first()};
    for (std::size_t i = 0; i < box.axes.size(); ++i)
      map.axes.push_back({.extent = box.axes[i].extent, .in = from.stride(i), .out = to.stride(i)});
    BitAxes moved = axes_;
    moved.parts = {detail::normal_form(map)};
    move_axes(moved, in.data(), out.data(), false, options_.threads);
    if (options_.verify) verify(map, in.data(), out.data());
    write(to, out.data());
  }

  void read(const BoxRows& rows, std::byte* to) const {
    std::atomic<bool> read_all = true;
    cpu::share_out(rows.count(), options_.threads, [&](std::uint64_t begin, std::uint64_t end) {
      std::vector<std::byte> piece(rows.row_bytes() + 1);
      for (std::uint64_t row = begin; row < end; ++row) {
        const std::uint64_t bit = rows.bit(row);
        const std::uint64_t in_byte = bit % kBitsOfByte;
        const auto bytes = std::span(piece).first(bytes_of_bits(in_byte + rows.row_bits()));
        if (!in_.read(bytes, bit / kBitsOfByte)) read_all = false;
        load_run(piece.data(), in_byte, rows.row_bits(), axes_.in_order, to + row * rows.row_bytes());
      }
    });
    in_.require(read_all);
  }

  void write(const BoxRows& rows, const std::byte* from) {
    cpu::share_out(rows.count(), options_.threads, [&](std::uint64_t begin, std::uint64_t end) {
      std::vector<std::byte> piece(rows.row_bytes() + 1);
      for (std::uint64_t row = begin; row < end; ++row) {
        const std::uint64_t bit = rows.bit(row);
        const std::uint64_t in_byte = bit % kBitsOfByte;
        append_run(from + row * rows.row_bytes(), 0, rows.row_bits(), axes_.out_order, piece.data(), in_byte);
        write_row(piece, in_byte, rows.row_bits(), bit / kBitsOfByte);
      }
    });
  }

  // Bits of `row` from in_byte on to byte `at` of the output. What they share a byte with may be another
  // thread's, and is there already or comes later.
  void write_row(std::span<std::byte> row, std::uint64_t in_byte, std::uint64_t bits, std::uint64_t at) {
    const std::uint64_t bytes = bytes_of_bits(in_byte + bits);
    const std::uint64_t first = in_byte == 0 ? 0 : 1;
    const std::uint64_t last = (in_byte + bits) / kBitsOfByte;
    if (first < last) out_.write(row.subspan(first, last - first), options_.header_bytes + at + first);
    const std::lock_guard lock(shared_bytes_);
    for (std::uint64_t byte = 0; byte < bytes; byte = std::max(byte + 1, last)) {
      if (byte >= first && byte < last) continue;
      const std::uint64_t begin = std::max(byte * kBitsOfByte, in_byte);
      const std::uint64_t end = std::min((byte + 1) * kBitsOfByte, in_byte + bits);
      std::byte there{};
      const std::span<std::byte> one(&there, 1);
      const std::uint64_t place = options_.header_bytes + at + byte;
      if (io::read_at(out_.descriptor(), one, place).bytes != 1)
        fail(ErrorCode::file, out_.operation(), "a byte that cannot be read again",
             "as many as were reserved");
      store_placed_run(row.data(), begin, end - begin, axes_.out_order, &there, begin % kBitsOfByte, false);
      out_.write(one, place);
    }
  }

  // Bit by bit, by the strides.
  void verify(const AxisMap& map, const std::byte* in, const std::byte* out) const {
    const std::uint64_t count = detail::unit_count(map.axes);
    for (std::uint64_t x = 0; x < count; ++x) {
      std::uint64_t rest = x;
      std::int64_t from = map.in_first;
      std::int64_t to = map.out_first;
      for (const StridedAxis& axis : map.axes) {
        from += static_cast<std::int64_t>(rest % axis.extent) * axis.in;
        to += static_cast<std::int64_t>(rest % axis.extent) * axis.out;
        rest /= axis.extent;
      }
      const bool is_one = axes_.in_order == axes_.out_order;
      const std::uint32_t step = is_one ? 1 : axes_.element_bits;
      for (std::uint32_t k = 0; k < axes_.element_bits; k += step) {
        if (element_at(in, static_cast<std::uint64_t>(from) + k, step, axes_.in_order) !=
            element_at(out, static_cast<std::uint64_t>(to) + k, step, axes_.out_order))
          fail_verification("element " + std::to_string(x) + " of a box");
      }
    }
  }

  const BitAxes& axes_;
  const InputFile& in_;
  io::OutputFile& out_;
  const FileTiles& options_;
  std::mutex shared_bytes_;
};

// --- Tiles of affine maps

// The tile of longest segments that is held twice; nothing where segments of a byte are too long.
std::optional<layout::Tile> file_tile(const Affine& map, int below_byte, std::uint64_t memory_bytes) {
  for (int segment = map.bits(); segment >= below_byte; --segment) {
    layout::Tile tile = layout::make_tile(map, {.segment_bits = segment});
    if (f2::unit(tile.tile_bits() - below_byte) <= memory_bytes / 2) return tile;
  }
  return std::nullopt;
}

void move_file_tiles(const layout::Tile& tile, const PackedProblem& problem, const InputFile& in,
                     io::OutputFile& out, const FileTiles& options) {
  const int below_byte = bits_below_byte(problem.element_bits);
  const std::uint64_t segment = f2::unit(tile.segment_bits - below_byte);
  const std::uint64_t rows = f2::unit(tile.row_bits);
  const std::uint64_t array = f2::unit(tile.index_bits - below_byte);
  const io::Buffer from(rows * segment);
  const io::Buffer to(rows * segment);
  const f2::Word in_segment = f2::low_mask(tile.segment_bits);
  const auto each_row = [&](auto&& work) {
    cpu::share_out(rows, options.threads, [&](std::uint64_t begin, std::uint64_t end) {
      for (std::uint64_t row = begin; row < end; ++row) work(row);
    });
  };
  for (std::uint64_t i = 0; i < problem.batch << tile.block_bits(); ++i) {
    const f2::Word block = i & f2::low_mask(tile.block_bits());
    const std::uint64_t skipped = (i >> tile.block_bits()) * array;
    const std::uint64_t in_first = problem.in.first_bit / kBitsOfByte + skipped;
    const std::uint64_t out_first = options.header_bytes + problem.out.first_bit / kBitsOfByte + skipped;
    const f2::Word source = tile.block_source(block);
    const f2::Word target = tile.block_target(block);
    std::atomic<bool> read_all = true;
    each_row([&](std::uint64_t row) {
      const std::uint64_t at = in_first + ((source ^ tile.source_row(row)) >> below_byte);
      if (!in.read(from.span().subspan(row * segment, segment), at)) read_all = false;
    });
    in.require(read_all);
    const PackedPlan plan(
        {.permutation = Affine(tile.local, target & in_segment), .element_bits = problem.element_bits},
        {.threads = options.threads, .engine = Engine::cpu});
    plan.run(from.span(), to.span());
    if (options.verify) {
      const std::string mismatch =
          find_packed_mismatch(plan.problem(), from.span(), to.span(), options.threads);
      if (!mismatch.empty()) fail_verification(mismatch);
    }
    each_row([&](std::uint64_t row) {
      const f2::Word place = (target & ~in_segment) ^ tile.target_row(row);
      out.write(to.span().subspan(row * segment, segment), out_first + (place >> below_byte));
    });
  }
}

}  // namespace

bool permute_file_by_tiles(const PackedProblem& problem, const InputFile& in, io::OutputFile& out,
                           const FileTiles& options) {
  if (is_affine_array(problem)) {
    const Affine map = map_of_places(std::get<Affine>(problem.permutation), problem.element_bits,
                                     problem.in.order, problem.out.order);
    const auto tile = file_tile(map, bits_below_byte(problem.element_bits), options.memory_bytes);
    if (tile) move_file_tiles(*tile, problem, in, out, options);
    return tile.has_value();
  }
  const auto axes = bit_axes(problem);
  if (!axes || (elements_at_once(*axes) == 1 && !packs_bytes(problem.element_bits))) return false;
  BoxSweep sweep(*axes, in, out, options);
  std::vector<std::vector<std::uint64_t>> boxes;
  for (const AxisMap& part : axes->parts) {
    const auto box = sweep.box_of(part);
    if (!box) return false;
    boxes.push_back(*box);
  }
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    if (detail::unit_count(axes->parts[i].axes) != 0) sweep.run(axes->parts[i], boxes[i]);
  }
  return true;
}

}  // namespace faro::packed

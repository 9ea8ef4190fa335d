// The sweep of axes whose fastest is the same on both sides: runs of bits, copied at any offset, or turned
// round.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "packed/bit_runs.hpp"
#include "packed/bit_sweep.hpp"
#include "packed/squares.hpp"
#include "rounding.hpp"

namespace faro::packed {

inline constexpr std::uint64_t kRunBits = 8ULL * 16 * 1024;  // of a piece of a long run

// Runs that lie end to end in the output are brought together, a piece at a time that begins and ends where
// lines of memory do, as far as there is another one beside it.
class RunSweep {
 public:
  RunSweep(const BitAxes& axes, const detail::AxisMap& part, const std::byte* out)
      : axes_(axes),
        first_{.in = part.in_first, .out = part.out_first},
        out_bit_(reinterpret_cast<std::uintptr_t>(out) % kLineBytes * kBitsOfByte) {
    bits_ = part.axes.front().extent * axes.element_bits;
    const std::size_t last = end_to_end(part.axes, 1, bits_);
    runs_.assign(part.axes.begin() + 1, part.axes.begin() + static_cast<std::ptrdiff_t>(last));
    others_.assign(part.axes.begin() + static_cast<std::ptrdiff_t>(last), part.axes.end());
    stretch_bits_ = bits_ * detail::unit_count(runs_);
    backwards_ = part.axes.front().in < 0;
    const bool turns = axes.in_order != axes.out_order;
    turn_ = {.backwards = backwards_, .element_bits = backwards_ != turns ? axes.element_bits : 0};
    pieces_ = detail::ceil_div(stretch_bits_ + kLineBits - 1, kRunBits);
    ahead_ = detail::ceil_div(kBitsAhead, bits_);
  }

  std::uint64_t count() const { return detail::unit_count(others_) * pieces_; }
  static constexpr std::uint64_t buffer_bytes() { return 3 * kBufferBytes; }

  void move(const Arrays& arrays, std::uint64_t number, std::byte* buffer) const {
    const Place stretch = place_of(number / pieces_, others_, first_);
    const std::uint64_t into_line = (out_bit_ + static_cast<std::uint64_t>(stretch.out)) % kLineBits;
    const std::uint64_t piece = number % pieces_ * kRunBits;
    // Elements that may be turned are not cut, where they lie across bytes.
    const bool is_cut = !packs_bytes(axes_.element_bits);
    const std::uint64_t skew = is_cut ? into_line : into_line - into_line % axes_.element_bits;
    const std::uint64_t begin = std::max(piece, skew) - skew;
    const std::uint64_t end = std::min(piece + kRunBits - skew, stretch_bits_);
    if (begin >= end) return;
    const std::uint64_t first_place = (into_line + begin) % kLineBits;
    std::uint64_t at = first_place;
    std::uint64_t skipped = begin % bits_;  // of the first run
    for (std::uint64_t run = begin / bits_, left = end - begin; left != 0; ++run) {
      const std::uint64_t bits = std::min(bits_ - skipped, left);
      const Place place = place_of(run, runs_, stretch);
      if (bits_ < kRunBits && !runs_.empty()) fetch_ahead(arrays.in, place);
      append(arrays.in, static_cast<std::uint64_t>(place.in), skipped, bits, buffer, at);
      at += bits;
      left -= bits;
      skipped = 0;
    }
    store_placed_run(buffer, first_place, end - begin, axes_.out_order, arrays.out,
                     static_cast<std::uint64_t>(stretch.out) + begin, arrays.streamed);
  }

 private:
  static constexpr std::uint64_t kBitsAhead = 24 * kLineBits;
  static constexpr std::uint64_t kBufferBytes = kRunBits / kBitsOfByte + kLineBytes;

  // Of a run at `first` the bits from `skipped` on, in the output's order.
  void append(const std::byte* in, std::uint64_t first, std::uint64_t skipped, std::uint64_t bits,
              std::byte* buffer, std::uint64_t at) const {
    // Backwards from the last element on: it lies lowest.
    std::uint64_t from = backwards_ ? first + axes_.element_bits - skipped - bits : first + skipped;
    if (turn_.backwards || turn_.element_bits != 0) {
      std::byte* const loaded = buffer + 2 * kBufferBytes;
      if (from % axes_.element_bits != 0) {  // elements lie across bytes
        load_run(in, from, bits, axes_.in_order, loaded);
        in = loaded;
        from = 0;
      }
      in += from / kBitsOfByte;
      from %= kBitsOfByte;
      const std::uint64_t bytes = bytes_of_bits(from + bits);
      std::byte* const turned = buffer + kBufferBytes;
      turn_bytes(reinterpret_cast<const std::uint8_t*>(in), bytes, turn_,
                 reinterpret_cast<std::uint8_t*>(turned));
      if (backwards_) from = bytes * kBitsOfByte - from - bits;
      in = turned;
    }
    append_run(in, from, bits, axes_.out_order, buffer, at);
  }

  // The lines of a run that comes later.
  void fetch_ahead(const std::byte* in, const Place& run) const {
    const std::int64_t later = run.in + static_cast<std::int64_t>(ahead_) * runs_.front().in;
    const std::byte* const from = in + later / static_cast<std::int64_t>(kBitsOfByte);
    for (std::uint64_t byte = 0; byte < bits_ / kBitsOfByte + kLineBytes; byte += kLineBytes)
      __builtin_prefetch(from + byte);
  }

  const BitAxes& axes_;
  std::vector<detail::StridedAxis> runs_;    // end to end in the output
  std::vector<detail::StridedAxis> others_;  // stretches of such
  Place first_;
  std::uint64_t out_bit_;  // of the output's first byte, in its line of memory
  std::uint64_t bits_ = 0;
  std::uint64_t stretch_bits_ = 0;
  std::uint64_t pieces_ = 1;
  std::uint64_t ahead_ = 1;  // runs
  bool backwards_ = false;
  ByteTurn turn_;
};

}  // namespace faro::packed

// Rows that stay whole in every call of a family, whose other extents lie in the device's memory.
//
//     tokens x 8 x 128 of 2 bytes, heads first      rows of 256 bytes: 16 vectors each
//     axes of rows     8 and the tokens of this call, which its blocks read
//
// The boxes of axes_family.hpp go by lists that each block makes, after one thread has searched a box. Here a
// block needs no more than a stride on both sides and a divisor for each axis of the rows, a thread each, and
// then divides for each vector that it moves. Fewer than 2^31 of them: numbers are divided by a product.
#pragma once

#include <cstdint>

#include "kernels/axes_family.hpp"

namespace faro::kernels {

/// x / divisor for x < 2^31, as device::Division32, by one division instead of a long one.
struct RowDivision {
  std::uint32_t divisor = 1;
  std::uint32_t factor = std::uint32_t{1} << 31;
  std::uint32_t shift = 0;

  /// Requires: 1 <= by < 2^31.
  static constexpr RowDivision of(std::uint32_t by) {
    RowDivision made{.divisor = by};
    while (std::uint32_t{1} << made.shift < by) ++made.shift;
    const std::uint64_t scaled = std::uint64_t{1} << (31 + made.shift);
    made.factor = static_cast<std::uint32_t>((scaled + by - 1) / by);
    return made;
  }
  /// Leaves x % divisor in x and gives the quotient.
  constexpr std::uint32_t divide(std::uint32_t& x) const {
    const auto quotient = static_cast<std::uint32_t>(std::uint64_t{x << 1} * factor >> 32) >> shift;
    x -= quotient * divisor;
    return quotient;
  }
};

/// Moves a part of a family's call. An extent out of bounds moves nothing. Requires: units that divide the
/// rows of any call, of which the largest has fewer than 2^31.
template <int kUnitBytes>
struct MoveFamilyRows {
  using Unit = device::Packet<kUnitBytes>;
  static constexpr std::uint32_t kThreads = 256;
  static constexpr int kMinBlocks = 6;
  static constexpr std::uint32_t kAhead =
      kUnitBytes == 16 ? 4 : 8;  // units of a thread that are on their way

  FamilyForm form = {};
  FamilyExtents extents = {};
  std::uint32_t part = 0;
  const std::byte* in = nullptr;
  std::byte* out = nullptr;
  std::uint64_t grid = 1;

  constexpr std::uint64_t blocks() const { return grid; }
  constexpr std::uint32_t shared_bytes() const { return sizeof(Rows) + sizeof(FamilyView); }

  template <typename B>
  constexpr void operator()(B& block) const {
    auto& rows = *reinterpret_cast<Rows*>(block.shared());
    auto& view = *reinterpret_cast<FamilyView*>(block.shared() + sizeof(Rows));
    if (block.thread() == 0) look(rows, view);
    block.barrier();
    if (block.thread() < rows.axes) {
      const FamilyAxis& axis = view.axis[block.thread()];
      rows.axis[block.thread()] = {
          .extent = RowDivision::of(static_cast<std::uint32_t>(axis.extent)), .in = axis.in, .out = axis.out};
    }
    block.barrier();
    constexpr std::uint32_t together = kAhead * kThreads;
    for (std::uint64_t base = block.index() * together; base < rows.units; base += block.blocks() * together)
      move(rows, static_cast<std::uint32_t>(base) + block.thread());
  }

 private:
  struct Axis {
    RowDivision extent;
    std::int64_t in = 0;  // bytes
    std::int64_t out = 0;
  };
  struct alignas(16) Rows {
    Axis axis[kFamilyAxes + 1];  // the row's own first
    std::uint32_t axes = 0;
    std::uint32_t units = 0;
    std::int64_t in_first = 0;
    std::int64_t out_first = 0;
  };

  constexpr void look(Rows& rows, FamilyView& view) const {
    view = {};
    rows.axes = rows.units = 0;
    if (!family_view(form, extents, part, view)) return;
    normalise(view);
    if (view.axes == 1 && view.axis[0].extent == 0) return;
    if (cut_into_units(view, form.element_bytes, kUnitBytes) != kUnitBytes) return;
    std::uint64_t units = 1;
    for (int a = 0; a < view.axes; ++a) units *= view.axis[a].extent;
    rows.axes = static_cast<std::uint32_t>(view.axes);
    rows.units = static_cast<std::uint32_t>(units);
    rows.in_first = view.in_first;
    rows.out_first = view.out_first;
  }

  constexpr void move(const Rows& rows, std::uint32_t first) const {
    Unit unit[kAhead];
    std::int64_t to[kAhead];
    FARO_UNROLL
    for (std::uint32_t k = 0; k < kAhead; ++k) {
      std::uint32_t left = first + k * kThreads;
      if (left >= rows.units) continue;
      std::int64_t from = rows.in_first;
      to[k] = rows.out_first;
      FARO_NO_UNROLL
      for (std::uint32_t a = 0; a < rows.axes; ++a) {
        std::uint32_t digit = left;
        left = rows.axis[a].extent.divide(digit);
        from += static_cast<std::int64_t>(digit) * rows.axis[a].in;
        to[k] += static_cast<std::int64_t>(digit) * rows.axis[a].out;
      }
      unit[k] = *reinterpret_cast<const Unit*>(in + from);
    }
    FARO_UNROLL
    for (std::uint32_t k = 0; k < kAhead; ++k) {
      if (first + k * kThreads < rows.units) *reinterpret_cast<Unit*>(out + to[k]) = unit[k];
    }
  }
};

}  // namespace faro::kernels

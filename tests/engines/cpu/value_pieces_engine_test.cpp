// A view with arithmetic in pieces, as a device would be given them: gathered, changed and scattered by the
// CPU's engine, against the view as a whole, bit by bit. What lies between the numbers stays as it is.
#include <gtest/gtest.h>

#include <vector>

#include "drawn_views.hpp"
#include "engines/cpu.hpp"
#include "engines/cpu/values/value_sweep.hpp"
#include "faro/faro.hpp"
#include "number_support.hpp"
#include "plan/value_pieces.hpp"
#include "plan/value_plan.hpp"

namespace faro::value_pieces_test {

using detail::ValuePiece;
using detail::ValuePieces;
using detail::ValuePlan;
using test::below;
using test::draw_factors;
using test::draw_view;
using testing::SplitMix64;
using Bytes = std::vector<std::byte>;

Bytes random_numbers(std::uint64_t bytes, SplitMix64& random) {
  Bytes made(bytes + 64);
  for (std::byte& byte : made) byte = static_cast<std::byte>(random());
  return made;
}

void sweep(const ValuePlan& plan, const std::byte* in, const std::byte* addend, std::byte* out) {
  cpu::ValueSweep(plan, cpu::target(1)).run(in, addend, out);
}

// Returns the pieces.
std::uint64_t run_pieces(const ValuePlan& plan, std::uint64_t piece_bytes, const std::byte* in,
                         const std::byte* addend, std::byte* out) {
  const ValuePieces pieces(plan, piece_bytes, cpu::target(1));
  for (std::uint64_t k = 0; k < pieces.count(); ++k) {
    const ValuePiece piece = pieces.piece(k);
    Bytes of_in(pieces.in_bytes());
    Bytes of_addend(pieces.addend_bytes());
    Bytes of_out(pieces.out_bytes());
    sweep(piece.gathered, in, nullptr, of_in.data());
    if (piece.gathered_addend) sweep(*piece.gathered_addend, addend, nullptr, of_addend.data());
    sweep(piece.changed, of_in.data(), piece.gathered_addend ? of_addend.data() : nullptr, of_out.data());
    sweep(piece.scattered, of_out.data(), nullptr, out);
  }
  return pieces.count();
}

TEST(ValuePieces, DrawnViewsAsAWhole) {
  constexpr Number kFrom[] = {Number::u8, Number::f32, Number::bf16, Number::f64, Number::c128, Number::i16};
  constexpr Number kTo[] = {Number::f32, Number::bf16, Number::i32, Number::c128, Number::u8};
  int cut = 0;
  int added = 0;
  int factors = 0;
  for (std::uint64_t i = 0; i < 400 && !::testing::Test::HasFailure(); ++i) {
    SplitMix64 random{i * 6151 + 3};
    SCOPED_TRACE("seed " + std::to_string(i));
    const Strided view = draw_view(random);
    Arithmetic of{.from = kFrom[below(random, std::size(kFrom))], .to = kTo[below(random, std::size(kTo))]};
    if (below(random, 3) == 0 && !view.extents.empty()) of.scale = draw_factors(random, view);
    if (below(random, 3) == 0 && !view.extents.empty()) of.offset = draw_factors(random, view);
    of.in_swapped = below(random, 4) == 0;
    if (below(random, 3) == 0) {
      of.addend = Addend{.number = below(random, 2) == 0 ? of.to : Number::i16, .beta = 0.5};
      if (below(random, 2) == 0) {
        of.addend->strides = view.in_strides;
        for (std::int64_t& stride : of.addend->strides) stride = std::abs(stride);
      }
    }
    const auto whole = plan(view, of, {.engine = Engine::cpu, .threads = 1});
    if (element_count(view) == 0) continue;
    const Bytes in = random_numbers(whole.in_count() * bytes_of(of.from), random);
    const std::uint64_t addend_bytes = of.addend ? whole.addend_count() * bytes_of(of.addend->number) : 0;
    const Bytes addend = random_numbers(addend_bytes, random);
    const bool accumulates =
        of.addend && of.addend->strides.empty() && of.addend->number == of.to && below(random, 2) == 0;
    Bytes wanted = random_numbers(whole.out_count() * bytes_of(of.to), random);
    Bytes out = wanted;
    const auto other = [&](const Bytes& result) {
      return !of.addend ? nullptr : accumulates ? result.data() : addend.data();
    };
    whole.run({in.data(), whole.in_count()}, wanted.data(), whole.out_count(),
              {other(wanted), whole.addend_count()});
    const ValuePlan made = detail::make_value_plan(view, of, cpu::target(1));
    const std::uint64_t most = std::uint64_t{16} << below(random, 12);
    const std::uint64_t pieces = run_pieces(made, most, in.data(), other(out), out.data());
    ASSERT_TRUE(out == wanted) << to_text(view) << ": " << to_text(of) << " in " << pieces << " pieces";
    cut += pieces > 1 ? 1 : 0;
    added += pieces > 1 && of.addend ? 1 : 0;
    factors += pieces > 1 && (of.scale.axis || of.offset.axis) ? 1 : 0;
  }
  EXPECT_GT(cut, 100);
  EXPECT_GT(added, 20);
  EXPECT_GT(factors, 20);
}

// Runs of both sides stay long: a square is cut into squares.
TEST(ValuePieces, SquaresOfATranspose) {
  constexpr std::uint64_t kSide = 4096;
  const Strided view{.extents = {kSide, kSide}, .in_strides = {1, kSide}, .out_strides = {kSide, 1}};
  const auto made = detail::make_value_plan(view, Arithmetic{.to = Number::f32}, cpu::target(1));
  const ValuePieces pieces(made, 8 << 20, cpu::target(1));
  EXPECT_EQ(pieces.count(), 16U);
  EXPECT_EQ(pieces.in_bytes(), 4U << 20);
  EXPECT_EQ(pieces.piece(5).changed.axes.at(0).extent, 1024U);
}

}  // namespace faro::value_pieces_test

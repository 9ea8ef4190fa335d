// Arrays of structures through registers, on a warp that runs on the CPU: the closed forms, every size of
// struct, tails of every length, any indices, and how many sectors each access touches.
// Sanitized: never, long to compile.
#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "aos_warp_support.hpp"
#include "faro/device/aos.hpp"

namespace faro::testing {
namespace device_aos_test {

using device::aos::ColumnRowColumn;
using device::aos::Exchange;
using device::aos::Method;
using device::aos::Registers;
using device::aos::RowColumnRow;
using device::aos::Shape;

using Grid = std::vector<std::vector<std::uint32_t>>;

template <int W, int units>
Grid grid_of(const Registers<EmulatedWarp<W>, 4, units>& registers) {
  Grid grid;
  for (const auto& row : registers.unit) {
    grid.emplace_back();
    for (const auto& packet : row.of) grid.back().push_back(packet.unit[0]);
  }
  return grid;
}

// Word l of memory is l.
template <int W, int units, Method method>
Registers<EmulatedWarp<W>, 4, units> as_read(const EmulatedWarp<W>& warp) {
  Registers<EmulatedWarp<W>, 4, units> registers;
  for (std::uint32_t i = 0; i < units; ++i) {
    const auto column = Exchange<method>::template column<EmulatedWarp<W>, units>(warp.lane(), i);
    for (std::size_t t = 0; t < W; ++t) registers.unit[i][t].unit[0] = column[t] + i * W;
  }
  return registers;
}

const Grid kWanted{{0, 4, 8, 12, 16, 20, 24, 28},
                   {1, 5, 9, 13, 17, 21, 25, 29},
                   {2, 6, 10, 14, 18, 22, 26, 30},
                   {3, 7, 11, 15, 19, 23, 27, 31}};

TEST(DeviceAos, TheStepsOfRowColumnRowByHand) {
  using Rcr = Exchange<Method::row_column_row>;
  const EmulatedWarp<8> warp;
  auto registers = as_read<8, 4, Method::row_column_row>(warp);
  const Grid read{{0, 1, 2, 3, 4, 5, 6, 7},
                  {11, 8, 9, 10, 15, 12, 13, 14},
                  {18, 19, 16, 17, 22, 23, 20, 21},
                  {25, 26, 27, 24, 29, 30, 31, 28}};
  EXPECT_EQ(grid_of(registers), read);
  Rcr::sort_units(warp, registers);
  const Grid sorted{{0, 8, 16, 24, 4, 12, 20, 28},
                    {25, 1, 9, 17, 29, 5, 13, 21},
                    {18, 26, 2, 10, 22, 30, 6, 14},
                    {11, 19, 27, 3, 15, 23, 31, 7}};
  EXPECT_EQ(grid_of(registers), sorted);
  Rcr::unsort_units(warp, registers);
  EXPECT_EQ(grid_of(registers), read);
  Rcr::collect(warp, registers);
  EXPECT_EQ(grid_of(registers), kWanted);
  Rcr::spread(warp, registers);
  EXPECT_EQ(grid_of(registers), read);
}

TEST(DeviceAos, TheStepsOfColumnRowColumnByHand) {
  using C2r = Exchange<Method::column_row_column>;
  const EmulatedWarp<8> warp;
  auto registers = as_read<8, 4, Method::column_row_column>(warp);
  const Grid read = grid_of(registers);
  EXPECT_EQ(read[1], (std::vector<std::uint32_t>{8, 9, 10, 11, 12, 13, 14, 15}));
  // After columns, then rows, of the published grids: rows of the second come by these lanes.
  const auto lane = warp.lane();
  const auto from = ColumnRowColumn<4, 8>::holder(lane, 1);
  const std::vector<std::uint32_t> columns{24, 1, 10, 19, 28, 5, 14, 23};
  const std::vector<std::uint32_t> rows{1, 5, 10, 14, 19, 23, 24, 28};
  for (std::size_t u = 0; u < 8; ++u) EXPECT_EQ(columns[from[u] % 8], rows[u]);
  C2r::collect(warp, registers);
  EXPECT_EQ(grid_of(registers), kWanted);
  C2r::spread(warp, registers);
  EXPECT_EQ(grid_of(registers), read);
}

// The closed forms of the header against what they are for: unit uS + r of memory at lane u, register r.
template <int W, int units>
void check_closed_forms() {
  SCOPED_TRACE("S " + std::to_string(units) + ", W " + std::to_string(W));
  using Rcr = RowColumnRow<units, W>;
  using C2r = ColumnRowColumn<units, W>;
  constexpr std::uint32_t S = units;
  for (std::uint32_t t = 0; t < W; ++t) {
    std::set<std::uint32_t> registers_of_rcr;
    std::set<std::uint32_t> registers_of_c2r;
    for (std::uint32_t r = 0; r < S; ++r) {
      // (2) in the form of the literature: one register from one register.
      const std::uint32_t q = r % Rcr::c;
      const std::uint32_t p = r / Rcr::c;
      const std::uint32_t difference = p + W * Rcr::a - t / Rcr::c;
      const std::uint32_t from = Rcr::a * ((t + Rcr::c - q) % Rcr::c) + difference * Rcr::b_inverse % Rcr::a;
      ASSERT_TRUE(registers_of_rcr.insert(from).second && from < S);
      const std::uint32_t unit = W * from + Rcr::column(t, from);
      ASSERT_EQ(unit % S, r);
      ASSERT_EQ(unit / S, Rcr::owner(t, r));
      ASSERT_EQ(Rcr::holder(unit / S, r) % W, t);
      const std::uint32_t k = r;
      const std::uint32_t in_c2r = C2r::g((t + W * S - k) % S);
      ASSERT_TRUE(registers_of_c2r.insert(in_c2r).second && in_c2r < S);
      const std::uint32_t owner = (W * in_c2r + t) / S;
      ASSERT_EQ(C2r::taker(t, k), owner);
      ASSERT_EQ(C2r::holder(owner, k) % W, t);
      ASSERT_EQ((W * in_c2r + t) % S, (k + owner / C2r::b) % S);
    }
  }
  for (std::uint32_t i = 0; i < S; ++i) {
    std::set<std::uint32_t> columns;
    for (std::uint32_t t = 0; t < W; ++t) columns.insert(Rcr::column(t, i));
    ASSERT_EQ(columns.size(), static_cast<std::size_t>(W));
    ASSERT_EQ(*columns.rbegin(), W - 1U);
  }
}

template <int W, int... sizes>
void check_all_closed_forms(std::integer_sequence<int, sizes...>) {
  (check_closed_forms<W, sizes + 1>(), ...);
}

TEST(DeviceAos, ClosedFormsOfEverySizeAndWarp) {
  check_all_closed_forms<8>(std::make_integer_sequence<int, 32>());
  check_all_closed_forms<16>(std::make_integer_sequence<int, 32>());
  check_all_closed_forms<32>(std::make_integer_sequence<int, 64>());
  check_all_closed_forms<64>(std::make_integer_sequence<int, 16>());
  check_all_closed_forms<1>(std::make_integer_sequence<int, 4>());
}

constexpr int ceil_log2(std::uint32_t x) {
  int steps = 0;
  while (1U << steps < x) ++steps;
  return steps;
}

template <typename S, bool whole, int W>
void check_load_and_store(std::uint32_t structs, std::size_t first_struct) {
  constexpr auto size = static_cast<std::size_t>(S::bytes) * S::units;
  Zone array(size * (W + first_struct));
  array.draw(S::units + structs);
  EmulatedWarp<W> warp;
  std::byte* const first = array.data() + first_struct * size;
  warp.allow(first, size * structs);
  const auto loaded = device::aos::load_rows<S, whole>(warp, first, structs);
  for (std::size_t u = 0; u < W; ++u) {
    std::vector<std::byte> expected(size);
    if (u < structs) std::memcpy(expected.data(), first + u * size, size);
    ASSERT_EQ(struct_of(loaded, u), expected) << "lane " << u << " of " << structs;
  }

  Zone copy(array.size());
  EmulatedWarp<W> other;
  std::byte* const target = copy.data() + first_struct * size;
  other.allow(target, size * structs);
  device::aos::store_rows<S, whole>(other, target, structs, loaded);
  ASSERT_EQ(std::memcmp(target, first, size * structs), 0);

  for (const auto* sectors : {&warp.counts().load_sectors, &other.counts().store_sectors}) {
    ASSERT_EQ(sectors->size(), static_cast<std::size_t>(S::units));
    if (!whole) continue;
    const int fewest = W * S::bytes / 32;
    const bool is_aligned = first_struct * size % 32 == 0;
    for (const int count : *sectors) ASSERT_LE(count, fewest + (is_aligned ? 0 : 1));
  }
  if (S::units == 1) {
    ASSERT_EQ(warp.counts().shuffles + other.counts().shuffles, 0);
    return;
  }
  constexpr int words = static_cast<int>(size / 4);
  using Sizes = RowColumnRow<S::units, W>;
  const int steps = S::method == Method::row_column_row
                        ? ceil_log2(Sizes::c) + ceil_log2(Sizes::a)
                        : ceil_log2(static_cast<std::uint32_t>(S::units)) + ceil_log2(Sizes::c);
  for (const WarpCounts* counts : {&warp.counts(), &other.counts()}) {
    ASSERT_EQ(counts->shuffles, words);
    ASSERT_EQ(counts->selects, words * steps);
  }
}

template <typename S, int W>
void check_contiguous() {
  SCOPED_TRACE(std::to_string(S::units) + " units of " + std::to_string(S::bytes) + ", W " +
               std::to_string(W) + ", method " + std::to_string(static_cast<int>(S::method)));
  check_load_and_store<S, true, W>(W, 0);
  check_load_and_store<S, true, W>(W, 3);
  for (std::uint32_t structs = 0; structs <= W; ++structs) check_load_and_store<S, false, W>(structs, 0);
  check_load_and_store<S, false, W>(W - 1, 5);
}

template <int W, int bytes, Method method, int... sizes>
void check_all_contiguous(std::integer_sequence<int, sizes...> /*from 0*/) {
  (check_contiguous<Shape<bytes, sizes + 1, method>, W>(), ...);
}

TEST(DeviceAos, LoadsAndStoresOfEverySizeWithTailsOfEveryLength) {
  check_all_contiguous<32, 4, Method::row_column_row>(std::make_integer_sequence<int, 32>());
  check_all_contiguous<32, 8, Method::row_column_row>(std::make_integer_sequence<int, 4>());
  check_contiguous<Shape<8, 15, Method::row_column_row>, 32>();
  check_contiguous<Shape<8, 16, Method::row_column_row>, 32>();
  check_all_contiguous<32, 16, Method::row_column_row>(std::make_integer_sequence<int, 8>());
}

TEST(DeviceAos, ColumnRowColumn) {
  constexpr std::integer_sequence<int, 0, 1, 2, 3, 5, 7, 9, 11, 15, 23, 29, 30, 31> one_less;
  check_all_contiguous<32, 4, Method::column_row_column>(one_less);
  check_contiguous<Shape<8, 6, Method::column_row_column>, 32>();
  check_contiguous<Shape<16, 8, Method::column_row_column>, 32>();
}

TEST(DeviceAos, OtherWarps) {
  check_all_contiguous<8, 4, Method::row_column_row>(std::make_integer_sequence<int, 12>());
  check_contiguous<Shape<4, 16, Method::row_column_row>, 8>();
  check_contiguous<Shape<4, 12, Method::row_column_row>, 16>();
  check_contiguous<Shape<4, 12, Method::column_row_column>, 16>();
  check_contiguous<Shape<4, 16, Method::column_row_column>, 8>();
}

struct Plain {
  float value[6];
};
struct alignas(8) Doubles {
  double value[3];
};
struct alignas(16) Quads {
  float value[4];
};

TEST(DeviceAos, UnitsFollowFromTheAlignment) {
  using device::aos::Layout;
  static_assert(Layout<Plain>::unit_bytes == 4 && Layout<Plain>::units == 6);
  static_assert(Layout<Plain, 8>::unit_bytes == 8 && Layout<Plain, 8>::units == 3);
  static_assert(Layout<Plain, 16>::unit_bytes == 8);  // 24 bytes are no multiple of 16
  static_assert(Layout<Doubles>::unit_bytes == 8 && Layout<Doubles>::units == 3);
  static_assert(Layout<Quads>::unit_bytes == 16 && Layout<Quads>::units == 1);
  static_assert(Layout<Quads, 4>::units == 4);
  static_assert(Layout<Quads, 128>::units == 1);
  static_assert(device::aos::kBestMethod<Quads, 4> == Method::column_row_column);
  static_assert(device::aos::kBestMethod<Plain, 4> == Method::row_column_row);
}

}  // namespace device_aos_test
}  // namespace faro::testing

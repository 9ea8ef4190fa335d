// Layouts: the fragments that have names against the formulas that are published for them, and their texts.
#include <gtest/gtest.h>

#include <fstream>
#include <functional>

#include "emitted/emitted_library.hpp"  // ScratchDirectory
#include "faro/error.hpp"
#include "refusal.hpp"
#include "swizzle_exchange_support.hpp"

namespace faro::testing {
namespace swizzle_exchange_layout_test {

using namespace exchange;

struct Place {
  int row = 0;
  int column = 0;
};
using Formula = std::function<Place(int lane, int i)>;

// Formulas as the PTX ISA has them, with groupID = lane >> 2 and threadID_in_group = lane % 4.
void expect_formula(const std::string& name, int element, const Formula& formula) {
  const Layout layout = parse_layout(name, element);
  const int columns = 1 << layout.axes.back().bits;
  const int elements = 1 << layout.element_bits();
  for (int lane = 0; lane < 1 << layout.lanes.size(); ++lane) {
    for (int i = 0; i < 1 << layout.registers.size(); ++i) {
      const Place place = formula(lane, i);
      ASSERT_LT(place.row * columns + place.column, elements);
      ASSERT_EQ(layout.element(static_cast<f2::Word>(i), static_cast<f2::Word>(lane)),
                static_cast<f2::Word>(place.row * columns + place.column))
          << name << ", lane " << lane << ", element " << i;
    }
  }
}

TEST(ExchangeLayout, FragmentsOfMma) {
  const auto group = [](int lane) { return lane >> 2; };
  const auto thread = [](int lane) { return lane % 4; };
  for (const int element : {8, 16, 32}) {
    expect_formula("mma.m16n8.C", element, [&](int lane, int i) {
      return Place{i < 2 ? group(lane) : group(lane) + 8, thread(lane) * 2 + (i & 1)};
    });
  }
  expect_formula("mma.m16n8k8.A", 16, [&](int lane, int i) {
    return Place{i < 2 ? group(lane) : group(lane) + 8, thread(lane) * 2 + (i & 1)};
  });
  expect_formula("mma.m16n8k8.B", 16, [&](int lane, int i) {
    return Place{thread(lane) * 2 + i, group(lane)};
  });
  expect_formula("mma.m16n8k16.A", 16, [&](int lane, int i) {
    const bool is_upper = (0 <= i && i < 2) || (4 <= i && i < 6);
    return Place{is_upper ? group(lane) : group(lane) + 8, thread(lane) * 2 + (i & 1) + (i < 4 ? 0 : 8)};
  });
  expect_formula("mma.m16n8k16.B", 16, [&](int lane, int i) {
    return Place{thread(lane) * 2 + (i & 1) + (i < 2 ? 0 : 8), group(lane)};
  });
  expect_formula("mma.m16n8k16.A", 8, [&](int lane, int i) {
    return Place{i < 4 ? group(lane) : group(lane) + 8, thread(lane) * 4 + (i & 3)};
  });
  expect_formula("mma.m16n8k16.B", 8, [&](int lane, int i) {
    return Place{thread(lane) * 4 + i, group(lane)};
  });
  expect_formula("mma.m16n8k32.A", 8, [&](int lane, int i) {
    const bool is_upper = (0 <= i && i < 4) || (8 <= i && i < 12);
    return Place{is_upper ? group(lane) : group(lane) + 8, thread(lane) * 4 + (i & 3) + (i < 8 ? 0 : 16)};
  });
  expect_formula("mma.m16n8k32.B", 8, [&](int lane, int i) {
    return Place{thread(lane) * 4 + (i & 3) + (i < 4 ? 0 : 16), group(lane)};
  });
  expect_formula("mma.m16n8k4.A", 32, [&](int lane, int i) {
    return Place{i == 0 ? group(lane) : group(lane) + 8, thread(lane)};
  });
  expect_formula("mma.m16n8k4.B", 32, [&](int lane, int) { return Place{thread(lane), group(lane)}; });
  expect_formula("mma.m16n8k8.A", 32, [&](int lane, int i) {
    return Place{i == 0 || i == 2 ? group(lane) : group(lane) + 8, i < 2 ? thread(lane) : thread(lane) + 4};
  });
  expect_formula("mma.m16n8k8.B", 32, [&](int lane, int i) {
    return Place{i == 0 ? thread(lane) : thread(lane) + 4, group(lane)};
  });
  expect_formula("mma.m8n8k4.A", 64, [&](int lane, int) { return Place{group(lane), thread(lane)}; });
  expect_formula("mma.m8n8k4.B", 64, [&](int lane, int) { return Place{thread(lane), group(lane)}; });
  expect_formula("mma.m8n8k4.C", 64, [&](int lane, int i) {
    return Place{group(lane), thread(lane) * 2 + i};
  });
}

TEST(ExchangeLayout, FragmentsOfLdmatrix) {
  for (const int matrices : {1, 2, 4}) {
    const std::string x = ".x" + std::to_string(matrices);
    for (const std::string instruction : {"ldmatrix", "stmatrix"}) {
      // Rows of all matrices behind one another.
      expect_formula(instruction + x, 16, [](int lane, int i) {
        return Place{8 * (i / 2) + lane / 4, 2 * (lane % 4) + i % 2};
      });
      expect_formula(instruction + x + ".trans", 16, [](int lane, int i) {
        return Place{8 * (i / 2) + 2 * (lane % 4) + i % 2, lane / 4};
      });
    }
  }
}

TEST(ExchangeLayout, FragmentsOfWgmma) {
  for (const int n : {8, 32, 256}) {
    const Layout layout = parse_layout("wgmma.m64n" + std::to_string(n) + ".C", 32);
    ASSERT_EQ(layout.registers.size(),
              static_cast<std::size_t>(f2::trailing_bit(static_cast<f2::Word>(n / 2))));
    for (int thread = 0; thread < 128; ++thread) {
      for (int i = 0; i < n / 2; ++i) {
        const int row = 16 * (thread / 32) + thread % 32 / 4 + 8 * (i / 2 % 2);
        const int column = 8 * (i / 4) + 2 * (thread % 4) + i % 2;
        ASSERT_EQ(layout.element(static_cast<f2::Word>(i), static_cast<f2::Word>(thread % 32),
                                 static_cast<f2::Word>(thread / 32)),
                  static_cast<f2::Word>(row * n + column));
      }
    }
  }
  const Layout a = parse_layout("wgmma.m64k16.A", 16);
  const Layout of_mma = parse_layout("mma.m16n8k16.A", 16);
  for (f2::Word warp = 0; warp < 4; ++warp)
    for (f2::Word lane = 0; lane < 32; ++lane)
      for (f2::Word i = 0; i < 8; ++i)
        ASSERT_EQ(a.element(i, lane, warp), of_mma.element(i, lane) + 16 * 16 * warp);
}

// Quad pairs of SM70, .f16: a product of eight lanes each, of which four are above lane 16.
TEST(ExchangeLayout, FragmentsOfVolta) {
  const auto quad_pair = [](int lane) { return lane % 16 / 4; };
  const auto half = [](int lane) { return lane < 16 ? 0 : 4; };
  expect_formula("mma.m8n8k4.A.row", 16, [&](int lane, int i) {
    return Place{8 * quad_pair(lane) + lane % 4 + half(lane), i};
  });
  expect_formula("mma.m8n8k4.A.col", 16, [&](int lane, int i) {
    return Place{8 * quad_pair(lane) + i + half(lane), lane % 4};
  });
  expect_formula("mma.m8n8k4.B.row", 16, [&](int lane, int i) {
    return Place{4 * quad_pair(lane) + lane % 4, i + half(lane)};
  });
  expect_formula("mma.m8n8k4.B.col", 16, [&](int lane, int i) {
    return Place{4 * quad_pair(lane) + i, lane % 4 + half(lane)};
  });
  expect_formula("mma.m8n8k4.C", 16, [&](int lane, int i) {
    return Place{8 * quad_pair(lane) + lane % 4 + half(lane), i};
  });
  expect_formula("mma.m8n8k4.C", 32, [&](int lane, int i) {
    const int x = (lane & 1) + (i & 2);
    return Place{8 * quad_pair(lane) + x + half(lane), (i & 4) + (lane & 2) + (i & 1)};
  });
}

TEST(ExchangeLayout, OtherMachines) {
  expect_formula("mfma.16x16.C", 32, [](int lane, int i) { return Place{4 * (lane / 16) + i, lane % 16}; });
  expect_formula("mfma.16x16x16.A", 16, [](int lane, int i) {
    return Place{lane % 16, 4 * (lane / 16) + i};
  });
  expect_formula("mfma.16x16x16.B", 16, [](int lane, int i) {
    return Place{4 * (lane / 16) + i, lane % 16};
  });
  expect_formula("mfma.32x32.C", 32, [](int lane, int i) {
    return Place{8 * (i / 4) + 4 * (lane / 32) + i % 4, lane % 32};
  });
  expect_formula("mfma.32x32x8.A", 16, [](int lane, int i) { return Place{lane % 32, 4 * (lane / 32) + i}; });
  expect_formula("xmx.m8n16.C", 32, [](int lane, int i) { return Place{i, lane}; });
  expect_formula("xmx.m8n16k16.A", 16, [](int lane, int i) { return Place{i, lane}; });
  // Intel's CuTe counts halves of the register file, half 16 v + t being value v of lane t; words of a lane
  // are 16 apart in it.
  const Layout b = parse_layout("xmx.m8n16k16.B", 16);
  for (f2::Word half = 0; half < 256; ++half) {
    const f2::Word t = half % 16;
    const f2::Word v = half / 16;
    const f2::Word k = t % 2 + 2 * (v / 2);
    const f2::Word n = t / 2 + 8 * (v % 2);
    EXPECT_EQ(b.element(2 * (half / 32) + half % 2, half / 2 % 16), 16 * k + n) << half;
  }
  expect_formula("tcgen05.16x64b.x2", 32, [](int lane, int i) {
    return Place{8 * (lane % 2) + lane / 4, 2 * i + lane / 2 % 2};
  });
  expect_formula("tcgen05.16x256b.x2", 32, [](int lane, int i) {
    return Place{lane / 4 + 8 * (i / 2 % 2), 8 * (i / 4) + 2 * (lane % 4) + i % 2};
  });
}

TEST(ExchangeLayout, TextsComeBack) {
  int with_cute = 0;
  for (const auto& [layout, element] : all_named_layouts()) {
    for (const std::string& text : {to_text(layout), to_cute(layout)}) {
      if (text.empty() || (text != to_text(layout) && layout.lanes.size() != 5)) continue;
      with_cute += text == to_text(layout) ? 0 : 1;
      const Layout back = parse_layout(text, element);
      EXPECT_EQ(back.registers, layout.registers) << text;
      EXPECT_EQ(back.lanes, layout.lanes) << text;
      EXPECT_EQ(back.warps, layout.warps) << text;
      EXPECT_EQ(back.element_bits(), layout.element_bits()) << text;
    }
  }
  EXPECT_GT(with_cute, 30);
  std::mt19937_64 random(1);
  for (int round = 0; round < 100; ++round) {
    const Layout layout = random_layout(static_cast<int>(random() % 6), 5, random);
    const Layout back = parse_layout(to_text(layout), 32);
    EXPECT_EQ(back.matrix(), layout.matrix()) << to_text(layout);
  }
}

// Every form by its definition, element by element.
TEST(ExchangeLayout, Forms) {
  const Layout strided = parse_layout("strided(8)", 32);
  const Layout contiguous = parse_layout("contiguous(8)", 32);
  const Layout blocked = parse_layout("blocked(1x4, 8x4, 2x1)", 32);
  const Layout cute = parse_layout("((4,8),(2,2)):((32,1),(16,8)) @ (16,8)", 32);
  const Layout triton = parse_layout(
      "#ttg.linear<{register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [], "
      "block = []}>",
      32);
  const Layout swizzled = parse_layout("Swizzle<2,0,3> o (32,8):(8,1)", 32);
  const Layout printed = parse_layout("S<2,0,3> o 0 o (32,8):(8,1)", 32);  // as CuTe's Python prints it
  const Layout tiled = parse_layout("mma.m16n8.C[32x16]", 32);
  const Layout turned = parse_layout("trans(mma.m16n8.C)", 32);
  const Layout c = parse_layout("mma.m16n8.C", 32);
  for (f2::Word lane = 0; lane < 32; ++lane) {
    for (f2::Word r = 0; r < 8; ++r) {
      EXPECT_EQ(strided.element(r, lane), 32 * r + lane);
      EXPECT_EQ(contiguous.element(r, lane), 8 * lane + r);
      const f2::Word number = 8 * lane + r;
      EXPECT_EQ(swizzled.element(r, lane), number ^ (number >> 3 & 3));
    }
    for (f2::Word r = 0; r < 4; ++r) {
      for (f2::Word warp = 0; warp < 2; ++warp)
        EXPECT_EQ(blocked.element(r, lane, warp), 16 * (8 * warp + lane / 4) + 4 * (lane % 4) + r);
      EXPECT_EQ(cute.element(r, lane), c.element(r, lane));
      EXPECT_EQ(triton.element(r, lane), c.element(r, lane));
      const f2::Word x = c.element(r, lane);
      EXPECT_EQ(turned.element(r, lane), x % 8 * 16 + x / 8);
      for (f2::Word tile = 0; tile < 4; ++tile)
        EXPECT_EQ(tiled.element(r | tile << 2, lane), (x / 8 + tile / 2 * 16) * 16 + x % 8 + tile % 2 * 8);
    }
  }
  EXPECT_EQ(printed.matrix(), swizzled.matrix());
  EXPECT_EQ(parse_layout("matrix(1, 1, 0: 01 10)", 8).matrix().column(0), 2U);
}

TEST(ExchangeLayout, Files) {
  const ScratchDirectory scratch;
  const std::string path = (scratch.path() / "own.layout").string();
  const auto write = [&](const std::string& text) { std::ofstream(path) << text; };
  write("source here\nlayout mine\nelement 16\naxes m 2, n 4\nregister (1,0)\nlane (0,1) (0,2)\n");
  const Layout layout = parse_layout("@" + path, 16);
  EXPECT_EQ(layout.registers, (std::vector<f2::Word>{4}));
  EXPECT_EQ(layout.lanes, (std::vector<f2::Word>{1, 2}));
  for (const char* wrong :
       {"layout mine\nelement 16\naxes m 2\n", "source a\nlayout mine\nelement 16\n",
        "source a\nelement 16\n", "source a\nlayout mine\nelement 16\naxes m 2\nlane (2)\n",
        "source a\nlayout mine\nelement 16\naxes m 3\n", "source a\nlayout mi*e\nelement 16\naxes m 2\n",
        "source a\nlayout mine\nelement 16\naxes m 2\nlane (1\n",
        "source a\nlayout mine\nelement 16\naxes m 2\nlanes (1)\n", ""}) {
    write(wrong);
    EXPECT_EQ(test::code_of([&] { parse_layout("@" + path, 16); }), ErrorCode::spec) << wrong;
  }
  EXPECT_EQ(test::code_of([] { parse_layout("@/no/such/file", 16); }), ErrorCode::file);
}

TEST(ExchangeLayout, Refusals) {
  const auto code = [](const char* text, int element = 32) {
    return test::code_of([&] { parse_layout(text, element); });
  };
  for (const char* text : {"",
                           "strided(3)",
                           "strided(4",
                           "strided(4) x",
                           "(4,8)",
                           "(4,8):(1)",
                           "((3),2):((1),3)",
                           "(4,8):(1,2)",
                           "Swizzle<3,4,2> o (4,8):(1,4)",
                           "#ttg.linear<{register = [[0, 1], [8]], lane = [], warp = [], block = []}>",
                           "#ttg.linear<{register = [[1]], lane = [], warp = [], block = [[2]]}>",
                           "matrix(1, 1, 0: 2)",
                           "mma.m16n8.C[8x8]",
                           "mma.m16n8.C[16]",
                           "trans(strided(4))",
                           "blocked(1x4, 8x4)",
                           "blocked(4, 8x4, 1)",
                           "matrix(40, 0, 0: 1)",
                           "(4,8):(1,4) @ (4,4)",
                           "strided(18446744073709551616)"})
    EXPECT_EQ(code(text), ErrorCode::spec) << text;
  EXPECT_EQ(code("mma.m16n8k16.A", 32), ErrorCode::value);
  EXPECT_EQ(code("mma.m16n8k61.A", 16), ErrorCode::value);
  EXPECT_EQ(code("wgmma.m64n24.C", 32), ErrorCode::value);
  EXPECT_EQ(code("strided(4)", 4), ErrorCode::value);
}

}  // namespace swizzle_exchange_layout_test
}  // namespace faro::testing

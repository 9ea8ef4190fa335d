// Axes, patterns, flips along an axis, Fortran order and strided views on files.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <set>
#include <string>
#include <vector>

#include "cli_support.hpp"

namespace cli_axes_test {

using namespace faro::testing;

class AxesCli : public CommandTest {
 protected:
  std::vector<std::uint32_t> permuted(const std::string& arguments, const std::string& in,
                                      const std::string& shape) const {
    SCOPED_TRACE("faro permute " + arguments + " " + in);
    const Result result = run("permute " + arguments + " " + in + " out.npy --verify");
    EXPECT_EQ(result.status, 0) << result.err;
    if (result.status != 0) return {};
    EXPECT_EQ(shape_of("out.npy"), shape);
    return items_of("out.npy");
  }

  void expect_documented(const std::string& arguments, const std::string& section) const {
    const Result result = run(arguments);
    ASSERT_EQ(result.status, 0) << result.err;
    const Json json = Json::parse(result.out);
    std::set<std::string> keys;
    collect_keys(json, "", keys);
    EXPECT_EQ(leaves_of(keys), documented_keys()[section]);
  }

  std::set<std::string> known_;  // files that there should be

  void expect_refused(const std::string& arguments, const std::string& part) const {
    SCOPED_TRACE("faro permute " + arguments);
    const auto before = files();
    const Result result = run("permute " + arguments);
    EXPECT_NE(result.status, 0);
    EXPECT_EQ(lines_of(result.err), 1) << result.err;
    EXPECT_NE(result.err.find(part), std::string::npos) << result.err;
    EXPECT_TRUE(files() == before);
  }
};

// Arrays without elements have axes, too.
TEST_F(AxesCli, AlongAnAxisOfAnEmptyArray) {
  ASSERT_EQ(run("new 0x3 u4 empty.npy").status, 0);
  EXPECT_TRUE(permuted("'flip(1)'", "empty.npy", "(0, 3)").empty());
  EXPECT_TRUE(permuted("flip --axis 1", "empty.npy", "(0, 3)").empty());
  EXPECT_TRUE(permuted("'roll(1)' --axis -1", "empty.npy", "(0, 3)").empty());
  EXPECT_TRUE(permuted("transpose", "empty.npy", "(3, 0)").empty());
  for (const std::string spec : {"'flip(0)'", "flip", "'roll(2)'", "'roll(1)' --axis 0", "'axes(0 1)'"})
    EXPECT_TRUE(permuted(spec + " --order F", "empty.npy", "(0, 3)").empty());
  expect_refused("'flip(-3)' empty.npy out2.npy", "got flip(-3) of shape 0x3, wanted an axis from -2 to 1");
}

TEST_F(AxesCli, Patterns) {
  ASSERT_EQ(run("new 2x3x4x5 u4 t.npy").status, 0);
  const auto named = permuted("'b s h d -> b h s d'", "t.npy", "(2, 4, 3, 5)");
  EXPECT_EQ(named, permuted("'axes(0 2 1 3)'", "t.npy", "(2, 4, 3, 5)"));
  EXPECT_EQ(named, permuted("'b h s d -> b s h d' --inverse", "t.npy", "(2, 4, 3, 5)"));
  EXPECT_EQ(named, permuted("'... s h d -> ... h s d'", "t.npy", "(2, 4, 3, 5)"));
  EXPECT_EQ(named, permuted("'b s h d -> b h (s d)'", "t.npy", "(2, 4, 15)"));
  EXPECT_EQ(named, permuted("'b s (x y) d -> b (x y) s d' --let x=2", "t.npy", "(2, 4, 3, 5)"));
  EXPECT_EQ(named, permuted("'b s (x y) d -> b (x y) s d' --let y=2 --let x=2", "t.npy", "(2, 4, 3, 5)"));
  EXPECT_EQ(named, permuted("'b s (x y) d -> b x y s d, x=2'", "t.npy", "(2, 2, 2, 3, 5)"));
  EXPECT_EQ(named, permuted("'s h d -> h s d' --batch 2", "t.npy", "(2, 4, 3, 5)"));
  ASSERT_EQ(run("explain 'a b -> b a, a=30, b=70'").status, 0);
  expect_refused("'a b c -> c b a' t.npy out2.npy", "an array of 4 axes");
  expect_refused("transpose t.npy out2.npy --let h=8", "--let with transpose");
  expect_refused("'b s h (x d) -> b s h x d' t.npy out2.npy --let x=2", "a multiple of 2");
}

TEST_F(AxesCli, FlipAlongAnAxis) {
  ASSERT_EQ(run("new 3x4x5 u4 t.npy").status, 0);
  const auto in = items_of("t.npy");
  const auto expect_flipped = [&](const std::string& arguments, std::size_t axis) {
    const auto out = permuted(arguments, "t.npy", "(3, 4, 5)");
    ASSERT_EQ(out.size(), 60U);
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t j = 0; j < 4; ++j) {
        for (std::size_t k = 0; k < 5; ++k) {
          const std::size_t from =
              ((axis == 0 ? 2 - i : i) * 4 + (axis == 1 ? 3 - j : j)) * 5 + (axis == 2 ? 4 - k : k);
          ASSERT_EQ(out[(i * 4 + j) * 5 + k], in[from]);
        }
      }
    }
  };
  expect_flipped("'flip(1)'", 1);
  expect_flipped("'flip(2)'", 2);
  expect_flipped("'flip( -1 )'", 2);
  expect_flipped("'flip(0)'", 0);
  expect_flipped("'flip(3)'", 0);  // as many as rows
  const auto all = permuted("'flip(60)'", "t.npy", "(3, 4, 5)");
  EXPECT_EQ(all.front(), in.back());
  expect_refused("'flip(7)' t.npy out2.npy", "flip(7)");
  // An axis is one where there are as many rows or items, too.
  ASSERT_EQ(run("new 2x3x4 u4 two.npy").status, 0);
  EXPECT_EQ(permuted("'flip(2)'", "two.npy", "(2, 3, 4)"), permuted("'flip(-1)'", "two.npy", "(2, 3, 4)"));
  ASSERT_EQ(run("new 1x1x2 u4 few.npy").status, 0);
  EXPECT_EQ(permuted("'flip(1)'", "few.npy", "(1, 1, 2)"), items_of("few.npy"));
  // A single axis is one, too.
  ASSERT_EQ(run("new 7 u4 line.npy").status, 0);
  const auto line = items_of("line.npy");
  for (const std::string spec : {"'flip(0)'", "'flip(-1)'", "'flip(7)'", "flip"}) {
    const auto backwards = permuted(spec, "line.npy", "(7,)");
    EXPECT_TRUE(std::equal(backwards.begin(), backwards.end(), line.rbegin(), line.rend())) << spec;
  }
  expect_refused("'flip(1)' line.npy out2.npy", "flip(1)");
}

TEST_F(AxesCli, FortranOrder) {
  ASSERT_EQ(run("new 3x4x5 u4 t.npy").status, 0);
  const auto in = items_of("t.npy");
  for (const std::string spec : {"'axes(0 1 2)'", "'axes(1 2 0)'", "'a b c -> b (c a)'", "transpose"}) {
    SCOPED_TRACE(spec);
    const Result result = run("permute " + spec + " t.npy f.npy --order F --verify");
    ASSERT_EQ(result.status, 0) << result.err;
    EXPECT_NE(bytes_of("f.npy").find("'fortran_order': True"), std::string::npos);
    ASSERT_EQ(run("permute " + spec + " t.npy c.npy").status, 0);
    EXPECT_EQ(shape_of("f.npy"), shape_of("c.npy"));
    // Read again, it is the same array.
    ASSERT_EQ(run("permute identity f.npy again.npy").status != 0, true);  // 60 items are no 2^n
    ASSERT_EQ(run("permute 'roll(0)' f.npy again.npy").status, 0);
    EXPECT_EQ(items_of("again.npy"), items_of("c.npy"));
    // A Fortran file is a view: of it, too, and again written in Fortran order.
    ASSERT_EQ(run("permute 'axes(0 1 2)' t.npy g.npy --order F").status, 0);
    for (const std::string how : {"", " --memory 1MiB"}) {
      const Result viewed = run("permute " + spec + " g.npy v.npy --verify" + how);
      ASSERT_EQ(viewed.status, 0) << viewed.err;
      EXPECT_EQ(shape_of("v.npy"), shape_of("c.npy"));
      EXPECT_EQ(items_of("v.npy"), items_of("c.npy"));
      ASSERT_EQ(run("permute " + spec + " g.npy w.npy --order F" + how).status, 0);
      EXPECT_EQ(bytes_of("w.npy").find("'fortran_order': True") != std::string::npos, true);
      ASSERT_EQ(run("permute 'roll(0)' w.npy again.npy").status, 0);
      EXPECT_EQ(items_of("again.npy"), items_of("c.npy")) << spec << how;
    }
  }
  ASSERT_EQ(run("permute 'a b c -> b (c a)' t.npy j.npy --order F").status, 0);
  ASSERT_EQ(run("permute 'b (c a) -> a b c' j.npy back.npy --let c=5").status, 0);
  EXPECT_EQ(items_of("back.npy"), in);
  // Batches and elements keep their places.
  ASSERT_EQ(run("permute 'transpose(4, 5)' t.npy f.npy --batch 3 --order F").status, 0);
  ASSERT_EQ(run("permute 'transpose(4, 5)' t.npy c.npy --batch 3").status, 0);
  ASSERT_EQ(run("permute 'roll(0)' f.npy again.npy").status, 0);
  EXPECT_EQ(items_of("again.npy"), items_of("c.npy"));
  expect_refused("transpose t.npy out2.npy --order A", "--order A");
}

// Flips on the way to and from Fortran order are views with negative strides, of one pass; what is none of
// axes takes one more, in memory.
TEST_F(AxesCli, FortranOrderOfFlipsAndOthers) {
  ASSERT_EQ(run("new 12x16x20 u4 t.npy").status, 0);
  ASSERT_EQ(run("permute 'axes(0 1 2)' t.npy g.npy --order F").status, 0);
  const auto expect_fortran = [&](const std::string& spec, const std::string& from, const std::string& how) {
    SCOPED_TRACE(spec + " of " + from + how);
    ASSERT_EQ(run("permute " + spec + " " + from + " c.npy --no-sync").status, 0);
    const auto wanted = items_of("c.npy");
    const std::string shape = shape_of("c.npy");
    const Result done = run("permute " + spec + " " + from + " f.npy --order F --verify" + how);
    ASSERT_EQ(done.status, 0) << done.err;
    EXPECT_NE(bytes_of("f.npy").find("'fortran_order': True"), std::string::npos);
    EXPECT_EQ(shape_of("f.npy"), shape);
    // As it lies: the first axis is the fastest.
    std::size_t extents[3] = {};
    ASSERT_EQ(std::sscanf(shape.c_str(), "(%zu, %zu, %zu)", &extents[0], &extents[1], &extents[2]), 3);
    const auto lies = items_of("f.npy");
    ASSERT_EQ(lies.size(), wanted.size());
    std::size_t at = 0;
    for (std::size_t i = 0; i < extents[0]; ++i) {
      for (std::size_t j = 0; j < extents[1]; ++j) {
        for (std::size_t k = 0; k < extents[2]; ++k)
          ASSERT_EQ(lies[i + extents[0] * (j + extents[1] * k)], wanted[at++]);
      }
    }
    const Result back = run("permute '... -> ...' f.npy d.npy --no-sync");
    ASSERT_EQ(back.status, 0) << back.err;
    EXPECT_EQ(items_of("d.npy"), wanted);
    EXPECT_EQ(files().size(), known_.size());  // nothing is left beside them
  };
  ASSERT_EQ(run("new 4x32x32 u4 p.npy").status, 0);
  known_ = {"t.npy", "g.npy", "p.npy", "c.npy", "f.npy", "d.npy"};
  const std::string file = " --memory 16KiB --no-sync";
  for (const std::string spec : {"'flip(0)'", "'flip(1)'", "'flip(-1)'", "flip", "'flip(3840)'",
                                 "flip --batch 48", "flip --element-bytes 80 --batch 3"}) {
    for (const std::string from : {"t.npy", "g.npy"}) {
      expect_fortran(spec, from, "");
      expect_fortran(spec, from, file);
    }
  }
  for (const std::string spec :
       {"'roll(7)'", "'roll(2)' --axis 1", "'multiply(3840, 7)'", "'compose(flip, transpose)'"}) {
    for (const std::string from : {"t.npy", "g.npy"}) {
      expect_fortran(spec, from, "");
      expect_fortran(spec, from, file);
    }
  }
  // Affine maps of extents that are powers of two take one pass, too.
  for (const std::string spec : {"bit_reversal", "gray --batch 4", "'random(4096, 3)'"}) {
    expect_fortran(spec, "p.npy", "");
    expect_fortran(spec, "p.npy", " --memory 32KiB --no-sync");
  }
  // Rolls by quarters are affine, of powers of two, and yet taken at any width.
  ASSERT_EQ(run("new 4x4 S3 s.npy").status, 0);
  ASSERT_EQ(run("permute 'axes(0 1)' s.npy sf.npy --order F").status, 0);
  ASSERT_EQ(run("permute 'roll(4)' s.npy c.npy").status, 0);
  ASSERT_EQ(run("permute 'roll(4)' sf.npy d.npy --verify").status, 0);
  EXPECT_EQ(bytes_of("d.npy"), bytes_of("c.npy"));
  ASSERT_EQ(run("permute 'roll(4)' sf.npy f.npy --order F --verify").status, 0);
  ASSERT_EQ(run("permute '... -> ...' f.npy d.npy").status, 0);
  EXPECT_EQ(bytes_of("d.npy"), bytes_of("c.npy"));
  known_.insert({"s.npy", "sf.npy"});
  // A view whose output has no holes has axes.
  const std::string view = "'strided(12 20 16; -320 1 20; 320 16 1; 3520 0)'";
  expect_fortran(view, "t.npy", "");
  expect_fortran(view, "t.npy", file);
}

// Items of more than 4096 bytes are moved in parts.
TEST_F(AxesCli, WideItems) {
  ASSERT_EQ(run("new 3x4 S5000 t.npy").status, 0);
  const std::string in = bytes_of("t.npy");
  const std::size_t begin = in.size() - 12 * 5000;
  const auto expect_places = [&](const std::string& words, const std::vector<std::size_t>& from) {
    SCOPED_TRACE(words);
    for (const std::string how : {"", " --memory 20KiB"}) {
      const Result done = run("permute " + words + " t.npy o.npy" + how);
      ASSERT_EQ(done.status, 0) << done.err;
      const std::string out = bytes_of("o.npy");
      const std::size_t first = out.size() - 12 * 5000;
      for (std::size_t to = 0; to < from.size(); ++to) {
        ASSERT_EQ(out.compare(first + to * 5000, 5000, in, begin + from[to] * 5000, 5000), 0)
            << to << " of " << words << how;
      }
    }
  };
  expect_places("transpose", {0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11});
  expect_places("'a b -> b a'", {0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11});
  expect_places("'axes(0 1)' --order F", {0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11});
  expect_places("'flip(1)'", {3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8});
  expect_places("flip", {11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0});
  expect_places("'flip(0)' --order F", {8, 4, 0, 9, 5, 1, 10, 6, 2, 11, 7, 3});
  expect_places("'roll(1)'", {11, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
  expect_places("'strided(3 4; 4 -1; 4 1; 3 0)'", {3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8});
}

// A view is a permutation however it is written: axes of which one goes backwards, too.
TEST_F(AxesCli, FlippedViewsInPlace) {
  ASSERT_EQ(run("new 4x3x5 u4 t.npy").status, 0);
  ASSERT_EQ(run("permute 'flip(1)' t.npy out.npy").status, 0);
  ASSERT_EQ(run("permute 'strided(4 3 5; 15 -5 1; 15 5 1; 10 0)' t.npy --in-place --verify").status, 0);
  EXPECT_EQ(items_of("t.npy"), items_of("out.npy"));
}

TEST_F(AxesCli, StridedViews) {
  ASSERT_EQ(run("new 6x6 u4 t.npy").status, 0);
  const auto in = items_of("t.npy");
  const auto inside = permuted("'strided(4 4; 6 1; 4 1; 7 0)'", "t.npy", "(4, 4)");
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t j = 0; j < 4; ++j) ASSERT_EQ(inside[i * 4 + j], in[7 + i * 6 + j]);
  }
  const auto padded = permuted("'strided(2 3; 3 1; 5 1; 0 1)'", "t.npy", "(9,)");
  EXPECT_EQ(padded, (std::vector<std::uint32_t>{0, in[0], in[1], in[2], 0, 0, in[3], in[4], in[5]}));
  const auto turned = permuted("'strided(6 6; 6 1; 1 6)'", "t.npy", "(36,)");
  EXPECT_EQ(turned, permuted("transpose", "t.npy", "(6, 6)"));
  const Result told = run("explain 'strided(4 4; 6 1; 4 1; 7 0)'");
  EXPECT_EQ(told.status, 0) << told.err;
  EXPECT_NE(told.out.find("strided(4 4; 6 1; 4 1; 7 0)"), std::string::npos);
  expect_documented("explain 'strided(4 4; 6 1; 4 1; 7 0)' --json", "explain, of a strided view");
  expect_documented("permute 'strided(4 4; 6 1; 4 1; 7 0)' t.npy out.npy --json", "permute");
  expect_refused("'strided(7 6; 6 1; 6 1)' t.npy out2.npy", "a file of 36 items");
  expect_refused("'strided(4 4; 6 1; 2 1)' t.npy out2.npy", "which meet");
  expect_refused("'strided(4 4; -6 1; 4 1)' t.npy out2.npy", "leave the input");
  expect_refused("'strided(4 4; 6 1; 4 1)' t.npy --in-place",
                 "--in-place with a strided view, wanted OUT, a second array of 64 bytes");
}

// A view that is a permutation, an affine one or a flip, is one in place and in explain, too.
TEST_F(AxesCli, ViewsThatArePermutationsGoInPlace) {
  for (const std::string spec :
       {"'strided(8 8; 8 1; 1 8)'", "'strided(64; -1; 1; 63 0)'", "'strided(4 16; 1 4; 16 1)'"}) {
    ASSERT_EQ(run("new 64 u4 t.npy").status, 0);
    ASSERT_EQ(run("permute " + spec + " t.npy out.npy").status, 0);
    const Result result = run("permute " + spec + " t.npy --in-place --verify");
    ASSERT_EQ(result.status, 0) << result.err;
    EXPECT_EQ(bytes_of("t.npy"), bytes_of("out.npy")) << spec;
    const Result told = run("explain " + spec + " --in-place");
    ASSERT_EQ(told.status, 0) << told.err;
    EXPECT_NE(told.out.find("class BP"), std::string::npos) << told.out;
    std::filesystem::remove(directory_ / "t.npy");
    std::filesystem::remove(directory_ / "out.npy");
  }
  // A view says where items go, whatever rows a file has: of a part of them it is none in place.
  ASSERT_EQ(run("new 10x8 u4 t.npy").status, 0);
  const auto in = items_of("t.npy");
  expect_refused("'strided(10; -1; 1; 9 0)' t.npy --in-place", "a second array of 40 bytes");
  expect_refused("'strided(80; -1; 1; 79 0)' t.npy --in-place --rows", "--rows with a strided view");
  EXPECT_EQ(items_of("t.npy"), in);
}

// A box in words, in JSON with the keys of its page, and drawn.
TEST_F(AxesCli, ExplainsBoxes) {
  for (const std::string engine : {"cpu", "cuda"}) {
    const std::string how = " --engine " + engine + " --svg box.svg";
    const Result told = run("explain 'axes(96 75 75 96; 3 2 1 0)'" + how);
    ASSERT_EQ(told.status, 0) << told.err;
    // How long a processor's runs are is a matter of its caches.
    const char* const length = engine == "cuda" ? "of 384 bytes" : " runs of ";
    for (const char* const part : {"  box   ", "units of 4 bytes", "  runs   ", length, "pitch "})
      EXPECT_NE(told.out.find(part), std::string::npos) << part << told.out;
    EXPECT_NE(bytes_of("box.svg").find("2160000 bytes"), std::string::npos);
    const Result json = run("explain 'axes(96 75 75 96; 3 2 1 0)' --json --engine " + engine);
    std::set<std::string> keys;
    collect_keys(Json::parse(json.out), "", keys);
    std::set<std::string> of_box;
    for (const std::string& key : leaves_of(keys))
      if (key.starts_with("passes[].box")) of_box.insert(key);
    EXPECT_EQ(of_box, documented_keys()["explain, of a box"]);
  }
  // Axes of which some are flipped or rolled, and what does not move, are drawn, too.
  for (const std::string spec :
       {"axes(40 30 20; 2 0 1; 0 0 0; 1)", "axes(40 30 20; 2 0 1; 0 7 0)", "axes(6 4; 0 1)"}) {
    const Result drawn = run("explain '" + spec + "' --svg other.svg");
    ASSERT_EQ(drawn.status, 0) << drawn.err;
    EXPECT_NE(bytes_of("other.svg").find("<svg"), std::string::npos);
  }
  // Planes go by tiles, of which words, JSON and picture say the same.
  const Result plane = run("explain 'transpose(5000, 7000)' --engine cuda --svg plane.svg");
  ASSERT_EQ(plane.status, 0) << plane.err;
  for (const char* const part : {"planes go by tiles", "  tile   ", " tiles", "  runs   ", "pitch "})
    EXPECT_NE(plane.out.find(part), std::string::npos) << part << plane.out;
  EXPECT_EQ(plane.out.find("box"), std::string::npos) << plane.out;
  std::set<std::string> keys;
  collect_keys(Json::parse(run("explain 'transpose(5000, 7000)' --json --engine cuda").out), "", keys);
  std::set<std::string> of_tile;
  for (const std::string& key : leaves_of(keys))
    if (key.starts_with("passes[].plane_tile")) of_tile.insert(key);
  EXPECT_EQ(of_tile, documented_keys()["explain, of a plane's tile"]);
  const Result view =
      run("explain 'strided(96 75 200; 1 100 8000; 15000 200 1)' --engine cuda --svg view.svg");
  ASSERT_EQ(view.status, 0) << view.err;
  for (const char* const part : {"  box   ", "  loads ", "sectors of 32 bytes", "wavefronts", "  counted"})
    EXPECT_NE(view.out.find(part), std::string::npos) << part << view.out;
  EXPECT_NE(bytes_of("view.svg").find("<svg"), std::string::npos);
}

TEST_F(AxesCli, EqualAxesInPlace) {
  ASSERT_EQ(run("new 6x5x6x2 u4 t.npy").status, 0);
  ASSERT_EQ(run("permute 'axes(2 1 0 3)' t.npy out.npy").status, 0);
  ASSERT_EQ(run("permute 'axes(2 1 0 3)' t.npy --in-place --verify").status, 0);
  EXPECT_EQ(items_of("t.npy"), items_of("out.npy"));
}

TEST_F(AxesCli, InPlaceSaysWhatElseItTakes) {
  ASSERT_EQ(run("new 3x4x5 u4 t.npy").status, 0);
  expect_refused("transpose t.npy --in-place", "of 240 bytes");
}

}  // namespace cli_axes_test

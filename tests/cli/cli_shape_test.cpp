// What users hand in and get back: the shape of the result, rows and axes, Fortran order, words that the
// array at hand makes superfluous, and the one line that tells what was done.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "cli_support.hpp"

namespace cli_shape_test {

using namespace faro::testing;

class ShapeCli : public CommandTest {
 protected:
  void expect_shape(const std::string& arguments, const std::string& in, const std::string& shape) const {
    SCOPED_TRACE("faro permute " + arguments + " " + in);
    const Result result = run("permute " + arguments + " " + in + " out.npy --verify");
    ASSERT_EQ(result.status, 0) << result.err;
    EXPECT_EQ(shape_of("out.npy"), shape);
    fs::remove(directory_ / "out.npy");
  }

  void expect_refused(const std::string& arguments, const std::vector<std::string>& parts) const {
    SCOPED_TRACE("faro permute " + arguments);
    const auto before = files();
    const Result result = run("permute " + arguments);
    EXPECT_EQ(result.status, 2) << result.err;
    EXPECT_EQ(lines_of(result.err), 1) << result.err;
    for (const std::string& part : parts) EXPECT_NE(result.err.find(part), std::string::npos) << result.err;
    EXPECT_TRUE(files() == before);
  }
};

TEST_F(ShapeCli, TheResultsShapeFollowsTheAxes) {
  ASSERT_EQ(run("new 8x16x4x32 u4 t.npy").status, 0);
  ASSERT_EQ(run("new 30x70 u4 m.npy").status, 0);
  ASSERT_EQ(run("new 6x5x7 u4 b.npy").status, 0);
  ASSERT_EQ(run("new 2100 u4 flat.npy").status, 0);
  expect_shape("'axes(8 16 4 32; 0 2 1 3)'", "t.npy", "(8, 4, 16, 32)");
  expect_shape("'axes(8 4 16 32; 0 2 1 3)' --inverse", "t.npy", "(8, 4, 16, 32)");
  expect_shape("'inverse(axes(8 4 16 32; 0 2 1 3))'", "t.npy", "(8, 4, 16, 32)");
  expect_shape("'axes(0 2 1 3)'", "t.npy", "(8, 4, 16, 32)");
  expect_shape("transpose", "t.npy", "(32, 4, 16, 8)");
  expect_shape("'transpose(30, 70)'", "m.npy", "(70, 30)");
  expect_shape("transpose", "m.npy", "(70, 30)");
  expect_shape("'transpose(5, 7)' --batch 6", "b.npy", "(6, 7, 5)");
  expect_shape("'transpose(6, 5)' --element-bytes 28", "b.npy", "(5, 6, 7)");
  expect_shape("'transpose(6, 5)'", "b.npy", "(5, 6, 7)");
  expect_shape("'axes(6 5 7; 2 0 1)'", "b.npy", "(7, 6, 5)");
  expect_shape("'transpose(30, 70)'", "flat.npy", "(2100,)");
  expect_shape("flip", "m.npy", "(30, 70)");
  expect_shape("'roll(5)'", "m.npy", "(30, 70)");
  expect_shape("bit_reversal", "t.npy", "(8, 16, 4, 32)");
  // By other words, too: bits that are the axes of the array.
  expect_shape("'bits(14; 0 1 2 3 4 7 8 9 10 5 6 11 12 13)'", "t.npy", "(8, 16, 4, 32)");
  expect_shape("'bits(14; 0 1 2 3 4 9 10 5 6 7 8 11 12 13)'", "t.npy", "(8, 4, 16, 32)");

  // Element by element, as numpy.transpose has it.
  ASSERT_EQ(run("permute 'axes(6 5 7; 2 0 1)' b.npy out.npy").status, 0);
  const std::vector<std::uint32_t> out = items_of("out.npy");
  for (std::uint32_t i = 0; i < 6; ++i) {
    for (std::uint32_t j = 0; j < 5; ++j) {
      for (std::uint32_t k = 0; k < 7; ++k) ASSERT_EQ(out[(k * 6 + i) * 5 + j], (i * 5 + j) * 7 + k);
    }
  }
}

TEST_F(ShapeCli, AnotherShapeIsRefusedByBothNames) {
  ASSERT_EQ(run("new 3000x1000 u1 turned.npy").status, 0);
  ASSERT_EQ(run("new 30x70 u4 m.npy").status, 0);
  ASSERT_EQ(run("new 6x5x7 u4 b.npy").status, 0);
  expect_refused("'transpose(1000, 3000)' turned.npy out.npy",
                 {"shape 3000x1000", "rows x columns of transpose(1000, 3000)", "transpose(3000, 1000)"});
  expect_refused("'axes(70 30; 1 0)' m.npy out.npy", {"shape 30x70", "shape 70x30", "axes(70 30; 1 0)"});
  expect_refused("'inverse(transpose(30, 70))' m.npy out.npy", {"shape 30x70", "shape 70x30"});
  expect_refused("'axes(5 6 7; 1 0 2)' b.npy out.npy", {"shape 6x5x7", "shape 5x6x7"});
  expect_refused("'transpose(7, 5)' b.npy out.npy --batch 6", {"shape 5x7", "transpose(7, 5)"});
  expect_refused("'aos_to_soa(70, 30)' m.npy out.npy", {"shape 30x70", "shape 70x30"});
}

// A batch or an element that ends within an axis: the axis is cut there, and joined in the result.
TEST_F(ShapeCli, BatchesAndElementsMayEndWithinAnAxis) {
  ASSERT_EQ(run("new 2x8 u4 pairs.npy").status, 0);
  ASSERT_EQ(run("new 8x6 u4 halves.npy").status, 0);
  ASSERT_EQ(run("new 8x16 u4 squares.npy").status, 0);
  ASSERT_EQ(run("new 3x4x2x2 u4 odd.npy").status, 0);
  ASSERT_EQ(run("new 4x12 u4 both.npy").status, 0);
  for (const std::string spec : {"'transpose(2, 4)'", "transpose", "'a b -> b a'", "'axes(1 0)'"})
    expect_shape(spec + " --element-bytes 8", "pairs.npy", "(4, 4)");
  for (const std::string spec : {"'transpose(4, 6)'", "transpose", "'a b -> b a'", "'axes(4 6; 1 0)'"})
    expect_shape(spec + " --batch 2", "halves.npy", "(12, 4)");
  expect_shape("transpose --batch 2 --element-bytes 16", "both.npy", "(6, 8)");
  expect_shape("'a b -> (a b)' --batch 2", "halves.npy", "(48,)");
  expect_shape("'transpose(4, 4)' --batch 8", "squares.npy", "(8, 16)");
  expect_shape("'transpose(4, 2)' --batch 16", "squares.npy", "(8, 16)");
  expect_shape("'roll(5)' --batch 2", "odd.npy", "(3, 4, 2, 2)");

  ASSERT_EQ(run("permute transpose both.npy out.npy --batch 2 --element-bytes 16").status, 0);
  const std::vector<std::uint32_t> out = items_of("out.npy");
  for (std::uint32_t half = 0; half < 2; ++half) {
    for (std::uint32_t i = 0; i < 2; ++i) {
      for (std::uint32_t j = 0; j < 3; ++j) {
        for (std::uint32_t k = 0; k < 4; ++k)
          ASSERT_EQ(out[half * 24 + (j * 2 + i) * 4 + k], half * 24 + (i * 3 + j) * 4 + k);
      }
    }
  }
  expect_refused("'transpose(8, 8)' squares.npy out2.npy --batch 2", {"shape 4x16", "transpose(8, 8)"});
  expect_refused("'axes(2 3 4; 2 1 0)' odd.npy out2.npy --batch 2",
                 {"2 arrays of 24 elements of 4 bytes within shape 3x4x2x2", "arrays of shape 2x3x4"});
  // In Fortran order it is the same array.
  ASSERT_EQ(run("permute transpose both.npy c.npy --batch 2").status, 0);
  ASSERT_EQ(run("permute transpose both.npy f.npy --order F --batch 2 --verify").status, 0);
  ASSERT_EQ(run("permute '... -> ...' f.npy again.npy").status, 0);
  EXPECT_TRUE(bytes_of("again.npy") == bytes_of("c.npy"));
}

// Axes and other maps go together, too, and an array at hand need not be told.
TEST_F(ShapeCli, ShapesFollowThroughCompositions) {
  ASSERT_EQ(run("new 3x5 u4 m.npy").status, 0);
  ASSERT_EQ(run("new 3x5x2 u4 t.npy").status, 0);
  ASSERT_EQ(run("new 3x0 u4 none.npy").status, 0);
  expect_shape("'compose(flip, transpose)'", "m.npy", "(5, 3)");
  expect_shape("'compose(transpose, roll(4))'", "m.npy", "(5, 3)");
  expect_shape("'compose(transpose, transpose)'", "m.npy", "(3, 5)");
  expect_shape("'compose(axes(1 0 2), axes(0 2 1))'", "t.npy", "(2, 3, 5)");
  expect_shape("'power(axes(1 2 0), 2)'", "t.npy", "(2, 3, 5)");
  expect_shape("'inverse(axes(1 2 0))'", "t.npy", "(2, 3, 5)");
  expect_shape("'axes(1 2 0)' --inverse", "t.npy", "(2, 3, 5)");
  expect_shape("'compose(flip, transpose)' --inverse", "m.npy", "(5, 3)");
  expect_shape("transpose --inverse", "m.npy", "(5, 3)");
  expect_shape("'compose(flip, transpose(3, 5))'", "t.npy", "(5, 3, 2)");
  expect_shape("'axes(3 0; 1 0)'", "none.npy", "(0, 3)");
  expect_refused("'compose(flip, transpose(5, 3))' m.npy x.npy", {"shape 3x5", "shape 5x3"});
  expect_refused("'power(compose(flip, transpose), 2)' m.npy x.npy", {"changes the shape"});
  ASSERT_EQ(run("permute 'compose(transpose, transpose)' m.npy same.npy --quiet").status, 0);
  EXPECT_TRUE(bytes_of("same.npy") == bytes_of("m.npy"));
}

// Rows without items are as many as they were.
TEST_F(ShapeCli, RowsOfNothing) {
  ASSERT_EQ(run("new 4x0 u4 none.npy").status, 0);
  for (const std::string spec : {"'bit_reversal(2)'", "'roll(4, 1)'", "flip", "'random(4, 1)' --rows"})
    expect_shape(spec, "none.npy", "(4, 0)");
}

TEST_F(ShapeCli, AnIndexArrayOfTheRowsPermutesRows) {
  ASSERT_EQ(run("new 1000x3 u4 points.npy").status, 0);
  ASSERT_EQ(run("new 1000 u4 ids.npy").status, 0);
  ASSERT_EQ(run("permute 'random(1000, 7)' ids.npy index.npy --quiet").status, 0);
  const std::vector<std::uint32_t> index = items_of("index.npy");
  for (const std::string options : {"", " --axis 0", " --rows", " --axis=-2"}) {
    SCOPED_TRACE(options);
    const Result result = run("permute @index.npy points.npy out.npy --gather --verify" + options);
    ASSERT_EQ(result.status, 0) << result.err;
    EXPECT_NE(result.err.find("1000 rows of 12 bytes"), std::string::npos) << result.err;
    EXPECT_EQ(shape_of("out.npy"), "(1000, 3)");
    const std::vector<std::uint32_t> out = items_of("out.npy");
    for (std::size_t i = 0; i < 3000; ++i) ASSERT_EQ(out[i], index[i / 3] * 3 + i % 3);
  }
  // Along another axis; the lengths of no axis.
  ASSERT_EQ(run("new 4x1000x2 u4 middle.npy").status, 0);
  expect_refused("@index.npy middle.npy out.npy", {"4x1000x2", "--axis 1"});
  const Result along = run("permute @index.npy middle.npy out.npy --axis 1 --verify");
  ASSERT_EQ(along.status, 0) << along.err;
  const std::vector<std::uint32_t> out = items_of("out.npy");
  for (std::size_t i = 0; i < 8000; ++i) {
    ASSERT_EQ(out[i / 2000 * 2000 + index[i / 2 % 1000] * 2 + i % 2], i);
  }
  expect_refused("@index.npy middle.npy out.npy --axis 2", {"axis 2 of 2", "1000"});
  expect_refused("@index.npy middle.npy out.npy --axis 3", {"--axis", "from 0 to 2"});
  expect_refused("@index.npy points.npy out.npy --rows --batch 1", {"--rows and --batch"});
  expect_refused("@index.npy points.npy out.npy --rows --axis 0", {"--rows and --axis"});
  ASSERT_EQ(run("new 500x6 u4 other.npy").status, 0);
  const Result neither = run("permute @index.npy other.npy x.npy");
  EXPECT_EQ(neither.status, 2);
  EXPECT_EQ(neither.err.find("--batch"), std::string::npos) << neither.err;
}

// Rows of more bytes than an element may have, of widths that are no power of two, and in place.
TEST_F(ShapeCli, RowsOfEveryWidth) {
  ASSERT_EQ(run("new 64x1030 u4 wide.npy").status, 0);   // 4120 bytes
  ASSERT_EQ(run("new 64x4099 u1 prime.npy").status, 0);  // 4099 bytes, a prime
  ASSERT_EQ(run("new 64x2048 u4 power.npy").status, 0);  // 8 KiB
  ASSERT_EQ(run("new 64x3 u4 narrow.npy").status, 0);    // 12 bytes
  ASSERT_EQ(run("new 64 u4 ids.npy").status, 0);
  ASSERT_EQ(run("permute 'random(64, 3)' ids.npy index.npy --quiet").status, 0);
  for (const std::string spec : {"@index.npy", "gray", "bit_reversal", "'roll(5)'", "flip",
                                 "'transpose(4, 16)'", "'gather(@index.npy)'", "'axes(4 16; 1 0)'"}) {
    ASSERT_EQ(run("permute " + spec + " ids.npy moved.npy --quiet").status, 0) << spec;
    const std::vector<std::uint32_t> moved = items_of("moved.npy");
    for (const std::string file : {"wide", "prime", "power", "narrow"}) {
      SCOPED_TRACE(spec + " " + file);
      const Result result = run("permute " + spec + " " + file + ".npy out.npy --rows --verify");
      ASSERT_EQ(result.status, 0) << result.err;
      const std::string in = bytes_of(file + ".npy").substr(128);
      const std::string out = bytes_of("out.npy").substr(128);
      const std::size_t row = in.size() / 64;
      for (std::size_t i = 0; i < 64; ++i) {
        ASSERT_TRUE(out.substr(i * row, row) == in.substr(moved[i] * row, row)) << i;
      }
    }
  }
  ASSERT_EQ(run("permute bit_reversal power.npy out.npy --rows").status, 0);
  ASSERT_EQ(run("permute --in-place bit_reversal power.npy --rows").status, 0);
  EXPECT_TRUE(bytes_of("power.npy") == bytes_of("out.npy"));
}

TEST_F(ShapeCli, SaysWhatWasTakenAsAnElement) {
  ASSERT_EQ(run("new 4096x4 u8 limbs.npy").status, 0);
  EXPECT_NE(run("permute bit_reversal limbs.npy x.npy").err.find("2^14 elements of 8 bytes"),
            std::string::npos);
  EXPECT_NE(run("permute bit_reversal limbs.npy x.npy --rows").err.find("2^12 rows of 32 bytes"),
            std::string::npos);
  EXPECT_NE(
      run("permute bit_reversal limbs.npy x.npy --axis 1").err.find("4 elements of 8 bytes along axis 1"),
      std::string::npos);
}

// NumPy reads the same array whatever order it is stored in.
TEST_F(ShapeCli, FortranOrderIsTheSameArray) {
  ASSERT_EQ(run("new 30x70 u4 c.npy").status, 0);
  // The stored data is that of the transposed array in C order.
  ASSERT_EQ(run("permute 'transpose(30, 70)' c.npy f.npy --quiet").status, 0);
  std::string fortran = bytes_of("f.npy");
  fortran.replace(fortran.find("False"), 5, "True ");
  fortran.replace(fortran.find("(70, 30)"), 8, "(30, 70)");
  std::ofstream(directory_ / "f.npy", std::ios::binary) << fortran;
  for (const std::string spec : {"flip", "transpose", "'roll(7)'", "'transpose(30, 70)'"}) {
    ASSERT_EQ(run("permute " + spec + " c.npy of_c.npy --verify").status, 0);
    ASSERT_EQ(run("permute " + spec + " f.npy of_f.npy --verify").status, 0);
    EXPECT_TRUE(bytes_of("of_c.npy") == bytes_of("of_f.npy")) << spec;
  }
  // Through a pipe, too, where the data passes once.
  ASSERT_EQ(run("permute transpose c.npy of_c.npy").status, 0);
  ASSERT_EQ(run("permute transpose - of_f.npy < f.npy 2> told; exit $?; cat").status, 0) << bytes_of("told");
  EXPECT_TRUE(bytes_of("of_c.npy") == bytes_of("of_f.npy"));
  EXPECT_EQ(run("permute 'roll(7)' - of_f.npy < f.npy 2> told; exit $?; cat").status, 3);
  EXPECT_NE(bytes_of("told").find("numpy.ascontiguousarray"), std::string::npos) << bytes_of("told");
  // Axes that are rolled and flipped as well, and the other order of the result.
  for (const std::string spec : {"'axes(30 70; 1 0; 1 2)'", "'axes(30 70; 0 1; 0 0; 1)'",
                                 "'inverse(axes(70 30; 1 0; 1 2))'", "'compose(flip, transpose)'"}) {
    ASSERT_EQ(run("permute " + spec + " c.npy of_c.npy --verify").status, 0);
    ASSERT_EQ(run("permute " + spec + " f.npy of_f.npy --verify").status, 0);
    EXPECT_TRUE(bytes_of("of_c.npy") == bytes_of("of_f.npy")) << spec;
    for (const std::string from : {"c.npy", "f.npy"}) {
      const Result ordered = run("permute " + spec + " " + from + " ordered.npy --order F --verify");
      ASSERT_EQ(ordered.status, 0) << spec << ordered.err;
      ASSERT_EQ(run("permute '... -> ...' ordered.npy again.npy").status, 0);
      EXPECT_TRUE(bytes_of("again.npy") == bytes_of("of_c.npy")) << spec;
    }
  }
  ASSERT_EQ(run("permute --in-place transpose f.npy --verify").status, 0);
  EXPECT_EQ(shape_of("f.npy"), "(70, 30)");
}

// One line of at most 80 columns, without a word of GPUs, and without a share of a copy.
TEST_F(ShapeCli, TellsOneShortLine) {
  ASSERT_EQ(run("new 2^16 u4 a.npy").status, 0);
  ASSERT_EQ(run("new 300x500 u4 m.npy").status, 0);
  ASSERT_EQ(run("new 64x2x4096 u4 twos.npy").status, 0);
  ASSERT_EQ(run("permute 'random(65536, 1)' a.npy index.npy --quiet").status, 0);
  std::string gates = "circuit(16";
  for (int i = 0; i < 40; ++i) gates += "; swap 0 " + std::to_string(1 + i % 15);
  for (const std::string& arguments : std::vector<std::string>{
           std::string("bit_reversal a.npy out.npy --verify"),
           std::string("transpose m.npy out.npy --verify"),
           std::string("'random_bmmc(16, 1)' a.npy out.npy --inverse --verify"),
           "'" + gates + ")' a.npy out.npy --verify",
           std::string("@index.npy a.npy out.npy --plan-cache p.plan --method partition --verify"),
           std::string("'gray(4)' a.npy out.npy --batch 4096 --verify"),
           std::string("--in-place transpose m.npy --verify"),
           std::string(
               "'compose(roll(2, 0), compose(flip(2), roll(2, 0)))' twos.npy out.npy --axis 1 --verify"),
           std::string("--in-place '") + gates + ")' a.npy --verify"}) {
    SCOPED_TRACE("faro permute " + arguments);
    const Result result = run("permute " + arguments);
    ASSERT_EQ(result.status, 0) << result.err;
    EXPECT_EQ(lines_of(result.err), 1) << result.err;
    EXPECT_LE(result.err.size(), 81U) << result.err;
    for (const std::string part : {" ms", " GB/s", "verified"}) {
      EXPECT_NE(result.err.find(part), std::string::npos) << result.err;
    }
    EXPECT_EQ(result.err.find("GPU"), std::string::npos) << result.err;
    EXPECT_EQ(result.err.find("copy"), std::string::npos) << result.err;
  }
  // A long name gives way as a whole.
  EXPECT_EQ(
      run("permute '" + gates + ")' a.npy out.npy").err.rfind("circuit(...): 2^16 elements of 4 bytes", 0),
      0U);
}

// What the file fixes is not typed; what it does not is refused.
TEST_F(ShapeCli, TakesWhatTheFileFixes) {
  ASSERT_EQ(run("new 2^10 u4 a.npy").status, 0);
  for (const auto& [text, in_full] : std::vector<std::pair<std::string, std::string>>{
           {"swap_bits(3, 9)", "swap_bits(10, 3, 9)"},
           {"circuit(swap 3 9; x 0)", "circuit(10; swap 3 9; x 0)"},
           {"bits(9 8 7 6 5 4 3 2 1 0)", "bit_reversal(10)"},
           {"flip", "flip(1024)"},
           {"roll(5)", "roll(1024, 5)"},
           {"random_bmmc(4)", "random_bmmc(10, 4)"}}) {
    ASSERT_EQ(run("permute '" + text + "' a.npy out.npy --verify").status, 0) << text;
    ASSERT_EQ(run("permute '" + in_full + "' a.npy wanted.npy").status, 0) << in_full;
    EXPECT_TRUE(bytes_of("out.npy") == bytes_of("wanted.npy")) << text;
  }
  ASSERT_EQ(run("permute transpose a.npy out.npy --verify").status, 0);
  EXPECT_TRUE(bytes_of("out.npy") == bytes_of("a.npy"));
  ASSERT_EQ(run("permute --in-place transpose a.npy").status, 0);
  EXPECT_TRUE(bytes_of("out.npy") == bytes_of("a.npy"));
  expect_refused("'swap_bits(3, 10)' a.npy out2.npy", {"10"});
}

TEST_F(ShapeCli, NewTakesNamesAndFills) {
  const auto data_of = [&](const std::string& arguments) {
    EXPECT_EQ(run("new 300 " + arguments).status, 0) << arguments;
    return bytes_of("n.npy").substr(128);
  };
  EXPECT_EQ(data_of("float32 n.npy"), data_of("f4 n.npy"));
  EXPECT_EQ(data_of("intp n.npy"), data_of("i8 n.npy"));
  EXPECT_EQ(data_of("bool_ n.npy"), data_of("b1 n.npy"));
  EXPECT_EQ(data_of("ulonglong n.npy"), data_of("u8 n.npy"));
  EXPECT_EQ(data_of("complex128 n.npy"), data_of("c16 n.npy"));
  EXPECT_EQ(data_of("'datetime64[ns]' n.npy"), data_of("'M8[ns]' n.npy"));
  EXPECT_EQ(data_of("u4 n.npy --fill zeros"), std::string(1200, '\0'));
  EXPECT_EQ(data_of("u2 n.npy --fill pattern").substr(0, 3), std::string("\0\1\2", 3));
  EXPECT_EQ(data_of("u2 n.npy --fill index"), data_of("u2 n.npy"));
  EXPECT_EQ(data_of("u8 n.npy --fill random --seed 3"), data_of("u8 n.npy --fill random --seed 3"));
  EXPECT_NE(data_of("u8 n.npy --fill random --seed 3"), data_of("u8 n.npy --fill random --seed 4"));
  const std::string floats = data_of("float32 n.npy --fill random");
  for (std::size_t i = 0; i < 300; ++i) {
    float value = -1;
    std::copy_n(floats.data() + 4 * i, 4, reinterpret_cast<char*>(&value));
    EXPECT_TRUE(value >= 0 && value < 1) << value;
  }
  for (const char c : data_of("bool n.npy --fill random")) EXPECT_TRUE(c == 0 || c == 1);
  for (const auto& [arguments, part] : std::vector<std::pair<std::string, std::string>>{
           {"new 3 flaot32 x.npy", "did you mean `float32`?"},
           {"new 3 u4 x.npy --fill rnadom", "did you mean `random`?"},
           {"new 3 u4 x.npy --seed 1", "--fill random"},
           {"new 3 u4 x.bin", "ends in .npy"},
           {"permute flip n.npy o.bin", "`o.npy` would be one"},
           {"permute flip n.npy out.npy --threads 1000", "for each processor"},
           {"permute flip n.npy out.npy --threads 0", "for each processor; there "},
           {"permute flip n.npy out.npy --threads -1", "; without --threads all are used"},
           {"permute flip n.npy out.npy --threads 5000", "for each processor"},
           {"permute flip \"$(printf 'a\\033[31mb.npy')\" out.npy",
            "cannot read a\\x1b[31mb.npy: no such file"},
           {"new 2^50 u4 huge.npy", "cannot write huge.npy: the disk is full"},
           {"layout", "no --rows, no --columns, no --access"},
           {"permute flip nope.npy out.npy", "cannot read nope.npy: no such file"}}) {
    const Result result = run(arguments);
    EXPECT_NE(result.status, 0) << arguments;
    EXPECT_EQ(lines_of(result.err), 1) << result.err;
    EXPECT_NE(result.err.find(part), std::string::npos) << result.err;
  }
  const Result old = run("explain 'gray(20)' --engine cuda --capability 7.5");
  EXPECT_EQ(old.status, 3) << old.err;
}

// A name that was typed stays the name.
TEST_F(ShapeCli, ExplainsByTheNameThatWasTyped) {
  const Result result = run("explain 'random_bmmc(28, 1)' --svg plan.svg");
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_NE(result.out.find("permutation   random_bmmc(28, 1)\n"), std::string::npos) << result.out;
  EXPECT_EQ(result.out.find("affine("), std::string::npos) << result.out;
  EXPECT_NE(bytes_of("plan.svg").find("random_bmmc(28, 1)"), std::string::npos);
  EXPECT_EQ(bytes_of("plan.svg").find("affine("), std::string::npos);
}

// Also where its own text is as short, or the plan is for another form; and what that is stands below.
TEST_F(ShapeCli, ExplainsWhatATypedNameIsInOtherWords) {
  const struct {
    const char* typed;
    const char* other;
  } kCases[] = {
      {"soa_to_aos(10,3)", "transpose(3, 10)"},
      {"compose(gray(4), bit_reversal(4))", "affine(4; 0xc 0x6 0x3 0x1; 0x0)"},
      {"b s h d -> b h s d, b=8, s=4096, h=32, d=128", "axes(8 4096 32 128; 0 2 1 3)"},
      {"flip(32)", "reverse(5)"},
      {"axes(2 3 4 5; 0 2 3 1)", "axes(2 3 20; 0 2 1)"},
      {"rotate_bits(6,-1)", "bits(6; 5 0 1 2 3 4)"},
  };
  for (const auto& c : kCases) {
    const Result result = run("explain '" + std::string(c.typed) + "'");
    ASSERT_EQ(result.status, 0) << result.err;
    const std::string head =
        "permutation   " + std::string(c.typed) + "\n              the same as " + c.other + "\n";
    EXPECT_TRUE(result.out.starts_with(head)) << result.out;
  }
  for (const std::string same : {"gray(12)", "roll(1000,7)", "random(100, 7)", "multiply(15, 2)"}) {
    const Result result = run("explain '" + same + "'");
    EXPECT_TRUE(result.out.starts_with("permutation   " + same + "\n")) << result.out;
    EXPECT_EQ(result.out.find("the same as"), std::string::npos) << result.out;
  }
  ASSERT_EQ(run("explain 'b s h -> b h s, b=2, s=4, h=8' --svg axes.svg").status, 0);
  EXPECT_NE(bytes_of("axes.svg").find("b s h -&gt; b h s, b=2, s=4, h=8"), std::string::npos);
}

// Shapes without any item, whatever their rows.
TEST_F(ShapeCli, NothingIsShuffled) {
  ASSERT_EQ(run("new 3x0x2 f4 nothing.npy").status, 0);
  for (const std::string rows : {"", " --rows"}) {
    const Result result = run("shuffle nothing.npy out.npy --seed 1" + rows);
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_NE(bytes_of("out.npy").find("(3, 0, 2)"), std::string::npos);
  }
}

// No remedy that gives another result than what was likely wanted.
TEST_F(ShapeCli, RemediesLeaveNoDoubt) {
  ASSERT_EQ(run("new 16 b1 mask.npy").status, 0);
  ASSERT_EQ(run("new 16000 f4 flat.npy").status, 0);
  ASSERT_EQ(run("new 16 f4 short.npy").status, 0);
  ASSERT_EQ(run("new 16x4 f4 rows.npy").status, 0);
  ASSERT_EQ(run("new 16x4x16 f4 cube.npy").status, 0);
  for (const auto& [arguments, part] : std::initializer_list<std::pair<const char*, const char*>>{
           {"permute @mask.npy short.npy out.npy", "numpy.flatnonzero(mask)"},
           {"permute 'random(1000, 1)' flat.npy out.npy",
            "--batch 16 permutes that many arrays alike, --element-bytes 64 moves 16 items at a time"},
           {"new 16 bfloat16 b.npy", "u2 holds the bits of a bfloat16"},
           {"permute gray short.npy ''", "cannot write OUT: got an empty name"},
           {"shuffle short.npy '' --seed 1", "cannot write ``: got an empty name"},
           {"permute gray '' out.npy", "cannot read ``: got an empty name"},
           {"permute flip short.npy out.npy --checkpoint -1", "cannot read --checkpoint"},
           {"permute flip short.npy out.npy --batch 2 --batch 4", "permute: got --batch more than once"},
           {"explain 'gray(8)' --repeats 3",
            "--repeats with gray(8), wanted that option with an index array"},
           {"explain 'gray(8)' --no-calibration", "--no-calibration with --engine cuda"},
           {"bench 'strided(2 3; 0 1; 3 1)'", "`faro permute` and `faro explain` take a view"},
           {"permute 'random(16, 1)' rows.npy out.npy --element-bytes 4",
            "--axis 0 alone permutes along the axis of that length"},
           {"permute 'random(64, 1)' cube.npy out.npy",
            "--batch 16 permutes that many arrays alike, --element-bytes 64 makes elements that fit"},
           {"permute 'random(15, 1)' short.npy out.npy", "got 16 elements, wanted 15 for random(15, 1)"},
           {"permute 'random(5, 1)' short.npy out.npy --batch 2",
            "got 2 arrays of 8 elements, wanted arrays of 5 for"},
           {"permute 'random(16000, 1)' flat.npy out.npy --memory 4KiB", "`faro shuffle`"},
           {"shuffle short.npy out.npy", "no --seed, wanted IN.npy OUT.npy --seed SEED"},
           {"shufle", "or help; did you mean `shuffle`?"}}) {
    const Result result = run(arguments);
    EXPECT_NE(result.status, 0) << arguments;
    EXPECT_EQ(lines_of(result.err), 1) << result.err;
    EXPECT_NE(result.err.find(part), std::string::npos) << result.err;
  }
}

}  // namespace cli_shape_test

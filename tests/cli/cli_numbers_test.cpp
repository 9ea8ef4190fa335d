// `faro permute --dtype … --scale …`: numbers that are changed while a file is permuted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "cli_large_files_support.hpp"
#include "cli_support.hpp"

namespace faro {
namespace cli_numbers_test {

using testing::content_of;
using testing::documented_keys;
using ::testing::HasSubstr;
using testing::Json;
using testing::LargeFiles;
using testing::Result;

class CliNumbers : public LargeFiles {
 protected:
  static constexpr std::uint64_t kRows = 60;
  static constexpr std::uint64_t kColumns = 40;

  void SetUp() override {
    LargeFiles::SetUp();
    for (std::uint64_t i = 0; i < kRows * kColumns; ++i)
      floats_.push_back(static_cast<float>(std::sin(static_cast<double>(i)) * 300));
    write_npy("in.npy", "<f4", "(60, 40)", floats_);
  }

  // in[row][column], as the transposed result has it.
  float turned(std::uint64_t place) const { return floats_[place % kRows * kColumns + place / kRows]; }

  std::string descr_of(const std::string& name) const {
    const std::string bytes = bytes_of(name);
    const std::size_t begin = bytes.find("'descr': ") + 9;
    return bytes.substr(begin, bytes.find(',', begin) - begin);
  }

  template <typename T>
  std::vector<T> numbers_of(const std::string& name) const {
    const std::string data = data_of(name);
    std::vector<T> numbers(data.size() / sizeof(T));
    std::memcpy(numbers.data(), data.data(), data.size());
    return numbers;
  }

  // The transposed result in numbers of type T, each what `wanted` says of its place; in memory and within
  // budgets, each of them verified.
  template <typename T, typename Wanted>
  void expect_transposed(const std::string& options, const std::string& descr, const Wanted& wanted) {
    for (const char* const memory : {"", " --memory 4000", " --memory 9000 --io buffered"}) {
      SCOPED_TRACE(options + memory);
      const Result result = run("permute transpose in.npy out.npy --verify " + options + memory);
      ASSERT_EQ(result.status, 0) << result.err;
      EXPECT_THAT(result.err, HasSubstr("verified"));
      EXPECT_EQ(descr_of("out.npy"), descr);
      EXPECT_EQ(shape_of("out.npy"), "(40, 60)");
      const auto got = numbers_of<T>("out.npy");
      ASSERT_EQ(got.size(), floats_.size());
      for (std::uint64_t place = 0; place < got.size(); ++place)
        ASSERT_EQ(got[place], wanted(place)) << place;
    }
  }

  void expect_refused(const std::string& arguments, int status, const std::string& words,
                      const std::string& verb = "permute ") {
    CommandTest::expect_refused(verb + arguments, status, words);
  }

  std::vector<float> floats_;
};

// To nearest and ties to even; the numbers are far from the ends.
std::uint16_t as_bfloat16(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  return static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

// An offset of 0 would make +0 of -0.
TEST_F(CliNumbers, WhatIsNotGivenIsNotAddedAlongAnAxisOfOne) {
  write_npy("zeros.npy", "<f4", "(1, 2)", std::vector<float>{-0.0F, -0.0F});
  ASSERT_EQ(run("permute flip zeros.npy out.npy --scale 2 --along 0").status, 0);
  for (const float number : numbers_of<float>("out.npy")) EXPECT_TRUE(std::signbit(number));
}

TEST_F(CliNumbers, AnotherTypeScaledAndAddedTo) {
  expect_transposed<double>("--dtype float64", "'<f8'", [&](auto at) { return double{turned(at)}; });
  expect_transposed<std::uint16_t>("--dtype bfloat16 --scale 2 --offset 0.5", "'<V2'",
                                   [&](auto at) { return as_bfloat16(turned(at) * 2 + 0.5F); });
  expect_transposed<std::int8_t>("--dtype i1 --rounding nearest", "'|i1'", [&](auto at) {
    return static_cast<std::int8_t>(std::clamp(std::nearbyint(turned(at)), -128.0F, 127.0F));
  });
  expect_transposed<float>("--op neg --scale 1/4", "'<f4'", [&](auto at) { return -turned(at) / 4; });
  std::vector<std::int16_t> others;
  for (std::uint64_t i = 0; i < floats_.size(); ++i) others.push_back(static_cast<std::int16_t>(i * 7 - 900));
  write_npy("other.npy", ">i2", "(40, 60)", others);
  const auto other = [&](std::uint64_t at) {
    const auto bits = static_cast<std::uint16_t>(others[at]);
    return static_cast<float>(static_cast<std::int16_t>(bits >> 8 | bits << 8));
  };
  expect_transposed<float>("--add other.npy --beta 0.5", "'<f4'",
                           [&](auto at) { return turned(at) + other(at) * 0.5F; });
  expect_transposed<std::uint8_t>("--dtype uint8 --add other.npy", "'|u1'", [&](auto at) {
    return static_cast<std::uint8_t>(std::clamp(turned(at) + other(at), 0.0F, 255.0F));
  });
}

TEST_F(CliNumbers, ValuesAlongAnAxis) {
  std::string list = "0";
  std::vector<double> values{0};
  for (std::uint64_t i = 1; i < kColumns; ++i) {
    list += "," + std::to_string(i);
    values.push_back(static_cast<double>(i));
  }
  write_npy("values.npy", "<f8", values);
  const auto wanted = [&](std::uint64_t at) { return turned(at) * static_cast<float>(at / kRows) + 1; };
  expect_transposed<float>("--along 0 --offset 1 --scale " + list, "'<f4'", wanted);
  expect_transposed<float>("--along -2 --offset 1 --scale values.npy", "'<f4'", wanted);
  expect_transposed<double>("--along 0 --offset values.npy --dtype f8", "'<f8'",
                            [&](auto at) { return double{turned(at)} + values[at / kRows]; });
  // One value is for all indices, whether the axis has one or more.
  write_npy("one.npy", "<f8", std::vector<double>{2});
  expect_transposed<float>("--along 1 --scale one.npy", "'<f4'", [&](auto at) { return turned(at) * 2; });
}

TEST_F(CliNumbers, TheOtherByteOrder) {
  const auto swapped = [&](auto at) { return __builtin_bswap32(std::bit_cast<std::uint32_t>(turned(at))); };
  expect_transposed<std::uint32_t>("--dtype '>f4'", "'>f4'", swapped);
  std::vector<std::uint32_t> big;
  for (const float x : floats_) big.push_back(__builtin_bswap32(std::bit_cast<std::uint32_t>(x)));
  write_npy("in.npy", ">f4", "(60, 40)", big);
  // Moved as they are, in their order, and in this machine's.
  expect_transposed<std::uint32_t>("--scale 1", "'>f4'", swapped);
  expect_transposed<std::uint32_t>("--op abs", "'>f4'", [&](auto at) {
    return __builtin_bswap32(std::bit_cast<std::uint32_t>(std::abs(turned(at))));
  });
  expect_transposed<float>("--dtype float32", "'<f4'", [&](auto at) { return turned(at); });
  expect_transposed<std::uint16_t>("--dtype bfloat16", "'<V2'",
                                   [&](auto at) { return as_bfloat16(turned(at)); });
  // Files without a header, and a header that tells another order.
  write_npy("in.npy", "<f4", "(60, 40)", big);
  expect_transposed<float>("--dtype-in '>f4' --dtype f4", "'<f4'", [&](auto at) { return turned(at); });
  const std::string data = data_of("in.npy");
  std::ofstream(directory_ / "in.raw", std::ios::binary) << data;
  for (const char* const types : {"--raw '>f4' --dtype f8", "--raw f4 --dtype-in '>f4' --dtype f8"}) {
    const Result result =
        run("permute transpose in.raw out.raw --quiet --verify --shape 60x40 " + std::string(types));
    ASSERT_EQ(result.status, 0) << result.err;
    const std::string got = content_of(directory_ / "out.raw");
    ASSERT_EQ(got.size(), floats_.size() * 8);
    for (std::uint64_t at = 0; at < floats_.size(); ++at) {
      double x = 0;
      std::memcpy(&x, got.data() + 8 * at, 8);
      ASSERT_EQ(x, double{turned(at)});
    }
  }
}

// The same numbers, however the permutation is said: each against a conversion of its plain result.
TEST_F(CliNumbers, EveryKindOfMap) {
  ASSERT_EQ(run("new 64x32x16 u4 in.npy").status, 0);
  for (const char* const arguments :
       {"bit_reversal", "'random_bmmc(15, 4)'", "transpose", "'axes(2 0 1)'", "'a b c -> c a b'", "'flip(1)'",
        "'roll(77)'", "'inverse(gray)'", "'axes(1 0 2)' --order F", "bit_reversal --batch 64",
        "'gray(6)' --rows", "'bit_reversal(4)' --axis 2", "'roll(5)' --axis 1", "'flip(0)' --order F",
        "'random_bmmc(15, 3)' --order F", "'random_bmmc(11, 3)' --element-bytes 64", "'random(32768, 1)'",
        "'strided(32 64; 1 512; 64 1; 3 0)'", "'multiply(32768, 5)'"}) {
    const std::string spec = arguments;
    ASSERT_EQ(run("permute " + spec + " in.npy moved.npy --quiet").status, 0) << spec;
    const auto moved = numbers_of<std::uint32_t>("moved.npy");
    for (const char* const memory : {"", " --memory 3MiB", " --memory 20000"}) {
      if (spec.starts_with("'random(") && std::string(memory) == " --memory 20000") continue;
      const Result result =
          run("permute " + spec + " in.npy out.npy --quiet --verify --dtype u2 --offset -7" + memory);
      ASSERT_EQ(result.status, 0) << spec << memory << result.err;
      EXPECT_EQ(shape_of("out.npy"), shape_of("moved.npy")) << spec;
      const auto got = numbers_of<std::uint16_t>("out.npy");
      ASSERT_EQ(got.size(), moved.size()) << spec;
      for (std::size_t i = 0; i < got.size(); ++i) {
        const std::int64_t wanted = std::clamp<std::int64_t>(std::int64_t{moved[i]} - 7, 0, 65535);
        ASSERT_EQ(got[i], wanted) << spec << memory << ", " << i;
      }
    }
  }
  expect_refused("'random(32768, 1)' in.npy out2.npy --dtype u2 --memory 20000", 3, "memory");
}

TEST_F(CliNumbers, DataInFortranOrder) {
  ASSERT_EQ(run("new 16x8x32 u4 c.npy").status, 0);
  ASSERT_EQ(run("permute 'roll(0)' c.npy in.npy --order F --quiet").status, 0);
  for (const char* const spec : {"'axes(2 0 1)'", "'random_bmmc(12, 4)'", "'flip(1)'"}) {
    for (const char* const order : {"", " --order F"}) {
      for (const char* const memory : {"", " --memory 20000"}) {
        SCOPED_TRACE(std::string(spec) + order + memory);
        const std::string rest = std::string(order) + " --quiet" + memory;
        ASSERT_EQ(run("permute " + std::string(spec) + " in.npy moved.npy" + rest).status, 0);
        const Result result =
            run("permute " + std::string(spec) + " in.npy out.npy --verify --dtype f8 --scale 2" + rest);
        ASSERT_EQ(result.status, 0) << result.err;
        const auto moved = numbers_of<std::uint32_t>("moved.npy");
        const auto got = numbers_of<double>("out.npy");
        ASSERT_EQ(got.size(), moved.size());
        for (std::size_t i = 0; i < got.size(); ++i) ASSERT_EQ(got[i], 2.0 * moved[i]) << i;
      }
    }
  }
}

TEST_F(CliNumbers, ExplainTellsThem) {
  const Result text = run("explain 'transpose(600, 400)' --dtype bfloat16 --scale 2");
  EXPECT_EQ(text.status, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("f32 to bf16, scaled by 2, in f32"));
  EXPECT_THAT(text.out, HasSubstr("938 KiB read, 469 KiB written"));
  const Json json = Json::parse(run("explain 'bit_reversal(20)' --file --dtype-in u1 --dtype f4 --json").out);
  EXPECT_EQ(json["numbers"], "u8 to f32, in f32");
  EXPECT_EQ(json["bytes"], 1 << 20);
  EXPECT_EQ(json["written_bytes"], 4 << 20);
  EXPECT_EQ(Json::parse(run("permute transpose in.npy out.npy --dtype f2 --json").out)["numbers"],
            "f32 to f16, in f32");
  const std::string turned = "'transpose(3, 400)' --dtype f8 ";
  EXPECT_THAT(run("explain " + turned + "--scale 1,2,3 --along 1").out, HasSubstr("3 values along axis 1"));
  write_npy("added.npy", "<f2", "(400, 3)", std::vector<std::uint16_t>(1200));
  EXPECT_THAT(run("explain " + turned + "--add added.npy --beta 2").out, HasSubstr("f16"));
  expect_refused(turned + "--add in.npy", 2, "the result's shape 400x3", "explain ");
  expect_refused(turned + "--scale 1,2 --along 1", 2, "3, the extent of axis 1", "explain ");
  expect_refused(turned + "--file --in-place", 2, "from file to file", "explain ");
  // Nothing is changed: the ordinary way.
  EXPECT_FALSE(
      Json::parse(run("permute transpose in.npy out.npy --dtype f4 --json").out).contains("numbers"));
}

TEST_F(CliNumbers, RefusesWhatCannotBe) {
  write_npy("structs.npy", "|V3", "(2,)", std::vector<std::uint8_t>(6));
  write_npy("bytes.npy", "|V1", "(2,)", std::vector<std::uint8_t>(2));
  write_npy("small.npy", "<f4", "(40,)", std::vector<float>(40));
  const std::string usual = "transpose in.npy out.npy ";
  expect_refused(usual + "--dtype flaot32", 2, "did you mean `float32`?");
  expect_refused(usual + "--dtype S4", 2, "a type of numbers");
  expect_refused(usual + "--dtype-in f8 --dtype f4", 2, "--dtype-in f8 on dtype '<f4'");
  expect_refused(usual + "--dtype-in '>f4'", 2, "nothing that changes them");
  expect_refused("flip structs.npy out.npy --dtype f4", 2, "numbers to be changed in dtype '|V3'");
  expect_refused("flip bytes.npy out.npy --dtype f4", 2, "--dtype-in says what its items are");
  expect_refused(usual + "--op cnj", 2, "conj, neg, abs");
  expect_refused(usual + "--scale 2x", 2, "a number such as");
  expect_refused(usual + "--scale 1,2", 2, "--along K");
  expect_refused(usual + "--scale 1,2 --along 0", 2, "40, the extent of axis 0 of the result");
  expect_refused(usual + "--scale 1,2 --along 2", 2, "an axis from 0 to 1");
  expect_refused(usual + "--dtype f8 --along 1", 2, "--scale and --offset");
  expect_refused(usual + "--beta 2", 2, "--add FILE.npy");
  expect_refused(usual + "--add small.npy", 2, "the result's shape 40x60");
  expect_refused(usual + "--add none.npy", 6, "none.npy");
  expect_refused(usual + "--rounding up", 2, "truncate or nearest");
  expect_refused("transpose in.npy --in-place --dtype i4", 3, "--in-place");
  expect_refused(usual + "--dtype f2 --map v+1", 3, "--map");
  expect_refused(usual + "--dtype f2 --devices 0,1", 3, "--devices");
}

}  // namespace cli_numbers_test
}  // namespace faro

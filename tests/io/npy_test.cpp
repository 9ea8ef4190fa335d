// .npy headers: what numpy writes is read, what lies is refused by name, and a round trip keeps every byte.
// Sanitized: in `make test`, too.
#include "io/npy.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <string>
#include <vector>

#include "faro/error.hpp"
#include "io/buffer.hpp"
#include "io/python_literal.hpp"
#include "refusal.hpp"
#include "size_text.hpp"

namespace faro::io {
namespace npy_test {

namespace fs = std::filesystem;

constexpr std::uint64_t kMax = (std::uint64_t{1} << 63) - 1;

std::string header_text(const std::string& dictionary, int version = 1) {
  std::string text = "\x93NUMPY";
  text += static_cast<char>(version);
  text += '\0';
  for (std::size_t i = 0; i < (version == 1 ? 2U : 4U); ++i) {
    text += static_cast<char>(dictionary.size() >> (8 * i) & 0xff);
  }
  return text + dictionary;
}

std::string dictionary_of(const std::string& descr, const std::string& shape = "(4,)",
                          const std::string& order = "False") {
  return "{'descr': " + descr + ", 'fortran_order': " + order + ", 'shape': " + shape + ", }\n";
}

NpyHeader parse(const std::string& text, std::uint64_t data_bytes) {
  return parse_npy_header(std::as_bytes(std::span(text.data(), text.size())), text.size() + data_bytes,
                          "in.npy");
}

// Expects a refusal whose line contains `part`.
void expect_refused(const std::string& text, std::uint64_t data_bytes, const std::string& part) {
  SCOPED_TRACE(text.substr(0, 200));
  SCOPED_TRACE(part);
  test::expect_refused(ErrorCode::file, {part, "in.npy"}, [&] { parse(text, data_bytes); });
}

TEST(NpyDtype, ItemBytes) {
  const std::vector<std::pair<std::string, std::uint64_t>> table{
      {"'|b1'", 1},
      {"'?'", 1},
      {"'|i1'", 1},
      {"'<i2'", 2},
      {"'>i4'", 4},
      {"'<i8'", 8},
      {"'|u1'", 1},
      {"'<u2'", 2},
      {"'>u4'", 4},
      {"'=u8'", 8},
      {"'<f2'", 2},
      {"'<f4'", 4},
      {"'>f8'", 8},
      {"'<f12'", 12},
      {"'<f16'", 16},
      {"'<c8'", 8},
      {"'<c16'", 16},
      {"'<c24'", 24},
      {"'<c32'", 32},
      {"'S32'", 32},
      {"'|S1'", 1},
      {"'<U3'", 12},
      {"'|V32'", 32},
      {"\"<f4\"", 4},
      {"'<M8'", 8},
      {"'<M8[ns]'", 8},
      {"'<M8[25s]'", 8},
      {"'<m8[D/3]'", 8},
      {"'<M8[generic]'", 8},
      {"[('a', '<f4')]", 4},
      {"[('a', '<f4'), ('b', '|u1'),]", 5},
      {"[('a', '<f4', (3,)), ('b', '|u1', (2, 5))]", 22},
      {"[('a', '<f4', ()), ('b', '|u1', 7)]", 11},
      {"[('a', [('x', '<i2'), ('y', '<f8')], (2,)), ('', '|V4')]", 24},
      {"[(('a title', 'a'), '<i4')]", 4},
      {"[('a', '<f4', (0,)), ('b', '|u1')]", 1},
      {"[('quote\\'s', '<f4')]", 4},
      // Words that numpy.dtype() takes besides, and what ml_dtypes writes.
      {"'float32'", 4},
      {"'f'", 4},
      {"'>d'", 8},
      {"'|?'", 1},
      {"'q'", 8},
      {"'c'", 1},
      {"'intc'", 4},
      {"'complex64'", 8},
      {"'longdouble'", 16},
      {"'bool'", 1},
      {"'datetime64[ns]'", 8},
      {"'timedelta64[25s]'", 8},
      {"'<f1'", 1},
      {"'<W4'", 4},
      {"'<c4'", 4},
      {"'float8_e5m3fnu'", 1},
      {"'bfloat16'", 2},
      {"'float8_e5m2'", 1},
      {"'int4'", 1},
      // Lists in text, and pairs.
      {"'f4,i2'", 6},
      {"'f4, >f8,'", 12},
      {"'(2,3)f4'", 24},
      {"'3f4,(2,)S5,M8[ns]'", 30},
      {"'<(2, 3)i2,2 f8'", 28},
      {"'()f4'", 4},
      {"('<f4', (2, 3))", 24},
      {"('<f4', 3)", 12},
      {"('S', 5)", 5},
      {"('U', 2)", 8},
      {"('<i4', '<u4')", 4},
      {"(('f4', (2,)), (3,))", 24},
      {"[('a', ('<f4', (2,))), ('b', '2u1', [3])]", 14}};
  for (const auto& [descr, bytes] : table) EXPECT_EQ(npy_item_bytes(descr, "x"), bytes) << descr;
}

TEST(NpyDtype, Refused) {
  for (const char* descr : {"'O'",
                            "'|O'",
                            "'|O8'",
                            "[('a', '<f4'), ('b', '|O')]",
                            "'<f3'",
                            "'<i16'",
                            "'<u0'",
                            "'|b2'",
                            "'<M4'",
                            "'<x4'",
                            "'4'",
                            "'f1x'",
                            "'>float32'",
                            "'<float32[ns]'",
                            "'M[ns]'",
                            "'float8'",
                            "'float32[ns]'",
                            "'Float32'",
                            "'S'",
                            "'str'",
                            "'object'",
                            "'f4,O'",
                            "'f4,,i4'",
                            "',f4'",
                            "' f4'",
                            "'(1)f4'",
                            "'(2f4'",
                            "'(2,)'",
                            "'3'",
                            "'<2>f4,i4'",
                            "'0f4'",
                            "'99999999999999999999f4'",
                            "('<f4',)",
                            "('<f4', 2, 3)",
                            "('<f4', '<f8')",
                            "('<f4', None)",
                            "('O', 2)",
                            "''",
                            "'<'",
                            "'<<f4'",
                            "'<f4 '",
                            "'<f04'",
                            "'<f-4'",
                            "'<f4[ns]'",
                            "'<M8[]'",
                            "'<M8[xs]'",
                            "'<M8[ns'",
                            "'<M8[s/]'",
                            "'|S0'",
                            "'|V0'",
                            "'<U0'",
                            "'|T16'",
                            "[]",
                            "()",
                            "4",
                            "None",
                            "True",
                            "{}",
                            "[('a',)]",
                            "[('a', '<f4', (3,), 1)]",
                            "['<f4']",
                            "[('a', '<f4', (-1,))]",
                            "[('a', '<f4', ('3',))]",
                            "[(1, '<f4')]",
                            "[('a', '<f4', (0,))]",
                            "'|V99999999999999999999'",
                            "'|V4611686018427387904'",
                            "'<U4611686018427387903'",
                            "[('a', '|V4000000000000', (4000000000000,))]",
                            "[('a', '|V9223372036854775807')]",
                            "'<f4' '<f4'",
                            "'<f4',",
                            "\"<f4'",
                            "'<f4",
                            "name",
                            "[('a', '<f4')",
                            "[('a', '<f4'),,]"}) {
    EXPECT_THROW(npy_item_bytes(descr, "x"), Error) << descr;
  }
}

TEST(NpyHeader, AcceptsWhatNumpyAccepts) {
  struct Case {
    std::string dictionary;
    std::uint64_t data_bytes;
    std::vector<std::uint64_t> shape;
  };
  const std::vector<Case> table{
      {dictionary_of("'<u4'"), 16, {4}},
      {dictionary_of("'<u4'", "()"), 4, {}},
      {dictionary_of("'<u4'", "(2, 3)"), 24, {2, 3}},
      {dictionary_of("'<u4'", "(2, 3,)"), 24, {2, 3}},
      {dictionary_of("'<u4'", "(0,)"), 0, {0}},
      {dictionary_of("'<u4'", "(9223372036854775807, 0, 9223372036854775807)"), 0, {kMax, 0, kMax}},
      {dictionary_of("'<u4'", "(4L, 2L)"), 32, {4, 2}},
      {dictionary_of("'<u4'", "(4,)", "True"), 16, {4}},
      {dictionary_of("'<u4'", "()", "True"), 4, {}},
      {"{'shape':(4,),'fortran_order':False,'descr':'<u4'}", 16, {4}},
      {"  {\"descr\": \"<u4\",\n \"shape\": (4,),\n\t\"fortran_order\": False}   \n\n", 16, {4}}};
  for (const Case& c : table) {
    for (const int version : {1, 2, 3}) {
      SCOPED_TRACE(c.dictionary);
      const std::string text = header_text(c.dictionary, version);
      const NpyHeader header = parse(text, c.data_bytes);
      EXPECT_EQ(header.shape, c.shape);
      EXPECT_EQ(header.item_bytes, 4U);
      EXPECT_EQ(header.data_offset, text.size());
      EXPECT_EQ(header.data_bytes(), c.data_bytes);
    }
  }
}

TEST(NpyHeader, RefusesByName) {
  const std::string good = dictionary_of("'<u4'");
  expect_refused("", 0, "empty file");
  expect_refused("PK\x03\x04 not npy at all", 0, "does not start");
  expect_refused("\x93NUMPX\x01" + std::string(40, 'x'), 0, "does not start");
  expect_refused(header_text(good, 4), 16, "version 4.0");
  expect_refused(header_text(good, 0), 16, "version 0.0");
  std::string minor = header_text(good);
  minor[7] = 1;
  expect_refused(minor, 16, "version 1.1");
  expect_refused(header_text(good), 15, "1 byte missing");
  expect_refused(header_text(good), 0, "16 bytes missing");
  expect_refused(header_text(good), 17, "1 byte too many");
  expect_refused(header_text(dictionary_of("'|O'")), 32, "object dtype");
  expect_refused(header_text(dictionary_of("'|V0'")), 0, "0 bytes");
  for (const char* shape :
       {"4", "(4)", "[4]", "(-4,)", "(4.0,)", "('4',)", "(True,)", "(None,)", "(4,,)", "(,)", "(04,)",
        "(0x4,)", "(1_0,)", "(9223372036854775808,)", "(99999999999999999999999999,)", "{}"}) {
    expect_refused(header_text(dictionary_of("'<u4'", shape)), 16, "got ");
  }
  expect_refused(header_text(dictionary_of("'<u4'", "(4294967296, 4294967296)")), 16, "less than 2^63 bytes");
  expect_refused(header_text(dictionary_of("'<u4'", "(2305843009213693952,)")), 16, "less than 2^63 bytes");
  expect_refused(header_text(dictionary_of("'<u4'", "(2305843009213693951,)")), 16, "missing");
  for (const char* order : {"0", "1", "None", "'False'", "false", "()"}) {
    expect_refused(header_text(dictionary_of("'<u4'", "(4,)", order)), 16, "got ");
  }
  expect_refused(header_text("{}"), 16, "without 'descr'");
  expect_refused(header_text("{'descr': '<u4', 'shape': (4,)}"), 16, "without 'fortran_order'");
  expect_refused(header_text("{'descr': '<u4', 'fortran_order': False}"), 16, "without 'shape'");
  expect_refused(header_text(good.substr(0, good.size() - 2) + "'extra': 1}"), 16, "'extra'");
  expect_refused(header_text(good.substr(0, good.size() - 2) + "'shape': (4,)}"), 16, "twice");
  expect_refused(header_text(good.substr(0, good.size() - 2) + "1: 1}"), 16, "header key 1");
  expect_refused(header_text("('descr', '<u4')"), 16, "a dictionary");
  expect_refused(header_text(good + "x"), 16, "nothing after");
  expect_refused(header_text(good + std::string(1, '\0')), 16, "nothing after");
  expect_refused(header_text("__import__('os').system('true')"), 16, "at its byte 0");
  expect_refused(header_text(std::string(100000, '('), 2), 16, "nested");
  expect_refused(header_text(dictionary_of("[('a', " + std::string(64, '[') + "])]")), 16, "nested");
  expect_refused(header_text(std::string(60000, ' ')), 16, "a string, an integer");
}

TEST(NpyHeader, EveryTruncationIsRefused) {
  for (const int version : {1, 2, 3}) {
    const std::string whole =
        header_text(dictionary_of("[('a', '<f4', (2,)), ('b', '|S3')]", "(2, 3)"), version);
    EXPECT_EQ(parse(whole, 66).item_bytes, 11U);
    for (std::size_t length = 0; length < whole.size(); ++length) {
      expect_refused(whole.substr(0, length), 0, "got ");
    }
  }
}

TEST(NpyHeader, EveryDamagedByteIsReadOrRefused) {
  const std::string whole = header_text(dictionary_of("[('a', '<f4', (2,)), ('b', '|S3')]", "(2, 3)"));
  int refused = 0;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    for (int value = 0; value < 256; ++value) {
      std::string damaged = whole;
      damaged[i] = static_cast<char>(value);
      try {
        const NpyHeader header = parse(damaged, 66);
        EXPECT_EQ(header.data_offset + header.data_bytes(), whole.size() + 66);
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::file);
        ++refused;
      }
    }
  }
  EXPECT_GT(refused, 10000);
}

TEST(NpyHeader, TextEncodings) {
  const std::string latin1 = dictionary_of("[('h\xf6he', '<f4')]");
  const std::string utf8 = dictionary_of("[('höhe', '<f4')]");
  EXPECT_EQ(parse(header_text(latin1, 1), 16).descr, "[('höhe', '<f4')]");
  EXPECT_EQ(parse(header_text(utf8, 3), 16).descr, "[('höhe', '<f4')]");
  for (const char* bad :
       {"\xf6", "\xc3", "\xc0\xaf", "\xed\xa0\x80", "\xf5\x80\x80\x80", "\xe0\x80\x80", "\x80"}) {
    expect_refused(header_text(dictionary_of("[('" + std::string(bad) + "', '<f4')]"), 3), 16, "UTF-8");
  }
}

TEST(NpyHeader, WrittenHeadersParseBack) {
  const std::string long_list = [] {
    std::string list = "[";
    for (int i = 0; i < 9000; ++i) list += "('" + std::to_string(i) + "', '<f4'), ";
    return list + "]";
  }();
  for (const std::string& descr : {std::string("'<u4'"), std::string("[('höhe', '<f4', (3,))]"), long_list}) {
    const std::uint64_t item_bytes = npy_item_bytes(descr, "x");
    for (const std::vector<std::uint64_t>& shape :
         std::vector<std::vector<std::uint64_t>>{{}, {0}, {7}, {2, 3}, {1, 2, 3, 4, 5, 6, 7, 8}}) {
      const auto bytes = npy_header_bytes(descr, shape);
      EXPECT_EQ(bytes.size() % 64, 0U);
      EXPECT_EQ(static_cast<char>(bytes.back()), '\n');
      NpyHeader shaped;
      shaped.shape = shape;
      const std::uint64_t count = shaped.item_count();
      const NpyHeader header = parse_npy_header(bytes, bytes.size() + count * item_bytes, "x");
      EXPECT_EQ(header.descr, descr);
      EXPECT_EQ(header.shape, shape);
    }
  }
  const std::string text(
      reinterpret_cast<const char*>(npy_header_bytes("'<u4'", std::vector<std::uint64_t>{4, 8}).data()), 128);
  EXPECT_NE(text.find("{'descr': '<u4', 'fortran_order': False, 'shape': (4, 8), }"), std::string::npos);
}

TEST(PythonLiteral, KeepsSourceAndStructure) {
  const PythonLiteral value = parse_python_literal(" {'a': [(), (1,), (2), \"x\\\"y\"], 'b': None} ");
  ASSERT_EQ(value.items.size(), 4U);
  EXPECT_EQ(value.items[1].source, "[(), (1,), (2), \"x\\\"y\"]");
  EXPECT_EQ(value.items[1].items[0].kind, PythonLiteral::Kind::tuple);
  EXPECT_EQ(value.items[1].items[1].kind, PythonLiteral::Kind::tuple);
  EXPECT_EQ(value.items[1].items[2].kind, PythonLiteral::Kind::integer);
  EXPECT_EQ(value.items[1].items[3].text, "x\"y");
}

class NpyFile : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "faro-npy-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    directory_ = pattern;
  }
  void TearDown() override { fs::remove_all(directory_); }

  std::size_t file_count() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(directory_), fs::directory_iterator()));
  }

  fs::path directory_;
};

// Data in Fortran order is read as the array that it means, in C order.
TEST_F(NpyFile, FortranOrderIsReadAsWhatItMeans) {
  using Shape = std::vector<std::uint64_t>;
  for (const Shape& shape : {Shape{2, 3}, Shape{70, 33}, Shape{5, 1, 7}, Shape{3, 4, 5}, Shape{40, 2, 3, 50},
                             Shape{1, 9}, Shape{0, 3}, Shape{4}}) {
    for (const std::uint64_t width : {1U, 2U, 4U, 8U, 3U, 16U}) {
      std::uint64_t count = 1;
      for (const std::uint64_t extent : shape) count *= extent;
      // Item x of the C order, whose bytes tell x, at its place of the Fortran order.
      std::string data(count * width, '\0');
      for (std::uint64_t x = 0; x < count; ++x) {
        std::uint64_t rest = x;
        std::uint64_t place = 0;
        std::uint64_t slower = count;
        for (std::size_t axis = shape.size(); axis-- > 0; rest /= shape[axis]) {
          slower /= shape[axis];
          place += rest % shape[axis] * slower;
        }
        for (std::uint64_t k = 0; k < width; ++k)
          data[place * width + k] = static_cast<char>(x * 7 + x / 256 + k);
      }
      std::string tuple;
      for (const std::uint64_t extent : shape) tuple += std::to_string(extent) + ", ";
      const fs::path path = directory_ / "fortran.npy";
      std::ofstream(path, std::ios::binary)
          << header_text(dictionary_of("'|V" + std::to_string(width) + "'", "(" + tuple + ")", "True"))
          << data;
      const NpyInput input(path);
      EXPECT_EQ(input.header().shape, shape);
      EXPECT_FALSE(input.header().fortran_order);
      ASSERT_EQ(input.data().size(), count * width);
      for (std::uint64_t i = 0; i < count * width; ++i) {
        const std::uint64_t x = i / width;
        ASSERT_EQ(input.data()[i], static_cast<std::byte>(x * 7 + x / 256 + i % width)) << i;
      }
    }
  }
  EXPECT_TRUE(parse(header_text(dictionary_of("'<u4'", "(2, 2)", "True")), 16).fortran_order);
  EXPECT_FALSE(parse(header_text(dictionary_of("'<u4'", "(1, 4)", "True")), 16).fortran_order);
}

// Before anything is touched, in the units that people read.
TEST_F(NpyFile, RefusesWhatMemoryCannotHold) {
  const fs::path path = directory_ / "huge.npy";
  constexpr std::uint64_t kItems = std::uint64_t{1} << 43;
  const std::string header = header_text(dictionary_of("'|u1'", "(" + std::to_string(kItems) + ",)"));
  std::ofstream(path, std::ios::binary) << header;
  std::error_code failed;
  fs::resize_file(path, header.size() + kItems, failed);
  if (failed) GTEST_SKIP() << "no file of 8 TiB with holes here: " << failed.message();
  test::expect_refused(ErrorCode::unsupported, "an array of 8 TiB", [&] { const NpyInput input(path); });
}

TEST(Sizes, AreInBinaryUnits) {
  EXPECT_EQ(size_text(0), "0 bytes");
  EXPECT_EQ(size_text(1), "1 byte");
  EXPECT_EQ(size_text(1023), "1023 bytes");
  EXPECT_EQ(size_text(1024), "1 KiB");
  EXPECT_EQ(size_text(1536), "1.5 KiB");
  EXPECT_EQ(size_text(200000000128), "186 GiB");
  EXPECT_EQ(size_text((1U << 20) - 1), "1 MiB");
  EXPECT_EQ(size_text(~std::uint64_t{0}), "16 EiB");
}

TEST_F(NpyFile, RoundTrip) {
  for (const std::uint64_t count : {0U, 1U, 63U, 5U << 20}) {
    const fs::path path = directory_ / "a.npy";
    const std::vector<std::uint64_t> shape{count, 3};
    {
      NpyOutput output(path, "'|u1'", shape, 1);
      ASSERT_EQ(output.data().size(), count * 3);
      for (std::size_t i = 0; i < output.data().size(); ++i)
        output.data()[i] = static_cast<std::byte>(i * 7 + i / 256);
      output.commit();
    }
    const NpyInput input(path);
    EXPECT_EQ(input.header().shape, shape);
    EXPECT_EQ(input.header().descr, "'|u1'");
    ASSERT_EQ(input.data().size(), count * 3);
    for (std::size_t i = 0; i < input.data().size(); ++i) {
      ASSERT_EQ(input.data()[i], static_cast<std::byte>(i * 7 + i / 256)) << i;
    }
    EXPECT_EQ(file_count(), 1U);
  }
}

TEST_F(NpyFile, AbandonedLeavesNothing) {
  const std::vector<std::uint64_t> shape{1000};
  { NpyOutput output(directory_ / "a.npy", "'|u1'", shape, 1); }
  EXPECT_EQ(file_count(), 0U);
}

TEST_F(NpyFile, ReplacesAndFollowsLinks) {
  write_file(directory_ / "real", "old");
  fs::permissions(directory_ / "real", fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink("real", directory_ / "link");
  write_file(directory_ / "link", "new");
  EXPECT_TRUE(fs::is_symlink(directory_ / "link"));
  std::string content;
  std::ifstream(directory_ / "real") >> content;
  EXPECT_EQ(content, "new");
  EXPECT_EQ(fs::status(directory_ / "real").permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_TRUE(same_file(directory_ / "link", directory_ / "real"));
  fs::create_hard_link(directory_ / "real", directory_ / "hard");
  EXPECT_TRUE(same_file(directory_ / "hard", directory_ / "real"));
  EXPECT_FALSE(same_file(directory_ / "real", directory_ / "missing"));
  EXPECT_FALSE(same_file(directory_ / "missing", directory_ / "missing"));
  EXPECT_TRUE(same_target(directory_ / "link", directory_ / "hard"));
  EXPECT_FALSE(same_target(directory_ / "real", directory_ / "missing"));
  // What is written through a link whose end is missing is there.
  fs::create_symlink("missing", directory_ / "dangling");
  EXPECT_TRUE(same_target(directory_ / "dangling", directory_ / "." / "missing"));
  EXPECT_FALSE(same_target(directory_ / "dangling", directory_ / "other"));
  fs::create_symlink("loop", directory_ / "loop");
  EXPECT_FALSE(same_target(directory_ / "loop", directory_ / "missing"));
}

TEST_F(NpyFile, WhetherAFileCanBeWrittenIsToldWithoutATrace) {
  write_file(directory_ / "there", "old");
  fs::create_symlink("loop", directory_ / "loop");
  for (const char* const name : {"there", "new"}) EXPECT_NO_THROW(require_output(directory_ / name));
  for (const char* const name : {"missing/file", "there/file", ".", "loop", "folder/"}) {
    const auto refusal = [&](const auto& call) {
      return test::message_of(ErrorCode::file, [&] { call(directory_ / name); });
    };
    EXPECT_EQ(refusal(require_output), refusal([](const fs::path& path) { write_file(path, "new"); }))
        << name;
  }
  EXPECT_THROW(require_output("/dev/null"), Error);
  EXPECT_EQ(file_count(), 2U);
  std::string content;
  std::ifstream(directory_ / "there") >> content;
  EXPECT_EQ(content, "old");
}

TEST_F(NpyFile, LinksToWhatIsNotThereAreFollowed) {
  fs::create_directory(directory_ / "sub");
  fs::create_symlink("sub/second", directory_ / "first");
  fs::create_symlink(directory_ / "target", directory_ / "sub" / "second");
  write_file(directory_ / "first", "new");
  EXPECT_TRUE(fs::is_symlink(directory_ / "first"));
  EXPECT_TRUE(fs::is_symlink(directory_ / "sub" / "second"));
  std::string content;
  std::ifstream(directory_ / "target") >> content;
  EXPECT_EQ(content, "new");

  fs::create_symlink("missing/target", directory_ / "dangling");
  EXPECT_THROW(write_file(directory_ / "dangling", "new"), Error);
  EXPECT_TRUE(fs::is_symlink(directory_ / "dangling"));

  fs::create_symlink("loop", directory_ / "loop");
  test::expect_refused(ErrorCode::file, "loop`: got Too many levels",
                       [&] { write_file(directory_ / "loop", "new"); });
}

TEST_F(NpyFile, InputRefusals) {
  EXPECT_THROW(NpyInput(directory_ / "missing.npy"), Error);
  EXPECT_THROW(NpyInput{directory_}, Error);
  EXPECT_THROW(NpyInput("/dev/null"), Error);
  write_file(directory_ / "empty.npy", "");
  EXPECT_THROW(NpyInput(directory_ / "empty.npy"), Error);
}

TEST_F(NpyFile, OutputRefusals) {
  const std::vector<std::uint64_t> shape{1000};
  EXPECT_THROW(NpyOutput(directory_ / "missing" / "a.npy", "'|u1'", shape, 1), Error);
  EXPECT_THROW(NpyOutput(directory_, "'|u1'", shape, 1), Error);
  EXPECT_THROW(NpyOutput(directory_ / "", "'|u1'", shape, 1), Error);
  EXPECT_THROW(NpyOutput("", "'|u1'", shape, 1), Error);
  EXPECT_THROW(NpyOutput("/dev/null", "'|u1'", shape, 1), Error);
  EXPECT_THROW(NpyOutput(directory_ / std::string(300, 'x'), "'|u1'", shape, 1), Error);
  EXPECT_EQ(file_count(), 0U);
}

TEST_F(NpyFile, TooFullIsFoundBeforeWriting) {
  const std::vector<std::uint64_t> shape{std::uint64_t{1} << 50};
  EXPECT_THROW(NpyOutput(directory_ / "a.npy", "'|u1'", shape, 1), Error);
  // A limit on file sizes is refused by the same calls as a full disk.
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit old_limit{};
  getrlimit(RLIMIT_FSIZE, &old_limit);
  const rlimit limit{4096, old_limit.rlim_max};
  setrlimit(RLIMIT_FSIZE, &limit);
  const std::vector<std::uint64_t> small{100000};
  EXPECT_THROW(NpyOutput(directory_ / "a.npy", "'|u1'", small, 1), Error);
  setrlimit(RLIMIT_FSIZE, &old_limit);
  std::signal(SIGXFSZ, old_handler);
  EXPECT_EQ(file_count(), 0U);
}

}  // namespace npy_test
}  // namespace faro::io

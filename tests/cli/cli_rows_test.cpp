// faro take, put, add and route on files: results by hand, axes, fills, other dtypes, refusals in one line,
// JSON as documented.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cli_support.hpp"

namespace cli_rows_test {

using namespace faro::testing;

class RowsCli : public CommandTest {
 protected:
  void SetUp() override {
    CommandTest::SetUp();
    ASSERT_EQ(run("new 4x3 u2 a.npy").status, 0);
    write_npy("from.npy", "<i4", "(5,)", std::vector<std::int32_t>{3, 0, 3, -1, 1});
    write_npy("good.npy", "<i8", "(3,)", std::vector<std::int64_t>{3, 0, 3});
    write_npy("to.npy", ">u2", "(4,)", std::vector<std::uint16_t>{0x0500, 0x0000, 0x0100, 0x0300});
    write_npy("twice.npy", "<u4", "(4,)", std::vector<std::uint32_t>{1, 0, 1, 1});
    write_npy("keys.npy", "|i1", "(5,)", std::vector<std::int8_t>{2, 0, 2, 1, 0});
    write_npy("float.npy", "<f8", "(2,)", std::vector<double>{0, std::nan("")});
    write_npy("huge.npy", "<u8", "(2,)", std::vector<std::uint64_t>{0, ~std::uint64_t{0}});
    write_npy("past.npy", "<i8", "(2,)", std::vector<std::int64_t>{0, 4});
  }

  // The numbers of a file, whose header says `shape`.
  template <typename T>
  std::vector<T> read_npy(const std::string& name, const std::string& shape) const {
    const std::string content = content_of(directory_ / name);
    const std::string header = content.substr(0, content.find('\n'));
    EXPECT_NE(header.find("'shape': " + shape), std::string::npos) << header;
    const std::string data = content.substr(content.find('\n') + 1);
    std::vector<T> values(data.size() / sizeof(T));
    std::memcpy(values.data(), data.data(), values.size() * sizeof(T));
    return values;
  }
  using U2 = std::vector<std::uint16_t>;
  using I8 = std::vector<std::int64_t>;
};

// With a GPU the same files; without one a refusal that writes none.
// As every run: one line of at most 80 columns, whatever there is to tell.
TEST_F(RowsCli, TellsOneShortLine) {
  ASSERT_EQ(run("new 2000x16 f4 wide.npy").status, 0);
  ASSERT_EQ(run("new 3000 u1 many.npy --fill random").status, 0);
  ASSERT_EQ(run("new 2000 u1 ones.npy --fill random").status, 0);
  ASSERT_EQ(run("new 2000 u4 order.npy").status, 0);
  for (const std::string arguments :
       {"take from.npy a.npy out.npy --fill 7", "take many.npy wide.npy out.npy",
        "put order.npy wide.npy out.npy --rows 12345", "add ones.npy wide.npy out.npy --rows 123456",
        "route many.npy --buckets 1000 --capacity 100 --multiple 64 --out-places places.npy",
        "route keys.npy --buckets 3 --out-places places.npy --capacity 1"}) {
    SCOPED_TRACE("faro " + arguments);
    const Result result = run(arguments);
    ASSERT_EQ(result.status, 0) << result.err;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    EXPECT_LE(result.err.size(), 81U) << result.err;
    EXPECT_NE(result.err.find(" ms"), std::string::npos) << result.err;
  }
}

TEST_F(RowsCli, TakesAnEngine) {
  const std::vector<std::pair<std::string, std::string>> commands{
      {"take from.npy a.npy out.npy --fill 7", "out.npy"},
      {"put to.npy a.npy out.npy --rows 6", "out.npy"},
      {"add twice.npy a.npy out.npy --rows 2", "out.npy"},
      {"route keys.npy --buckets 3 --multiple 2 --out-inverse out.npy", "out.npy"}};
  for (const auto& [command, file] : commands) {
    ASSERT_EQ(run(command).status, 0) << command;
    const std::string expected = content_of(directory_ / file);
    std::filesystem::remove(directory_ / file);
    const int status = run(command + " --engine cuda").status;
    ASSERT_TRUE(status == 0 || status == 4) << command;
    if (status == 0) {
      EXPECT_EQ(content_of(directory_ / file), expected) << command;
    } else {
      EXPECT_FALSE(std::filesystem::exists(directory_ / file)) << command;
    }
  }
  EXPECT_EQ(run("take past.npy a.npy out.npy --engine cuda").status, 2);
  EXPECT_EQ(run("take good.npy a.npy out.npy --engine gpu").status, 2);
}

TEST_F(RowsCli, TakesRowsAlongAnyAxis) {
  ASSERT_EQ(run("take good.npy a.npy out.npy").status, 0);
  EXPECT_EQ(read_npy<std::uint16_t>("out.npy", "(3, 3)"), (U2{9, 10, 11, 0, 1, 2, 9, 10, 11}));
  ASSERT_EQ(run("take keys.npy a.npy out.npy --axis 1").status, 0);
  EXPECT_EQ(read_npy<std::uint16_t>("out.npy", "(4, 5)"),
            (U2{2, 0, 2, 1, 0, 5, 3, 5, 4, 3, 8, 6, 8, 7, 6, 11, 9, 11, 10, 9}));
  ASSERT_EQ(run("take keys.npy a.npy last.npy --axis -1").status, 0);
  EXPECT_EQ(content_of(directory_ / "out.npy"), content_of(directory_ / "last.npy"));
  // The index's axes take the place of the axis; one without axes takes it away.
  write_npy("square.npy", "<i8", "(2, 2)", I8{0, 1, 1, 2});
  ASSERT_EQ(run("take square.npy a.npy out.npy --axis 1").status, 0);
  EXPECT_EQ(read_npy<std::uint16_t>("out.npy", "(4, 2, 2)"),
            (U2{0, 1, 1, 2, 3, 4, 4, 5, 6, 7, 7, 8, 9, 10, 10, 11}));
  write_npy("one.npy", "<i8", "()", I8{2});
  ASSERT_EQ(run("take one.npy a.npy out.npy").status, 0);
  EXPECT_EQ(read_npy<std::uint16_t>("out.npy", "(3,)"), (U2{6, 7, 8}));
  write_npy("none.npy", "<i8", "(0,)", I8{});
  ASSERT_EQ(run("take none.npy a.npy out.npy").status, 0);
  EXPECT_EQ(read_npy<std::uint16_t>("out.npy", "(0, 3)"), U2{});
}

TEST_F(RowsCli, FillsWhatNamesNoRow) {
  ASSERT_EQ(run("take from.npy a.npy out.npy --fill 77").status, 0);
  EXPECT_EQ(read_npy<std::uint16_t>("out.npy", "(5, 3)"),
            (U2{9, 10, 11, 0, 1, 2, 9, 10, 11, 77, 77, 77, 3, 4, 5}));
  write_npy("base.npy", "<u2", "(5, 3)", U2(15, 8));
  ASSERT_EQ(run("take from.npy a.npy out.npy --into base.npy").status, 0);
  EXPECT_EQ(read_npy<std::uint16_t>("out.npy", "(5, 3)"),
            (U2{9, 10, 11, 0, 1, 2, 9, 10, 11, 8, 8, 8, 3, 4, 5}));
  ASSERT_EQ(run("take huge.npy a.npy out.npy --fill 0 --marker 0xffffffffffffffff").status, 0);
  EXPECT_EQ(read_npy<std::uint16_t>("out.npy", "(2, 3)"), (U2{0, 1, 2, 0, 0, 0}));
  // Fills of other types.
  ASSERT_EQ(run("new 4 f2 half.npy --fill zeros").status, 0);
  ASSERT_EQ(run("take from.npy half.npy out.npy --fill -1.5").status, 0);
  EXPECT_EQ(read_npy<std::uint16_t>("out.npy", "(5,)"), (U2{0, 0, 0, 0xbe00, 0}));
  ASSERT_EQ(run("new 4 '>i4' big.npy").status, 0);
  ASSERT_EQ(run("take from.npy big.npy out.npy --fill -2").status, 0);
  EXPECT_EQ(read_npy<std::uint32_t>("out.npy", "(5,)"),
            (std::vector<std::uint32_t>{0x03000000, 0, 0x03000000, 0xfeffffff, 0x01000000}));
}

TEST_F(RowsCli, PutsRows) {
  ASSERT_EQ(run("put to.npy a.npy out.npy --rows 6").status, 0);
  EXPECT_EQ(read_npy<std::uint16_t>("out.npy", "(6, 3)"),
            (U2{3, 4, 5, 6, 7, 8, 0, 0, 0, 9, 10, 11, 0, 0, 0, 0, 1, 2}));
  ASSERT_EQ(run("put to.npy a.npy filled.npy --rows 6 --fill 9").status, 0);
  EXPECT_EQ(read_npy<std::uint16_t>("filled.npy", "(6, 3)"),
            (U2{3, 4, 5, 6, 7, 8, 9, 9, 9, 9, 10, 11, 9, 9, 9, 0, 1, 2}));
  // OUT may be what it begins with.
  write_npy("state.npy", "<u2", "(6, 3)", U2(18, 5));
  ASSERT_EQ(run("put to.npy a.npy state.npy --into state.npy").status, 0);
  EXPECT_EQ(read_npy<std::uint16_t>("state.npy", "(6, 3)"),
            (U2{3, 4, 5, 6, 7, 8, 5, 5, 5, 9, 10, 11, 5, 5, 5, 0, 1, 2}));
}

TEST_F(RowsCli, AddsRowsAlwaysAlike) {
  ASSERT_EQ(run("add twice.npy a.npy out.npy --rows 2").status, 0);
  EXPECT_EQ(read_npy<std::uint16_t>("out.npy", "(2, 3)"), (U2{3, 4, 5, 15, 18, 21}));
  write_npy("base.npy", "<u2", "(2, 3)", U2{100, 100, 100, 0, 0, 65535});
  ASSERT_EQ(run("add twice.npy a.npy out.npy --into base.npy").status, 0);
  EXPECT_EQ(read_npy<std::uint16_t>("out.npy", "(2, 3)"), (U2{103, 104, 105, 15, 18, 20}));
  // The other byte order, and along the last axis.
  ASSERT_EQ(run("new 2x4 '>f4' big.npy").status, 0);
  ASSERT_EQ(run("add twice.npy big.npy out.npy --rows 2 --axis 1").status, 0);
  EXPECT_EQ(read_npy<std::uint32_t>("out.npy", "(2, 2)"),
            (std::vector<std::uint32_t>{0x0000803f, 0x0000a040, 0x0000a040, 0x00008841}));
  // Sums of many numbers, to the bit.
  ASSERT_EQ(run("new 100000 f4 x.npy --fill random").status, 0);
  ASSERT_EQ(run("new 100000 u1 i.npy").status, 0);
  ASSERT_EQ(run("add i.npy x.npy one.npy --rows 256 --threads 1").status, 0);
  for (const char* const threads : {"2", "3", "4"}) {
    ASSERT_EQ(run(std::string("add i.npy x.npy many.npy --rows 256 --threads ") + threads).status, 0);
    EXPECT_EQ(content_of(directory_ / "one.npy"), content_of(directory_ / "many.npy"));
  }
}

TEST_F(RowsCli, Routes) {
  ASSERT_EQ(run("route keys.npy --buckets 3 --out-places p.npy --out-offsets o.npy --out-inverse i.npy "
                "--out-counts c.npy --out-rows r.npy")
                .status,
            0);
  EXPECT_EQ(read_npy<std::int64_t>("p.npy", "(5,)"), (I8{3, 0, 4, 2, 1}));
  EXPECT_EQ(read_npy<std::int64_t>("o.npy", "(4,)"), (I8{0, 2, 3, 5}));
  EXPECT_EQ(read_npy<std::int64_t>("i.npy", "(5,)"), (I8{1, 4, 3, 0, 2}));
  EXPECT_EQ(read_npy<std::int64_t>("c.npy", "(3,)"), (I8{2, 1, 2}));
  ASSERT_EQ(run("route keys.npy --buckets 3 --multiple 2 --capacity 1 --out-places p.npy --out-offsets o.npy")
                .status,
            0);
  EXPECT_EQ(read_npy<std::int64_t>("p.npy", "(5,)"), (I8{4, 0, -1, 2, -1}));
  EXPECT_EQ(read_npy<std::int64_t>("o.npy", "(4,)"), (I8{0, 2, 4, 6}));
  write_npy("top2.npy", "<i8", "(3, 2)", I8{1, 0, 0, 1, 1, -1});
  ASSERT_EQ(run("route top2.npy --buckets 2 --out-places p.npy --out-rows r.npy").status, 0);
  EXPECT_EQ(read_npy<std::int64_t>("p.npy", "(3, 2)"), (I8{2, 0, 1, 3, 4, -1}));
  EXPECT_EQ(read_npy<std::int64_t>("r.npy", "(5,)"), (I8{0, 1, 0, 1, 2}));
  // Rows there and back.
  ASSERT_EQ(run("route keys.npy --buckets 3 --out-places p.npy").status, 0);
  ASSERT_EQ(run("new 5x2 u4 rows.npy").status, 0);
  ASSERT_EQ(run("put p.npy rows.npy sent.npy --rows 5").status, 0);
  ASSERT_EQ(run("take p.npy sent.npy back.npy").status, 0);
  EXPECT_EQ(content_of(directory_ / "back.npy"), content_of(directory_ / "rows.npy"));
}

TEST_F(RowsCli, RefusalsAreOneLineAndWriteNothing) {
  for (const Refused& c : std::vector<Refused>{
           {"take from.npy a.npy out.npy", 2, "--fill VALUE"},
           {"take past.npy a.npy out.npy", 2, "row 4 at position 1"},
           {"take past.npy a.npy out.npy --fill 0", 2, "rows from 0 to 3"},
           {"take huge.npy a.npy out.npy --fill 0", 2, "row 18446744073709551615"},
           {"take float.npy a.npy out.npy", 2, "whole numbers"},
           {"take good.npy a.npy out.npy --axis 2", 2, "--axis"},
           {"take good.npy a.npy out.npy --axis -3", 2, "`-3`"},
           {"take good.npy a.npy out.npy --fill 65536", 2, "within the range"},
           {"take good.npy a.npy out.npy --fill 1.5", 2, "`1.5`"},
           {"take good.npy a.npy out.npy --fill 0 --into a.npy", 2, "one of them"},
           {"take good.npy a.npy out.npy --into keys.npy", 2, "--into of dtype"},
           {"take good.npy a.npy out.npy --into a.npy", 2, "shape 3x3"},
           {"take good.npy a.npy out.npy --marker 1", 2, "--marker without"},
           {"take good.npy a.npy a.npy", 2, "IN and OUT"},
           {"take good.npy a.npy good.npy", 2, "INDEX and OUT"},
           {"take good.npy a.npy out.txt", 2, ".npy"},
           {"take good.npy missing.npy out.npy", 6, "missing.npy"},
           {"take missing.npy a.npy out.npy", 6, "missing.npy"},
           {"take good.npy a.npy missing/out.npy", 6, "missing/out.npy"},
           {"take good.npy a.npy", 2, "no OUT.npy"},
           {"put to.npy a.npy out.npy", 2, "neither --rows nor --into"},
           {"put to.npy a.npy out.npy --rows 6 --into a.npy", 2, "one of them"},
           {"put to.npy a.npy out.npy --rows 5", 2, "row 5 at position 0"},
           {"put twice.npy a.npy out.npy --rows 6", 2, "row 1 at positions 0 and 2"},
           {"put good.npy a.npy out.npy --rows 6", 2, "an entry for each row along axis 0"},
           {"put to.npy a.npy out.npy --rows 2^62", 2, "2^62"},
           {"add twice.npy a.npy out.npy --rows 1", 2, "row 1 at position 0"},
           {"add twice.npy a.npy out.npy --rows 3 --sums fp46", 2, "did you mean `fp64`?"},
           {"add twice.npy a.npy out.npy --rows 3 --sums fp64", 2, "usual"},
           {"route keys.npy --buckets 2 --out-places p.npy", 2, "key 2 at position 0"},
           {"route keys.npy --buckets 3", 2, "no file to write"},
           {"route keys.npy --buckets 3 --out-places keys.npy", 2, "a file of its own"},
           {"route keys.npy --buckets 3 --out-places p.npy --out-offsets p.npy", 2, "a file for each"},
           {"route float.npy --buckets 3 --out-places p.npy", 2, "whole numbers"},
       }) {
    expect_refused(c.arguments, c.status, c.part);
  }
}

TEST_F(RowsCli, TellsWhatWasDone) {
  const Result line = run("take from.npy a.npy out.npy --fill 0");
  EXPECT_EQ(lines_of(line.err), 1);
  EXPECT_NE(line.err.find("5 rows of 6 bytes taken"), std::string::npos) << line.err;
  EXPECT_NE(line.err.find("1 absent"), std::string::npos) << line.err;
  EXPECT_EQ(run("take from.npy a.npy out.npy --fill 0 --quiet").err, "");
  fs::remove(directory_ / "out.npy");
  const Result words = run("take from.npy a.npy out.npy --fill 0 --explain");
  EXPECT_EQ(words.status, 0);
  EXPECT_NE(words.out.find("way: blocks"), std::string::npos) << words.out;
  EXPECT_FALSE(fs::exists(directory_ / "out.npy"));
  const auto documented = documented_keys();
  for (const auto& [arguments, section] :
       {std::pair<std::string, std::string>("take from.npy a.npy out.npy --fill 0 --json", "take, put, add"),
        {"put to.npy a.npy out.npy --rows 6 --json", "take, put, add"},
        {"add twice.npy a.npy out.npy --rows 2 --json", "take, put, add"},
        {"route keys.npy --buckets 3 --out-places p.npy --json", "route"}}) {
    const Result result = run(arguments);
    ASSERT_EQ(result.status, 0) << result.err;
    EXPECT_EQ(result.err, "");
    std::set<std::string> keys;
    collect_keys(Json::parse(result.out), "", keys);
    EXPECT_EQ(keys, documented.at(section)) << arguments;
  }
  fs::remove(directory_ / "out.npy");
  const Result planned = run("take from.npy a.npy out.npy --fill 0 --explain --json");
  std::set<std::string> keys;
  collect_keys(Json::parse(planned.out), "", keys);
  std::set<std::string> wanted = documented.at("take, put, add");
  for (const char* const timed : {"ms", "gb_per_s"}) wanted.erase(timed);
  EXPECT_EQ(keys, wanted);
  EXPECT_FALSE(fs::exists(directory_ / "out.npy"));
}

}  // namespace cli_rows_test

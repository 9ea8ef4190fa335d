// `faro permute` from file to file: what --memory does not hold twice.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "cli_large_files_support.hpp"
#include "cli_support.hpp"

namespace faro {
namespace cli_large_files_test {

using testing::content_of;
using testing::documented_keys;
using testing::faro_command;
using ::testing::HasSubstr;
using testing::Json;
using testing::LargeFiles;
using testing::Result;
namespace fs = std::filesystem;

TEST_F(LargeFiles, AreWhatMemoryMakesOfThem) {
  ASSERT_EQ(run("new 64x32x16 u4 in.npy").status, 0);
  for (const char* const arguments :
       {"bit_reversal", "'random_bmmc(15, 4)'", "transpose", "'axes(2 0 1)'", "'a b c -> c a b'", "'flip(1)'",
        "'roll(77)'", "'inverse(gray)'", "'axes(1 0 2)' --order F", "bit_reversal --batch 64",
        "'gray(6)' --rows", "'bit_reversal(4)' --axis 2", "'roll(5)' --axis 1",
        "'random_bmmc(11, 3)' --element-bytes 64", "'strided(32 64; 1 512; 64 1; 3 0)'"}) {
    expect_as_in_memory(arguments, "20000");
  }
}

TEST_F(LargeFiles, ItemsOfAnyWidth) {
  // No kernel takes affine maps of 12 bytes; as rows of bytes they are moved by an index array.
  ASSERT_EQ(run("new 1024 S12 in.npy").status, 0);
  ASSERT_EQ(run("new 1024x12 u1 rows.npy").status, 0);
  const std::string rows = data_of("rows.npy");
  ASSERT_EQ(data_of("in.npy").size(), rows.size());
  std::fstream(directory_ / "in.npy", std::ios::in | std::ios::out | std::ios::binary)
      .seekp(128)
      .write(rows.data(), static_cast<std::streamsize>(rows.size()));
  ASSERT_EQ(run("permute 'random_bmmc(10, 1)' rows.npy a.npy --rows --quiet").status, 0);
  for (const char* const memory : {"", " --memory 9000"}) {
    const Result result =
        run("permute 'random_bmmc(10, 1)' in.npy b.npy --quiet --verify" + std::string(memory));
    ASSERT_EQ(result.status, 0) << result.err;
    EXPECT_EQ(data_of("a.npy"), data_of("b.npy")) << memory;
  }
}

TEST_F(LargeFiles, StructsOfArraysAndBack) {
  ASSERT_EQ(run("new 1000x7 u4 in.npy").status, 0);
  expect_as_in_memory("'aos_to_soa(1000, 7)'", "5000");
  fs::rename(directory_ / "b.npy", directory_ / "in.npy");
  fs::remove(directory_ / "a.npy");
  fs::remove(directory_ / "d.npy");
  expect_as_in_memory("'soa_to_aos(1000, 7)'", "5000");
}

TEST_F(LargeFiles, FortranOrder) {
  ASSERT_EQ(run("new 30x20x10 u2 c.npy").status, 0);
  ASSERT_EQ(run("permute 'axes(0 1 2)' c.npy in.npy --order F --quiet").status, 0);
  fs::remove(directory_ / "c.npy");
  expect_as_in_memory("'axes(2 0 1)'", "3KiB");
  // What does not go together with the order in one sweep takes one more, into a file that is gone
  // afterwards.
  for (const char* const arguments :
       {"'roll(5)'", "'flip(20)' --axis 1", "'random(30, 4)' --rows", "'strided(20 10; 10 -1; 10 1; 9 0)'",
        "'bit_reversal(1)' --batch 3000"}) {
    ASSERT_EQ(run("permute " + std::string(arguments) + " in.npy a.npy --quiet").status, 0) << arguments;
    const Result by_file = run("permute " + std::string(arguments) + " in.npy b.npy --memory 3KiB");
    ASSERT_EQ(by_file.status, 0) << by_file.err;
    EXPECT_TRUE(data_of("a.npy") == data_of("b.npy")) << arguments;
    EXPECT_EQ(files().size(), 4U) << arguments;
  }
  for (const char* const words : {"", " --rows"}) {
    ASSERT_EQ(run("permute 'axes(0 1 2)' in.npy d.npy --order C --quiet").status, 0);
    ASSERT_EQ(run(std::string("shuffle d.npy a.npy --seed 3 --quiet") + words).status, 0);
    ASSERT_EQ(run(std::string("shuffle in.npy b.npy --seed 3 --quiet --memory 8KiB") + words).status, 0);
    EXPECT_TRUE(data_of("a.npy") == data_of("b.npy"));
  }
  EXPECT_EQ(files().size(), 4U);
}

TEST_F(LargeFiles, WaysOfReadingAndVerifying) {
  ASSERT_EQ(run("new 2^16 u4 in.npy").status, 0);
  ASSERT_EQ(run("permute bit_reversal in.npy a.npy --quiet").status, 0);
  for (const char* const way : {"auto", "threads", "buffered"}) {
    const Result result =
        run("permute bit_reversal in.npy b.npy --memory 48KiB --verify --json --io " + std::string(way));
    ASSERT_EQ(result.status, 0) << result.err;
    const Json json = Json::parse(result.out);
    EXPECT_EQ(json["verified"], true);
    EXPECT_EQ(json["read_bytes"], 1 << 18);
    EXPECT_EQ(json["written_bytes"], 1 << 18);
    EXPECT_EQ(json["tile_bytes"], 1 << 14);
    EXPECT_EQ(json["read_run_bytes"], 256);
    EXPECT_EQ(data_of("a.npy"), data_of("b.npy"));
    std::set<std::string> keys;
    testing::collect_keys(json, "", keys);
    EXPECT_EQ(keys, documented_keys()["permute, from file to file"]);
  }
}

// The output is told as the input is.
TEST_F(LargeFiles, StoresAreToldAsIsDocumented) {
  ASSERT_EQ(run("new 6x8 u2 in.npy").status, 0);
  const Result result = run("convert in.npy out.zarr --json");
  ASSERT_EQ(result.status, 0) << result.err;
  const Json json = Json::parse(result.out);
  EXPECT_EQ(json["in"]["path"], "in.npy");
  EXPECT_EQ(json["out"]["shape"], (std::vector<int>{6, 8}));
  std::set<std::string> keys;
  testing::collect_keys(json, "", keys);
  std::set<std::string> documented = documented_keys()["convert, and permute of stores"];
  for (const std::string& key : std::set<std::string>(documented)) {
    if (key.starts_with("in.")) documented.insert("out" + key.substr(2));
  }
  EXPECT_EQ(keys, documented);
}

TEST_F(LargeFiles, Refusals) {
  ASSERT_EQ(run("new 2^12 u4 in.npy").status, 0);
  const auto refused = [&](const std::string& arguments, int status, const std::string& words) {
    expect_refused("permute " + arguments, status, words);
  };
  refused("bit_reversal in.npy out.npy --memory 0", 2, "--memory");
  refused("bit_reversal in.npy out.npy --memory 7", 2, "memory");
  refused("bit_reversal in.npy out.npy --memory x", 2, "--memory");
  refused("bit_reversal in.npy out.npy --memory 4KiB --io tape", 2, "auto, uring, threads or buffered");
  refused("bit_reversal in.npy --in-place --memory 4KiB --resume", 3, "faro recover");
  refused("'random(4096, 1)' in.npy --in-place --memory 4KiB", 3,
          "an affine map, axes that keep the shape or long parts of rows, a roll, a flip");
  refused("bit_reversal in.npy out.npy --raw u4", 2, "--shape");
  refused("bit_reversal in.npy out.npy --raw u4 --shape 4096", 6, "a file of 16512 bytes");
  refused("bit_reversal in.npy out.npy --raw object --shape 4096", 2, "--raw object");
  refused("bit_reversal in.npy out.npy --shape 4096", 2, "--shape without --raw");
  refused("bit_reversal in.npy out.npy --skip 4", 2, "--skip without --raw");
  refused("bit_reversal in.npy out.npy --raw u4 --shape 4096 --skip 129", 6, "behind 129 bytes");
  refused("bit_reversal in.npy out.npy --raw u4 --shape 4096 --skip 18446744073709551615", 2, "--skip");
  refused("bit_reversal in.npy none/out.npy --memory 4KiB", 6, "none/out.npy");
  refused("'random(4096, 1)' in.npy out.npy --memory 4KiB", 2, "the index array alone takes 16 KiB");
  refused("'strided(4097; 1; 1)' in.npy out.npy --memory 4KiB", 2, "4097");
}

TEST_F(LargeFiles, RawFiles) {
  ASSERT_EQ(run("new 128x64 u4 in.npy").status, 0);
  std::ofstream(directory_ / "in.raw", std::ios::binary) << data_of("in.npy");
  for (const char* const arguments : {"bit_reversal", "transpose", "'random(8192, 3)'", "'b s -> s b'"}) {
    for (const char* const memory : {"", " --memory 400KiB"}) {
      ASSERT_EQ(run("permute " + std::string(arguments) + " in.npy a.npy --quiet").status, 0);
      const Result raw =
          run("permute " + std::string(arguments) + " in.raw b.raw --raw u4 --shape 128x64" + memory);
      ASSERT_EQ(raw.status, 0) << raw.err;
      EXPECT_EQ(content_of(directory_ / "b.raw"), data_of("a.npy")) << arguments;
    }
  }
  // Within another file.
  std::ofstream(directory_ / "within.raw", std::ios::binary)
      << std::string(513, 'x') << data_of("in.npy") << "behind";
  const std::string within = "within.raw b.raw --raw u4 --shape 128x64 --skip 513";
  for (const char* const memory : {"", " --memory 400KiB"}) {
    ASSERT_EQ(run("permute transpose in.npy a.npy --quiet").status, 0);
    ASSERT_EQ(run("permute transpose " + within + memory).status, 0);
    EXPECT_EQ(content_of(directory_ / "b.raw"), data_of("a.npy"));
  }
  ASSERT_EQ(run("convert within.raw b.npy --raw u4 --shape 128x64 --skip 513 --quiet").status, 0);
  EXPECT_EQ(data_of("b.npy"), data_of("in.npy"));
  EXPECT_EQ(run("convert within.raw c.npy --raw u4 --shape 128x64 --skip 520 --quiet").status, 6);
  ASSERT_EQ(run("permute bit_reversal within.raw --in-place --raw u4 --shape 8192 --skip 513 --quiet").status,
            0);
  ASSERT_EQ(run("permute 'bit_reversal(13)' in.npy a.npy --quiet").status, 0);
  EXPECT_EQ(content_of(directory_ / "within.raw"), std::string(513, 'x') + data_of("a.npy") + "behind");
  ASSERT_EQ(run("shuffle in.npy a.npy --seed 4 --quiet").status, 0);
  ASSERT_EQ(run("shuffle in.raw b.raw --seed 4 --quiet --raw u4 --shape 8192").status, 0);
  EXPECT_EQ(content_of(directory_ / "b.raw"), data_of("a.npy"));
  ASSERT_EQ(run("permute bit_reversal in.raw --in-place --memory 3KiB --raw u4 --shape 8192 --quiet").status,
            0);
  ASSERT_EQ(run("permute 'bit_reversal(13)' in.npy a.npy --quiet").status, 0);
  EXPECT_EQ(content_of(directory_ / "in.raw"), data_of("a.npy"));
  // 2^66 bytes are not the 0 that they are modulo 2^64.
  const Result too_many =
      run("permute 'roll(1)' in.raw c.raw --raw u4 --shape 4294967296x4294967296 --memory 4KiB");
  EXPECT_EQ(too_many.status, 2);
  EXPECT_THAT(too_many.err, HasSubstr("wanted less than 2^63 bytes"));
  EXPECT_FALSE(fs::exists(directory_ / "c.raw"));
}

TEST_F(LargeFiles, Streams) {
  ASSERT_EQ(run("new 1000x64 u4 in.npy").status, 0);
  std::ofstream(directory_ / "in.raw", std::ios::binary) << data_of("in.npy");
  const std::string faro = "'" + faro_command().string() + "'";
  const auto shell = [&](const std::string& words) {
    return std::system(("cd '" + directory_.string() + "' && " + words + " 2>err.txt").c_str());
  };
  for (const char* const arguments : {"'bit_reversal(6)' --axis 1", "transpose"}) {
    const std::string words = std::string(arguments);
    ASSERT_EQ(run("permute " + words + " in.npy a.npy --quiet").status, 0);
    const std::string small = words == "transpose" ? "" : " --memory 4KiB";
    EXPECT_EQ(shell("cat in.npy | " + faro + " permute " + words + " - - " + small + " | cat > b.npy"), 0);
    EXPECT_EQ(data_of("a.npy"), data_of("b.npy")) << arguments << content_of(directory_ / "err.txt");
    EXPECT_EQ(shell("cat in.npy | " + faro + " permute " + words + " - c.npy " + small), 0);
    EXPECT_EQ(data_of("a.npy"), data_of("c.npy")) << arguments;
    EXPECT_EQ(shell(faro + " permute " + words + " in.npy - " + small + " > d.npy"), 0);
    EXPECT_EQ(content_of(directory_ / "b.npy"), content_of(directory_ / "d.npy")) << arguments;
    EXPECT_EQ(shell("cat in.raw | " + faro + " permute " + words + " - - --raw u4 --shape 1000x64 > d.raw"),
              0);
    EXPECT_EQ(content_of(directory_ / "d.raw"), data_of("a.npy")) << arguments;
  }
  // A leading axis that stays is a batch.
  ASSERT_EQ(run("permute 'n (h w) -> n w h, h=8' in.npy a.npy --quiet").status, 0);
  EXPECT_EQ(shell("cat in.npy | " + faro + " permute 'n (h w) -> n w h, h=8' - d.npy --memory 4KiB --verify"),
            0);
  EXPECT_EQ(data_of("a.npy"), data_of("d.npy")) << content_of(directory_ / "err.txt");
  const auto refused = [&](const std::string& words, int status, const std::string& told) {
    EXPECT_EQ(shell(words) / 256, status) << words;
    EXPECT_THAT(content_of(directory_ / "err.txt"), HasSubstr(told)) << words;
    EXPECT_FALSE(fs::exists(directory_ / "e.npy")) << words;
  };
  refused("head -c 5000 in.npy | " + faro + " permute transpose - e.npy", 6,
          "its end after 4872 bytes of data, wanted all 256000");
  refused("head -c 50 in.npy | " + faro + " permute transpose - e.npy", 6, "truncated header");
  refused("cat in.npy in.raw | " + faro + " permute transpose - e.npy", 6, "more data");
  refused("cat in.npy | " + faro + " permute transpose - e.npy --memory 4KiB", 3, "whole array");
  // Not even the header is written before what cannot be is told.
  refused(faro + " permute transpose in.npy - --memory 4KiB > begun", 3, "memory for 1.33 KiB");
  EXPECT_EQ(content_of(directory_ / "begun"), "");
  EXPECT_EQ(shell("cat in.npy | " + faro + " permute transpose - d.npy --verify"), 0);
  EXPECT_THAT(content_of(directory_ / "err.txt"), HasSubstr("verified"));
  refused("cat in.npy | " + faro + " permute transpose - - --json > /dev/null", 3, "--json");
}

TEST_F(LargeFiles, MultiplicationsAndViewsAreVerified) {
  ASSERT_EQ(run("new 10007 u4 in.npy").status, 0);
  for (const char* const arguments :
       {"'multiply(10007, 3)'", "'affine_mod(10007, -77, 5)'", "'multiply(10007, 5004)' --inverse"}) {
    ASSERT_EQ(run("permute " + std::string(arguments) + " in.npy a.npy --quiet").status, 0);
    const Result result = run("permute " + std::string(arguments) + " in.npy b.npy --memory 5000 --verify");
    ASSERT_EQ(result.status, 0) << result.err;
    EXPECT_THAT(result.err, HasSubstr("one sweep"));
    EXPECT_EQ(data_of("a.npy"), data_of("b.npy")) << arguments;
  }
  for (const char* const view : {"'strided(2 3000; 3000 1; 3 2)'", "'strided(100 100; 1 100; 100 1; 7 0)'",
                                 "'strided(5000; 2; 1)'", "'strided(3000 2; 3 -1; 2 1; 1 0)'"}) {
    ASSERT_EQ(run("permute " + std::string(view) + " in.npy a.npy --quiet").status, 0);
    const Result result = run("permute " + std::string(view) + " in.npy b.npy --memory 5000 --verify");
    ASSERT_EQ(result.status, 0) << result.err;
    EXPECT_EQ(data_of("a.npy"), data_of("b.npy")) << view;
  }
}

TEST_F(LargeFiles, ExplainedAndPredicted) {
  const std::string cache = "FARO_CACHE=" + (directory_ / "cache").string();
  const std::string asked = "explain 'bit_reversal(36)' --file --memory 16GiB";
  const Result before = run(asked, cache);
  ASSERT_EQ(before.status, 0) << before.err;
  EXPECT_THAT(before.out, HasSubstr("one sweep, tiles of 4 GiB in segments of 128 KiB"));
  EXPECT_THAT(before.out, HasSubstr("not known"));
  const Result tuned = run("tune --disk . --quick --json", cache);
  ASSERT_EQ(tuned.status, 0) << tuned.err;
  std::set<std::string> keys;
  testing::collect_keys(Json::parse(tuned.out), "", keys);
  EXPECT_EQ(keys, documented_keys()["tune, of a disk"]);
  const Result after = run(asked + " --json", cache);
  ASSERT_EQ(after.status, 0) << after.err;
  const Json json = Json::parse(after.out);
  EXPECT_GT(json["predicted_ms"], 0);
  // 2 N/B (6 ceil(rank / lg(M/B)) + 5): the rank of segments of 2^s of 2^36 elements is s or 36 - s; s
  // depends on the disk.
  const auto longer = std::max(json["read_run_bytes"].get<double>(), json["write_run_bytes"].get<double>());
  const double s = std::log2(longer / 4);
  const double sweeps = std::ceil(std::min(s, 36 - s) / (34 - std::log2(longer)));
  EXPECT_EQ(json["published_transfers"], std::exp2(39) / longer * (6 * sweeps + 5));
  // The sweep holds the plan of its tiles, as `explain` tells it.
  const double tile_bits = std::log2(json["tile_bytes"].get<double>() / 4);
  EXPECT_EQ(json["tile_plan"]["permutation"], "bit_reversal(" + std::to_string(std::lround(tile_bits)) + ")");
  keys.clear();
  testing::collect_keys(json["tile_plan"]["plan"], "", keys);
  std::set<std::string> of_a_plan = documented_keys()["explain"];
  of_a_plan.merge(documented_keys()["explain, of a plan for a CPU"]);
  of_a_plan.merge(documented_keys()["explain, of an affine map in place"]);  // on some disks
  for (const std::string& key : keys) EXPECT_TRUE(of_a_plan.contains(key)) << key;
  EXPECT_EQ(json["tile_plan"]["plan"]["passes"].size(), 1U);
  Json flat = json;
  flat["tile_plan"]["plan"] = nullptr;
  keys.clear();
  testing::collect_keys(flat, "", keys);
  EXPECT_EQ(keys, documented_keys()["explain, from file to file"]);
  EXPECT_THAT(run(asked, cache).out, HasSubstr("of each tile, in memory\n  "));
  EXPECT_EQ(run("explain 'bit_reversal(36)' --memory 16GiB").status, 2);
  EXPECT_THAT(run("explain 'random_bmmc(36, 1)' --file --in-place --memory 16GiB", cache).out,
              HasSubstr("in place in 2 sweeps"));
  EXPECT_THAT(run("explain 'multiply(1000003, 5)' --file --memory 1MiB", cache).out, HasSubstr("one sweep"));
  // An index array over more than memory holds: two sweeps.
  const Result indexed = run("explain 'random(100000, 1)' --file --memory 200KiB --json", cache);
  ASSERT_EQ(indexed.status, 0) << indexed.err;
  EXPECT_EQ(Json::parse(indexed.out)["sweeps"], 2);
  EXPECT_GT(Json::parse(indexed.out)["predicted_ms"], 0);
  EXPECT_THAT(run("explain 'random(100000, 1)' --file --memory 200KiB", cache).out,
              HasSubstr("a distribution and a sweep"));
}

// Every form has every field: what it is read and written in, how often, how long, and what others take.
TEST_F(LargeFiles, EveryFormIsExplained) {
  const std::string cache = "FARO_CACHE=" + (directory_ / "cache").string();
  ASSERT_EQ(run("tune --disk . --quick", cache).status, 0);
  ASSERT_EQ(run("new 2^14x64 u4 in.npy").status, 0);
  ASSERT_EQ(run("new 2^20 u4 index.npy").status, 0);
  struct Form {
    std::string asked;
    int sweeps;  // 0: any
    double bytes;
    bool is_affine;
    bool is_in_place;
  };
  const double mib = std::exp2(20);
  const std::vector<Form> forms{
      {"explain 'bit_reversal(26)' --file --memory 16MiB", 1, 256 * mib, true, false},
      {"explain 'transpose(2^13, 2^13)' --file --memory 16MiB", 1, 256 * mib, true, false},
      {"explain 'random_bmmc(20, 3)' --file --memory 16MiB --element-bytes 256", 1, 256 * mib, true, false},
      {"explain 'axes(1000 101 99; 2 0 1)' --file --memory 4MiB", 1, 4 * 9999000.0, false, false},
      {"explain 'roll(9999999, 5)' --file --memory 4MiB", 1, 4 * 9999999.0, false, false},
      {"explain 'multiply(9999999, 5)' --file --memory 4MiB", 1, 4 * 9999999.0, false, false},
      {"explain 'strided(1000 1000; 1000 2; 1000 1)' --file --memory 1MiB", 1, 4e6, false, false},
      {"explain 'flip(4096)' --file --memory 4MiB --element-bytes 4096", 1, 16 * mib, true, false},
      {"explain @index.npy --file --memory 1MiB --element-bytes 4", 2, 4 * mib, false, false},
      {"explain 'random(2^20, 1)' --file --memory 1MiB", 2, 4 * mib, false, false},
      {"shuffle in.npy out.npy --seed 1 --memory 1MiB --explain", 2, 4 * mib, false, false},
      {"shuffle in.npy out.npy --seed 1 --rows --memory 1MiB --explain", 2, 4 * mib, false, false},
      {"explain 'bit_reversal(26)' --file --in-place --memory 16MiB", 0, 256 * mib, true, true},
      {"explain 'axes(3000 3000; 1 0)' --file --in-place --memory 4MiB", 1, 36e6, false, true},
      {"explain 'axes(600 900; 1 0)' --file --in-place --memory 512KiB", 3, 2160000, false, true},
      {"explain 'roll(9999999, 5)' --file --in-place --memory 4MiB", 2, 4 * 9999999.0, false, true}};
  for (const Form& form : forms) {
    const Result text = run(form.asked, cache);
    ASSERT_EQ(text.status, 0) << form.asked << text.err;
    EXPECT_THAT(text.out, HasSubstr("\nsweeps        ")) << form.asked;
    EXPECT_THAT(text.out, HasSubstr("\ntransfers     ")) << form.asked;
    EXPECT_THAT(text.out, HasSubstr("\nliterature    ")) << form.asked;
    EXPECT_THAT(text.out, HasSubstr(" s predicted, by `faro tune --disk`")) << form.asked;
    const Json json = Json::parse(run(form.asked + " --json", cache).out);
    EXPECT_EQ(json["bytes"], form.bytes) << form.asked;
    EXPECT_TRUE(form.sweeps == 0 || json["sweeps"] == form.sweeps) << form.asked << json["sweeps"];
    const auto sweeps = json["sweeps"].get<double>();
    const auto read_run = json["read_run_bytes"].get<double>();
    const auto write_run = json["write_run_bytes"].get<double>();
    const auto tile = json["tile_bytes"].get<double>();
    ASSERT_GT(std::min(read_run, write_run), 0) << form.asked;
    // Everything moves once in each sweep; in place also to the journal; two sweeps have two sides in order.
    double transfers = form.bytes / read_run + form.bytes / write_run;
    if (form.is_in_place) transfers = sweeps * (transfers + form.bytes / tile);
    if (!form.is_in_place && sweeps == 2) transfers += 2 * form.bytes / tile;
    EXPECT_NEAR(json["transfers"].get<double>(), transfers, 1e-6 * transfers) << form.asked;
    EXPECT_GT(json["predicted_ms"], 0) << form.asked;
    EXPECT_LE(json["buffer_bytes"], json["memory_bytes"]) << form.asked;
    const bool is_distributed = !form.is_in_place && sweeps == 2;
    const double segment = std::min(is_distributed ? write_run : std::max(read_run, write_run), form.bytes);
    const auto published = json["published_transfers"].get<double>();
    EXPECT_GE(published, 2 * form.bytes / segment * (form.is_affine ? 5 : 1) * 0.999) << form.asked;
    EXPECT_THAT(json["published_formula"].get<std::string>(), HasSubstr(form.is_affine ? "rank" : "N/M"));
  }
  EXPECT_FALSE(fs::exists(directory_ / "out.npy"));
}

}  // namespace cli_large_files_test
}  // namespace faro

// Shards on the command line without a launcher: one rank, plans of any number of them. What takes
// several processes is in tests/mpi/command.sh.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli_support.hpp"

namespace faro {
namespace cli_shards_test {

using ::testing::HasSubstr;
using testing::Json;
using testing::Result;

class CliShards : public testing::CommandTest {
 protected:
  void expect_documented(const std::string& arguments, const std::string& section) const {
    const Result result = run(arguments);
    ASSERT_EQ(result.status, 0) << arguments << "\n" << result.err;
    Json json = Json::parse(result.out);
    if (json.contains("local")) {
      for (Json& step : json["local"]) step["plan"] = nullptr;  // documented by itself
    }
    std::set<std::string> keys;
    testing::collect_keys(json, "", keys);
    EXPECT_EQ(keys, testing::documented_keys()[section]) << arguments;
  }
};

TEST_F(CliShards, KeysAreDocumented) {
  ASSERT_EQ(run("new 2^12 u4 in.npy").status, 0);
  expect_documented("permute bit_reversal in.npy out.npy --shards --verify --json", "permute, of shards");
  expect_documented("permute bit_reversal in.npy out.npy --shards --memory 4KiB --verify --json",
                    "permute, of shards from file to file");
  ASSERT_EQ(run("convert in.npy in.zarr --chunks 100").status, 0);
  expect_documented("permute bit_reversal in.zarr out.zarr --shards --verify --json",
                    "permute, of shards of stores");
  expect_documented("explain 'bit_reversal(20)' --shards 8 --json", "explain, of shards");
  expect_documented("bench 'transpose(30, 50)' --shards --json", "bench, of shards");
}

// What the ranks' own passes do and take, on either engine: each names its kernel, counts and time.
TEST_F(CliShards, LocalPassesAreExplained) {
  for (const std::string engine : {"--engine cpu", "--engine cuda --capability 9.0"}) {
    int steps = 0;
    for (const std::string spec : {"'bit_reversal(20)'", "'transpose(300, 500)'", "'roll(100000, 77)'",
                                   "'random(20000, 3)'", "'axes(30 40 50; 2 0 1)'"}) {
      const std::string asked = "explain " + spec + " --shards 4 --rank 1 " + engine;
      const Result result = run(asked + " --json");
      ASSERT_EQ(result.status, 0) << result.err;
      const Json json = Json::parse(result.out);
      const Result words = run(asked);
      for (const Json& step : json["local"]) {
        ++steps;
        SCOPED_TRACE(asked + ": " + step.dump().substr(0, 300));
        EXPECT_GT(step["predicted_ms"], 0);
        const Json& plan = step["plan"];
        const Json& of_view =
            plan.contains("permutation") && plan["permutation"].is_object() ? plan["permutation"] : plan;
        ASSERT_FALSE(of_view["passes"].empty());
        for (const Json& pass : of_view["passes"]) {
          EXPECT_EQ(pass["bytes_read"], pass["bytes_written"]);
          EXPECT_GT(pass["predicted_time"]["ms"], 0);
          EXPECT_TRUE(pass["counted"].is_string());
        }
        if (step["boxes"] == 0) {
          EXPECT_EQ(of_view["passes"][0]["bytes_read"],
                    json[step["step"] == "pack" ? "in_bytes" : "out_bytes"]);
          EXPECT_EQ(step["predicted_ms"], plan["predicted_ms"]);
        }
        EXPECT_THAT(words.out, HasSubstr("\n" + step["step"].get<std::string>() + " "));
        EXPECT_THAT(words.out, HasSubstr("\n    kernel "));
        EXPECT_THAT(words.out, HasSubstr("\n    time "));
      }
    }
    EXPECT_GT(steps, 3);
  }
}

TEST_F(CliShards, OneRankWritesTheSameFile) {
  ASSERT_EQ(run("new 30x50 u8 in.npy").status, 0);
  ASSERT_EQ(run("permute transpose in.npy alone.npy --quiet").status, 0);
  const Result result = run("permute transpose in.npy shared.npy --shards --verify");
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("verified"));
  const auto files = this->files();
  EXPECT_EQ(files.at("alone.npy"), files.at("shared.npy"));
}

TEST_F(CliShards, ShufflesIntoTheSameFile) {
  ASSERT_EQ(run("new 500x9 u4 in.npy").status, 0);
  ASSERT_EQ(run("shuffle in.npy alone.npy --rows --seed 7 --quiet").status, 0);
  const Result result = run("shuffle in.npy shared.npy --rows --seed 7 --shards --verify");
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(files().at("alone.npy"), files().at("shared.npy"));
}

TEST_F(CliShards, ArraysWithoutElements) {
  ASSERT_EQ(run("new 0x5 u4 in.npy").status, 0);
  ASSERT_EQ(run("permute transpose in.npy alone.npy --quiet").status, 0);
  const Result result = run("permute transpose in.npy shared.npy --shards --verify");
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(files().at("alone.npy"), files().at("shared.npy"));
}

// From file to file, in tiles of a few KiB: the same file as by memory alone.
TEST_F(CliShards, FilesLargerThanMemoryAreSwept) {
  ASSERT_EQ(run("new 100x250 u4 in.npy").status, 0);
  for (const std::string spec : {"transpose", "'roll(77)'", "'axes(1 0)'"}) {
    ASSERT_EQ(run("permute " + spec + " in.npy alone.npy --quiet").status, 0);
    const Result result = run("permute " + spec + " in.npy shared.npy --shards --verify --memory 16KiB");
    ASSERT_EQ(result.status, 0) << result.err;
    EXPECT_THAT(result.err, HasSubstr("from file to file within 16 KiB each"));
    EXPECT_THAT(result.err, HasSubstr("verified"));
    const auto files = this->files();
    EXPECT_EQ(files.at("alone.npy"), files.at("shared.npy")) << spec;
  }
}

// What is named instead does it.
TEST_F(CliShards, RefusalsSayWhatWorks) {
  ASSERT_EQ(run("new 5x12 u4 in.npy").status, 0);
  const std::string shuffle = "shuffle in.npy out.npy --seed 1 --memory 16KiB";
  expect_refused(shuffle + " --shards", 3, "without --shards");
  EXPECT_EQ(run(shuffle).status, 0);
  const std::string multiply = "permute 'multiply(12, 5)' in.npy other.npy --axis 1";
  expect_refused(multiply + " --shards", 3, "without --shards");
  EXPECT_EQ(run(multiply).status, 0);
}

TEST_F(CliShards, CutsAreRead) {
  const Result result = run("explain 'transpose(30, 50)' --shards 3 --shard-in 'axis(1; 20 0 30)' --rank 2");
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("slabs of axis 1, of 20 0 30 -> slabs of axis 0, even"));
  EXPECT_THAT(run("explain 'gray(10)' --shards 4 --shard-in 'bits(0 1)'").out,
              HasSubstr("index bits 0 1 ->"));
  for (const std::string spec :
       {"axes(4 5 6; 2 0 1)", "a b c -> c a b, a=4, b=5, c=6", "axes(4 5 6; 2 0 1; 1 0 0)"}) {
    EXPECT_THAT(run("explain '" + spec + "' --shards 3 --rank 0 --shard-in 'axis(0)'").out,
                HasSubstr("240 bytes in"));
    EXPECT_THAT(run("explain '" + spec + "' --shards 3 --rank 0 --shard-in 'axis(1)'").out,
                HasSubstr("192 bytes in"));
    expect_refused("explain '" + spec + "' --shards 3 --shard-in 'axis(3)'", 2, "4x5x6");
  }
  expect_refused("explain 'gray(10)' --shards 4 --shard-in 'rows'", 2, "read --shard-in: got `rows`");
  expect_refused("explain 'gray(10)' --shards 4 --shard-in 'bits(0 70)'", 2, "bits(0 70)");
  expect_refused("explain 'gray(10)' --shards 4 --shard-in 'bits(0)'", 2, "1 bits for 4 ranks");
  expect_refused("explain 'gray(10)' --shards 4 --rank 4", 2, "rank 4");
  expect_refused("explain 'gray(10)' --rank 1", 2, "without --shards");
  expect_refused("explain 'gray(10)' --shards 0", 2, "--shards");
}

TEST_F(CliShards, WhatDoesNotGoTogetherIsRefused) {
  ASSERT_EQ(run("new 2^12 u4 in.npy").status, 0);
  expect_refused("permute gray in.npy --in-place --shards", 3, "--in-place");
  expect_refused("permute gray in.npy out.npy --resume --shards", 3, "--resume");
  expect_refused("permute gray in.npy in.npy --shards", 2, "the same file as OUT");
  expect_refused("permute gray in.npy nowhere/out.npy --shards", 6, "nowhere");
  expect_refused("permute gray missing.npy out.npy --shards", 6, "missing.npy");
  expect_refused("permute gray in.npy out.npy --devices 0,1", 3, "another engine than cuda");
  expect_refused("bench 'gray(10)' --shards --in-place", 3, "--in-place");
  expect_refused("bench 'gray(10)' --shard-in 'axis(0)'", 2, "without --shards");
  const std::string cuda = "permute gray in.npy out.npy --engine cuda ";
  expect_refused(cuda + "--backend nccl", 2, "--backend without --devices");
  expect_refused(cuda + "--devices 0,1 --backend mpi", 2, "got `mpi`, wanted peers or nccl");
  expect_refused(cuda + "--devices 0,x", 2, "--devices");
  expect_refused("permute gray in.npy out.npy --shards --devices 0,1", 3, "--devices");
  expect_refused("permute gray in.npy out.npy --shards --backend nccl", 3, "--backend");
  expect_refused("bench 'gray(10)' --devices 0,1", 2, "without --shards");
  expect_refused("bench 'gray(10)' --shards --devices 0,1", 3, "without --engine cuda");
  expect_refused("bench 'gray(10)' --shards --engine cuda", 3, "without --devices");
  EXPECT_EQ(files().size(), 1U);
}

TEST_F(CliShards, MeshesAreExplainedAndDrawn) {
  const std::string asked =
      "explain 'axes(4 6; 1 0)' --shards 6 --rank 4 --mesh 2x3 --from 'axis 0 over 0; axis 1 over 1'";
  const Result told = run(asked + " --to 'axis 0 over 0 1' --svg who.svg");
  ASSERT_EQ(told.status, 0) << told.err;
  EXPECT_THAT(told.out, HasSubstr("mesh 2x3; axis 0 over 0; axis 1 over 1 -> mesh 2x3; axis 0 over 0 1"));
  EXPECT_THAT(told.out, HasSubstr("method        mesh"));
  EXPECT_THAT(bytes_of("who.svg"), HasSubstr("place 2 of axis 0, 3 of axis 1: held by 4"));
  const Result json = run(asked + " --to '{\"mesh\": {\"axes\": [{\"ranks\": 6}]}}' --json");
  ASSERT_EQ(json.status, 0) << json.err;
  EXPECT_EQ(Json::parse(json.out)["received_bytes"], (24 - 4) * 4);
  expect_refused(asked + " --to 'axis 2 over 0'", 2, "axis 2");
  expect_refused(asked + " --to 'axis 1 over q'", 2, "read --to");
  expect_refused(asked + " --shard-in 'axis(0)'", 2, "--from and --shard-in");
  expect_refused("explain 'axes(4 6; 1 0)' --shards 6 --mesh 2x3", 2, "--mesh without --from and --to");
  expect_refused("explain 'axes(4 6; 1 0)' --shards 6 --from 'axis 0 over 0'", 2, "without --mesh");
  expect_refused("explain 'axes(4 6; 1 0)' --mesh 2x3 --from 'axis 0 over 0'", 2, "without --shards");
  const Result copies = run("explain 'random(24, 1)' --shards 6 --from 'mesh 2x3; axis 0 over 0'");
  ASSERT_EQ(copies.status, 0) << copies.err;
  EXPECT_THAT(copies.out, HasSubstr("rank 0 of 6: 48 bytes in, 16 bytes out"));
}

TEST_F(CliShards, OneRankOfAMeshMovesAFile) {
  ASSERT_EQ(run("new 12x10 u4 in.npy").status, 0);
  ASSERT_EQ(run("permute transpose in.npy alone.npy").status, 0);
  ASSERT_EQ(run("permute transpose in.npy out.npy --mesh 1x1 --from 'axis 1 over 0 in blocks of 3' --to "
                "'axis 0 over 1' --verify")
                .status,
            0);
  EXPECT_EQ(bytes_of("out.npy"), bytes_of("alone.npy"));
  expect_refused("permute transpose in.npy other.npy --mesh 2 --from 'axis 0 over 0'", 2, "ranks below 1");
}

}  // namespace cli_shards_test
}  // namespace faro

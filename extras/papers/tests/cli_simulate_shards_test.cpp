// `faro simulate shards`: links between ranks, of topologies that are kept in files or built in.
// Sanitized: never, the same few lines, tables or texts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <string>

#include "cli_support.hpp"

namespace faro {
namespace cli_simulate_shards_test {

using testing::Json;
using testing::Result;

class CliSimulateShards : public testing::CommandTest {};

TEST_F(CliSimulateShards, KeysAreDocumented) {
  const Result result = run("simulate shards --spec 'gray(20)' --ranks 8,64 --topology islands --json");
  ASSERT_EQ(result.status, 0) << result.err;
  std::set<std::string> keys;
  testing::collect_keys(Json::parse(result.out), "", keys);
  EXPECT_EQ(keys, testing::documented_keys()["simulate, of shards"]);
}

TEST_F(CliSimulateShards, CutsAreRead) {
  for (const std::string spec :
       {"axes(4 5 6; 2 0 1)", "a b c -> c a b, a=4, b=5, c=6", "axes(4 5 6; 2 0 1; 1 0 0)"})
    EXPECT_EQ(run("simulate shards --spec '" + spec + "' --ranks 3 --shard-in 'axis(1)'").status, 0);
}

TEST_F(CliSimulateShards, TopologiesAreFiles) {
  std::ofstream(directory_ / "two.json")
      << R"({"name": "pairs", "levels": [{"name": "pair", "ranks": 2, "gb_per_s": 1, "only_inside": true},
                                        {"name": "all", "ranks": 4, "gb_per_s": 0.5}], "message_us": 0})";
  const Result result = run("simulate shards --spec 'bit_reversal(20)' --ranks 4 --topology two.json --json");
  ASSERT_EQ(result.status, 0) << result.err;
  const Json json = Json::parse(result.out);
  EXPECT_EQ(json["topology"], "pairs");
  EXPECT_EQ(json["rows"][0]["levels"][0]["bytes"], 4 << 18);
  EXPECT_EQ(json["rows"][0]["levels"][1]["bytes"], 8 << 18);
  EXPECT_NEAR(json["rows"][0]["exchange_ms"], 2 * (1 << 18) / 0.5e6, 1e-6);
  expect_refused("simulate shards --spec 'gray(20)' --ranks 8 --topology two.json", 2, "at most 4");
  expect_refused("simulate shards --spec 'gray(20)' --topology none.json", 6, "none.json");
  expect_refused("simulate shards --ranks 8", 2, "no --spec");
  expect_refused("simulate shards --spec 'gray(20)' --width 32 --n 64", 2, "memory machines");
  expect_refused("simulate copy --ranks 8", 2, "with `simulate shards`");
}

// 1 KiB that a rank has and all others want: once into each domain, and to everybody inside it.
TEST_F(CliSimulateShards, MeshesEnterAnIslandOnce) {
  std::ofstream(directory_ / "domains.json")
      << R"({"levels": [{"name": "NVLink", "ranks": 3, "gb_per_s": 1, "only_inside": true},
                        {"name": "network", "ranks": 12, "gb_per_s": 1}]})";
  const Result result =
      run("simulate shards --spec 'axes(16 16; 0 1)' --ranks 12 --topology domains.json --json "
          "--from 'mesh 1; axis 0 over 0' --to 'mesh 12'");
  ASSERT_EQ(result.status, 0) << result.err;
  const Json row = Json::parse(result.out)["rows"][0];
  EXPECT_EQ(row["levels"][0]["bytes"], (11 - 3) * 1024);
  EXPECT_EQ(row["levels"][1]["bytes"], 3 * 1024);
  EXPECT_EQ(row["sent_bytes"], 11 * 1024);
}

}  // namespace cli_simulate_shards_test
}  // namespace faro

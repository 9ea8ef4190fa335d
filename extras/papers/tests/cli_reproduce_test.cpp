// `faro reproduce` as a user meets it: exit statuses, one line for an error, JSON as documented.
// Sanitized: never, the same few lines, tables or texts.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "cli_support.hpp"

namespace cli_reproduce_test {

using namespace faro::testing;

class ReproduceCommand : public CommandTest {};

TEST_F(ReproduceCommand, FailuresAreOneLine) {
  const std::vector<Refused> table{
      {"reproduce", 2, "no NAME"},
      {"reproduce rap-tabel2", 2, "did you mean `rap-table2`?"},
      {"reproduce frobnicate", 2, "faro reproduce --list"},
      {"reproduce ''", 2, "NAME: an empty value"},
      {"reproduce rap-figure3 --list", 2, "one of them"},
      {"reproduce rap-figure3 rap-table1", 2, "one argument too many"},
      {"reproduce rap-figure3 --seed -1", 2, "--seed"},
      {"reproduce rap-figure3 --seed ''", 2, "--seed: an empty value"},
      {"reproduce rap-table2 --trials 1", 2, "from 64 to"},
      {"reproduce rap-table2 --width 48", 2, "one of 16, 32, 64, 128, 256"},
      {"reproduce rap-figure3 --width 4", 2, "no width: what is published has one"},
      {"reproduce rap-table2 --trails 100", 2, "did you mean `--trials`?"}};
  for (const Refused& c : table) {
    expect_refused(c.arguments, c.status, c.part);
    const Result as_json = run(c.arguments + " --json");
    EXPECT_EQ(as_json.status, c.status);
    EXPECT_TRUE(Json::parse(as_json.out).contains("error"));
  }
}

TEST_F(ReproduceCommand, JsonHasTheDocumentedKeys) {
  for (const std::string arguments : {"rap-figure3", "rap-table3 --trials 100"}) {
    SCOPED_TRACE("faro reproduce " + arguments);
    const Result result = run("reproduce " + arguments + " --json");
    ASSERT_EQ(result.status, 0) << result.err;
    const Json json = Json::parse(result.out);
    EXPECT_EQ(json.at("schema"), 1);
    std::set<std::string> keys;
    collect_keys(json, "", keys);
    EXPECT_EQ(keys, without_empty_arrays(leaves_of(documented_keys()["reproduce"]), json));
  }
}

TEST_F(ReproduceCommand, PagesGoToStandardOutput) {
  for (const std::string arguments : {"reproduce --help", "reproduce --list", "reproduce rap-figure3"}) {
    SCOPED_TRACE("faro " + arguments);
    const Result result = run(arguments);
    EXPECT_EQ(result.status, 0);
    EXPECT_EQ(result.err, "");
    EXPECT_TRUE(result.out.ends_with('\n'));
    EXPECT_FALSE(result.out.ends_with("\n\n"));
    EXPECT_EQ(result.out.find('\x1b'), std::string::npos);
  }
}

// The table is printed whole; the status and one line tell that it does not agree. Few trials err by more
// than their own standard error suggests, once in a thousand seeds.
TEST_F(ReproduceCommand, TablesThatDoNotAgreeEndWithFive) {
  const Result result = run("reproduce rap-table2 --trials 64 --seed 1355");
  EXPECT_EQ(result.status, 5);
  EXPECT_EQ(result.err,
            "faro: reproduce rap-table2: 1 row of 60 does not agree, first RAS, random, w = 256, mean "
            "congestion\n");
  EXPECT_NE(result.out.find("note"), std::string::npos) << result.out;
  const Result as_json = run("reproduce rap-table2 --trials 64 --seed 1355 --json");
  EXPECT_EQ(as_json.status, 5);
  EXPECT_EQ(Json::parse(as_json.out).at("disagreements"), 1);
}

// Figures are numbers, what has none is null, words stand where the paper has no figure or prints a list.
TEST_F(ReproduceCommand, TablesAsJson) {
  const std::string list = run("reproduce --list").out;
  EXPECT_EQ(lines_of(list), 19);
  EXPECT_EQ(Json::parse(run("reproduce --list --json").out).at("names").size(), 19U);
  for (const std::string name :
       {"bmmc-section2.3", "bmmc-figure9", "bmmc-figure10", "bmmc-figure11", "bmmc-figure12", "bmmc-appendix",
        "offline-example", "offline-table1", "offline-table2", "offline-figure7", "dmm-umm-figure4",
        "dmm-umm-table1", "rap-figure3", "rap-table1", "rap-table2", "rap-table3", "rap-table4",
        "swizzle-grids"}) {
    SCOPED_TRACE("faro reproduce " + name);
    EXPECT_NE(list.find(name + "\n"), std::string::npos);
    const Result result = run("reproduce " + name + " --trials 64 --seed 0x5 --json");
    ASSERT_EQ(result.status, 0) << result.err;
    const Json json = Json::parse(result.out);
    EXPECT_EQ(json.at("name"), name);
    EXPECT_EQ(json.at("seed"), 5);
    EXPECT_FALSE(json.at("rows").empty());
    for (const Json& row : json.at("rows")) {
      EXPECT_TRUE(row.at("here").is_number() || row.at("here").is_null() ||
                  (row.at("here").is_string() && row.at("paper").is_string()))
          << row;
      EXPECT_TRUE(row.at("paper").is_number() || row.at("paper").is_null() ||
                  (row.at("paper").is_string() &&
                   (!row.at("here").is_null() || row.at("criterion") == "needs a GPU")))
          << row;
      EXPECT_TRUE(row.at("model").is_number() || row.at("model").is_null()) << row;
      EXPECT_TRUE(row.at("agrees").is_boolean() || row.at("agrees").is_null()) << row;
    }
  }
}

}  // namespace cli_reproduce_test

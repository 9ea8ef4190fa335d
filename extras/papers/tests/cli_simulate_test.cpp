// `faro simulate` as a user meets it: the papers' figures from the command line, and its JSON.
// Sanitized: never, the same few lines, tables or texts.
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <string>

#include "cli_support.hpp"

namespace cli_simulate_test {

using namespace faro::testing;

class CliSimulate : public CommandTest {
 protected:
  void SetUp() override {
    CommandTest::SetUp();
    std::ofstream(directory_ / "figure4.txt") << "0 1 10 6\n8 9 14 15\n";
    std::ofstream(directory_ / "bad.txt") << "0 1 2 3\n4 five\n";
  }

  // What `faro simulate ARGUMENTS --json` prints.
  Json json_of(const std::string& arguments) const {
    const Result result = run("simulate " + arguments + " --json");
    EXPECT_EQ(result.status, 0) << "faro simulate " << arguments << "\n" << result.err;
    EXPECT_EQ(result.err, "");
    return result.status == 0 ? Json::parse(result.out) : Json();
  }
};

// Nakano's figure 4: width 4, latency 3, two warps.
TEST_F(CliSimulate, TraceOfTheFigure) {
  const std::string machine = " --width 4 --latency 3";
  EXPECT_EQ(json_of("trace figure4.txt --machine dmm" + machine).at("time"), 5);
  EXPECT_EQ(json_of("trace figure4.txt --machine umm" + machine).at("time"), 7);
  const Json umm = json_of("trace figure4.txt --machine umm" + machine);
  EXPECT_EQ(umm.at("congestion"), Json::parse(R"({"2": 1, "3": 1})"));
  EXPECT_TRUE(umm.at("formula").is_null());
  EXPECT_TRUE(umm.at("lower_bound").is_null());
  EXPECT_EQ(umm.at("threads"), 8);
}

TEST_F(CliSimulate, BadLineOfATraceIsNamed) {
  const Result result = run("simulate trace bad.txt");
  EXPECT_EQ(result.status, 6);
  EXPECT_EQ(lines_of(result.err), 1);
  EXPECT_NE(result.err.find("bad.txt:2"), std::string::npos) << result.err;
}

TEST_F(CliSimulate, FiguresAreNumbers) {
  const Json json = json_of("transpose-diagonal --width 4 --latency 5 --n 16 --threads 16");
  EXPECT_EQ(json.at("program"), "transpose-diagonal");
  EXPECT_EQ(json.at("machine"), "dmm");
  EXPECT_EQ(json.at("time"), 16);
  EXPECT_EQ(json.at("formula"), 16);
  EXPECT_EQ(json.at("lower_bound"), 5);
  EXPECT_EQ(json.at("congestion"), Json::parse(R"({"1": 8})"));
  for (const char* const key : {"time", "formula", "lower_bound", "n", "width", "latency", "threads"}) {
    EXPECT_TRUE(json.at(key).is_number_unsigned()) << key;
  }
}

// The keys that come first, in this order.
TEST_F(CliSimulate, JsonBeginsAsDocumented) {
  const std::string text = run("simulate stride --json").out;
  std::size_t place = 0;
  for (const std::string key : {"schema", "program", "machine", "width", "latency", "threads", "n", "time",
                                "formula", "lower_bound", "congestion"}) {
    const std::size_t found = text.find("\"" + key + "\":", place);
    ASSERT_NE(found, std::string::npos) << key << " after place " << place << " of " << text;
    place = found;
  }
}

TEST_F(CliSimulate, JsonHasTheDocumentedKeys) {
  auto documented = documented_keys();
  for (const std::string arguments :
       {"contiguous", "transpose-rotating --machine umm --registers 8 --overlap", "permute --timeline",
        "permute --machine hmm --dmms 4 --shared-latency 2 --seed 5", "permute --spec gray --n 2^10",
        "trace figure4.txt --width 4 --timeline"}) {
    SCOPED_TRACE("faro simulate " + std::string(arguments));
    Json json = json_of(arguments);
    EXPECT_EQ(json.at("schema"), 1);
    for (const auto& [congestion, count] : json.at("congestion").items()) {
      EXPECT_GT(std::stoi(congestion), 0);
      EXPECT_GT(count, 0);
    }
    json.at("congestion") = Json::object();  // its keys are figures
    std::set<std::string> keys;
    collect_keys(json, "", keys);
    EXPECT_EQ(keys, without_empty_arrays(leaves_of(documented["simulate"]), json));
  }
}

// Every program on every machine, with everything left to the defaults; the text tells what the JSON tells.
TEST_F(CliSimulate, DefaultsServeEveryProgram) {
  for (const std::string program : {"contiguous", "stride", "copy", "transpose-straightforward",
                                    "transpose-diagonal", "transpose-rotating", "permute", "permute --direct",
                                    "diagonal", "transpose-crsw", "transpose-srcw", "transpose-drdw"}) {
    for (const std::string machine : {"dmm", "umm", "hmm"}) {
      const std::string arguments = program + " --machine " + machine;
      SCOPED_TRACE("faro simulate " + arguments);
      const Json json = json_of(arguments);
      EXPECT_EQ(json.at("n"), 1024);
      EXPECT_EQ(json.at("formula"), json.at("time"));
      EXPECT_EQ(json.at("verified"), true);
      EXPECT_LE(json.at("lower_bound"), json.at("time"));
      const Result text = run("simulate " + arguments);
      EXPECT_EQ(text.status, 0);
      EXPECT_NE(text.out.find("time         " + json.at("time").dump() + " unit"), std::string::npos)
          << text.out;
    }
  }
}

TEST_F(CliSimulate, SeedAndSpecChooseThePermutation) {
  const auto time = [this](const std::string& which) {
    return json_of("permute --direct " + which).at("time");
  };
  EXPECT_EQ(time("--seed 1"), time("--seed 0x1"));
  EXPECT_NE(time("--seed 1"), time("--seed 2"));
  EXPECT_EQ(time("--spec 'transpose(32, 32)'"), 32 + 31 + 1024 + 31);
  EXPECT_EQ(json_of("permute --spec gray --n 1024").at("spec"), "gray(10)");
  EXPECT_TRUE(json_of("permute --seed 7").at("spec").is_null());
}

// Any permutation, from a text or a file, padded where the theorem wants more words.
TEST_F(CliSimulate, AnyPermutation) {
  ASSERT_EQ(run("new 10 u4 ten.npy").status, 0);
  ASSERT_EQ(run("permute 'random(10, 7)' ten.npy order.npy --quiet").status, 0);
  std::ofstream(directory_ / "c.qasm") << "qreg q[4]; x q[0]; cx q[0],q[3];\n";
  for (const std::string machine : {"dmm", "umm", "hmm"}) {
    const std::string at = " --width 4 --machine " + machine;
    const Json from_file = json_of("permute order.npy" + at);
    EXPECT_EQ(from_file.at("n"), 10);
    EXPECT_EQ(from_file.at("padded_n"), machine == "dmm" ? 12 : 16);
    EXPECT_EQ(from_file.at("verified"), true);
    EXPECT_EQ(json_of("permute --spec @order.npy" + at), from_file);
    for (const std::string spec : {"roll(10, 3)", "transpose(3, 5)", "random(100, 1)", "indices(1 2 0)"})
      EXPECT_EQ(json_of("permute --spec '" + spec + "'" + at).at("verified"), true) << spec;
    EXPECT_EQ(json_of("permute c.qasm" + at).at("n"), 16);
    EXPECT_EQ(json_of("permute --n 10 --spec 'roll(3)'" + at).at("spec"), "roll(10, 3)");
  }
  EXPECT_NE(run("simulate permute order.npy --width 4").out.find("n = 10, padded to 12 by words that stay"),
            std::string::npos);
  EXPECT_EQ(run("simulate permute order.npy --spec gray").status, 2);
  // Before 4 GiB of indices are drawn.
  const Result large = run("simulate permute --spec 'random(2^30, 1)'");
  EXPECT_EQ(large.status, 2);
  EXPECT_NE(large.err.find("an index array of 2^30 elements, wanted at most 2^27"), std::string::npos)
      << large.err;
  EXPECT_EQ(run("simulate permute missing.npy").status, 6);
}

TEST_F(CliSimulate, LayoutsAndTheirTransposes) {
  for (const std::string program : {"diagonal", "transpose-crsw", "transpose-srcw", "transpose-drdw"}) {
    const Json json = json_of(program + " --latency 1");
    EXPECT_TRUE(json.at("layout").is_null());
    for (const std::string layout : {"raw", "ras", "rap"}) {
      const Json laid_out = json_of(program + " --latency 1 --layout " + layout + " --seed 3");
      EXPECT_EQ(laid_out.at("layout"), layout);
      EXPECT_EQ(laid_out.at("seed").is_null(), layout == "raw");
      EXPECT_EQ(laid_out.at("time"), laid_out.at("formula"));
    }
  }
  EXPECT_EQ(json_of("transpose-crsw --latency 1 --layout rap").at("time"), 64);
  EXPECT_EQ(json_of("stride --latency 1 --layout raw").at("time"), 1024);
  EXPECT_EQ(run("simulate copy --layout rap").status, 2);
  EXPECT_EQ(run("simulate stride --layout rep").status, 2);
  EXPECT_NE(run("simulate stride --layout rep").err.find("did you mean `rap`?"), std::string::npos);
}

// Words of what only touches an array begin at 0.
TEST_F(CliSimulate, WordsBeginAtTheFirst) {
  for (const std::string program : {"contiguous", "stride", "diagonal"}) {
    const Json json = json_of(program + " --width 4 --n 64 --timeline");
    EXPECT_EQ(json.at("timeline").at(0).at("words").at(0), 0) << program;
  }
}

// Round 1 of warp 1 begins before warp 0 is back, and is not overtaken.
TEST_F(CliSimulate, OverlapOfWarpsThatSkipRounds) {
  std::ofstream(directory_ / "skips.txt") << "0 2\n-\n\n0\n0 2\n\n-\n0\n";
  const Json json = json_of("trace skips.txt --width 2 --latency 2 --threads 4 --overlap");
  EXPECT_EQ(json.at("time"), 9);
  EXPECT_EQ(json.at("overlap_time"), 7);
}

TEST_F(CliSimulate, TimelineAndPicture) {
  const Result result =
      run("simulate stride --width 4 --n 16 --latency 3 --threads 8 --timeline --svg out.svg");
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_GT(lines_of(result.out), 12) << result.out;
  EXPECT_NE(content_of(directory_ / "out.svg").find("<svg"), std::string::npos);
}

TEST_F(CliSimulate, OverlapIsNeverLater) {
  const Json json = json_of("copy --n 4096 --threads 32 --overlap");
  EXPECT_LE(json.at("overlap_time"), json.at("time"));
}

}  // namespace cli_simulate_test

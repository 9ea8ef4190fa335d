// `faro synth` as a user meets it: what it finds and proves, its JSON, what it writes, its refusals.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "cli_support.hpp"

namespace cli_synth_test {

using namespace faro::testing;

class CliSynth : public CommandTest {
 protected:
  Json json_of(const std::string& arguments) const {
    const Result result = run("synth " + arguments + " --json");
    Json json = Json::parse(result.out);
    EXPECT_EQ(result.status, status_of(json)) << "faro synth " << arguments << "\n" << result.err;
    EXPECT_EQ(lines_of(result.err), result.status == 0 ? 0 : 1) << result.err;
    return json;
  }

  // A search that found nothing, and one that was cut off, say so by a status of their own.
  static int status_of(const Json& json) {
    if (json.at("outcome") == "not finished") return 8;
    return json.at("outcome") == "none" && json.at("emitted").is_null() ? 7 : 0;
  }
};

TEST_F(CliSynth, ListsTheExamples) {
  EXPECT_EQ(run("synth --list").out,
            "stencil-1d\nconv-1d\nconv-2d\npoly-32\npoly-64\nload-only\naos-sum\naos-crc\naos-rcr\n"
            "transpose\n");
  EXPECT_EQ(Json::parse(run("synth --list --json").out).at("names").size(), 10U);
}

// Counts for 32 lanes are as published.
TEST_F(CliSynth, CountsFunctionsAndSolutions) {
  struct Case {
    std::string arguments;
    int solutions;
    std::vector<std::pair<std::string, int>> functions;
  };
  const std::vector<Case> table{
      {"aos-crc --struct 2", 2, {{"first", 20}, {"row", 36670}, {"last", 20}}},
      {"aos-rcr --struct 2", 4, {{"load", 36670}, {"column", 20}, {"store", 36670}}},
      {"aos-crc --struct 4", 8, {{"first", 469}, {"row", 110014}, {"last", 469}}},
      {"aos-crc --struct 6", 0, {{"first", 1917}, {"row", 183358}, {"last", 1917}}},
      {"conv-2d", 1, {{"lane_x", 512}}},
      {"transpose --struct 7", 1, {}},
  };
  for (const Case& c : table) {
    SCOPED_TRACE("faro synth " + c.arguments);
    const Json json = json_of(c.arguments);
    EXPECT_EQ(json.at("schema"), 1);
    EXPECT_EQ(json.at("space"), "full");
    EXPECT_EQ(json.at("solutions"), c.solutions);
    EXPECT_EQ(json.at("outcome"), c.solutions == 0 ? "none" : "found");
    EXPECT_EQ(json.at("best").is_null(), c.solutions == 0);
    for (const auto& [hole, count] : c.functions) EXPECT_EQ(json.at("functions").at(hole), count) << hole;
  }
}

// A proof of none says of what: the grammar of each hole in the space that was searched.
TEST_F(CliSynth, AProofOfNoneNamesItsGrammar) {
  const Result full = run("synth aos-crc --struct 6 --warp 8");
  EXPECT_EQ(full.status, 7);
  EXPECT_EQ(full.err, "faro: synth aos-crc: no solution in space full\n");
  EXPECT_NE(full.out.find("proven for    first  gs floor(i / gs) + "), std::string::npos) << full.out;
  EXPECT_NE(full.out.find("gs divides 6"), std::string::npos) << full.out;
  const Result easy = run("synth aos-crc --struct 6 --warp 8 --space easy");
  EXPECT_EQ(easy.status, 7);
  EXPECT_NE(easy.out.find("(cf i + cr k + c) mod 6"), std::string::npos) << easy.out;
  const Result found = run("synth aos-crc --struct 3 --warp 8");
  EXPECT_EQ(found.status, 0);
  EXPECT_EQ(found.out.find("proven for"), std::string::npos) << found.out;
  const Json json = json_of("poly-32 --warp 4");
  EXPECT_NE(json.at("grammar").at("use1").get<std::string>().find("= != >= > <= <"), std::string::npos);
}

TEST_F(CliSynth, JsonIsDocumented) {
  for (const std::string arguments :
       {"aos-rcr --struct 4 --warp 8 --all --emit kernel.cu", "aos-rcr --struct 4 --warp 8",
        "aos-crc --struct 6 --warp 8 --space easy", "poly-32 --warp 4 --all"}) {
    SCOPED_TRACE("faro synth " + arguments);
    Json json = json_of(arguments);
    // Objects with a key for each hole.
    for (const char* const key : {"functions", "parameters", "grammar"}) json[key] = 0;
    for (const char* const key : {"best", "closed_form"})
      if (!json[key].is_null()) json[key]["holes"] = 0;
    for (Json& solution : json["all"]) solution["holes"] = 0;
    std::set<std::string> keys;
    collect_keys(json, "", keys);
    const std::set<std::string> documented = documented_keys().at("synth");
    for (const std::string& key : keys)
      EXPECT_TRUE(documented.contains(key) || key == "all") << key;  // empty without --all
    // What is null has no keys inside; all else is there.
    for (const std::string& key : without_empty_arrays(leaves_of(documented), json)) {
      const std::string outer = key.substr(0, key.find('.'));
      EXPECT_TRUE(keys.contains(key) || keys.contains(outer)) << key;
    }
  }
}

TEST_F(CliSynth, ShowsAllSolutions) {
  const Json json = json_of("aos-rcr --struct 4 --warp 8 --all");
  EXPECT_EQ(json.at("all").size(), json.at("solutions").get<std::size_t>());
  EXPECT_EQ(json.at("all").at(0), json.at("best"));
  EXPECT_TRUE(json_of("aos-rcr --struct 4 --warp 8").at("all").empty());
  const std::string text = run("synth aos-rcr --struct 4 --warp 8 --all").out;
  EXPECT_NE(text.find("solution 1"), std::string::npos) << text;
}

// Where the space has none, the proof is told and the closed form is written.
TEST_F(CliSynth, EmitsTheClosedFormWhereThereIsNoSolution) {
  for (const std::string example : {"aos-crc", "aos-rcr"}) {
    const Result result = run("synth " + example + " --struct 6 --space easy --emit kernel.cu");
    ASSERT_EQ(result.status, 0) << result.err;
    EXPECT_NE(result.out.find("no solution in this space: proven"), std::string::npos) << result.out;
    EXPECT_NE(result.out.find("closed form"), std::string::npos) << result.out;
    EXPECT_NE(files().at("kernel.cu").find("__global__"), std::string::npos);
  }
}

TEST_F(CliSynth, EmitsADeviceFunction) {
  const Json json = json_of("aos-crc --struct 3 --emit-device exchange.cuh");
  EXPECT_EQ(json.at("emitted").at("device_function"), true);
  const std::string text = files().at("exchange.cuh");
  EXPECT_TRUE(text.starts_with("// faro synth aos-crc --struct 3 --emit-device exchange.cuh\n")) << text;
  EXPECT_NE(text.find("__device__ __forceinline__ void aos_crc_3([[maybe_unused]] int t, "),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("\n// before: "), std::string::npos) << text;
  EXPECT_NE(text.find("\n// after: "), std::string::npos) << text;
  EXPECT_EQ(text.find("__global__"), std::string::npos) << text;
  EXPECT_EQ(run("synth aos-crc --struct 3 --emit a.cu --emit-device b.cuh").status, 2);
  EXPECT_EQ(run("synth aos-crc --struct 3 --emit-device b.cuh --batch 4").status, 2);
  EXPECT_EQ(run("synth aos-crc --struct 3 --emit-device -").status, 2);
  EXPECT_EQ(run("synth transpose --emit-device b.cuh").status, 3);
}

TEST_F(CliSynth, EmitsABatch) {
  const Json json = json_of("aos-rcr --struct 4 --warp 8 --emit kernel.cu --batch 16");
  EXPECT_EQ(json.at("emitted").at("batch"), 16);
  EXPECT_EQ(json.at("emitted").at("threads"), 128);
  EXPECT_NE(files().at("kernel.cu").find("uint32_t problems)"), std::string::npos);
  EXPECT_EQ(json_of("aos-rcr --struct 4 --warp 8 --emit kernel.cu").at("emitted").at("batch"), 0);
}

TEST_F(CliSynth, EmitsAKernelOfImages) {
  const Json json = json_of("conv-2d --struct 3 --emit kernel.cu --image --batch 8 --element float");
  EXPECT_EQ(json.at("emitted").at("image"), true);
  EXPECT_EQ(json.at("emitted").at("batch"), 8);
  EXPECT_EQ(json.at("emitted").at("threads"), 256);
  EXPECT_NE(files().at("kernel.cu").find("uint32_t width, uint32_t height)"), std::string::npos);
}

// The first line of a kernel is the command that writes it, with all that was asked for.
TEST_F(CliSynth, AKernelNamesTheCommandThatWritesIt) {
  struct Case {
    std::string given, named;
  };
  const std::vector<Case> table{
      {"conv-2d --emit kernel.cu --batch 8 --image --element float --struct 3",
       "conv-2d --struct 3 --element float --image --batch 8 --emit kernel.cu"},
      {"aos-rcr --warp 8 --space extra --all --time-limit 500 --emit kernel.cu --json",
       "aos-rcr --warp 8 --space extra --all --time-limit 500 --emit kernel.cu"},
      {"aos-crc --struct=6 --space easy --emit \"$PWD/it's  a kernel.cu\" --element uint32_t",
       "aos-crc --struct 6 --space easy --element uint32_t --emit 'it'\\''s  a kernel.cu'"},
      {"transpose --space full --emit=-k", "transpose --emit ./-k"},
  };
  for (const Case& c : table) {
    SCOPED_TRACE("faro synth " + c.given);
    const Result result = run("synth " + c.given);
    ASSERT_EQ(result.status, 0) << result.err;
    ASSERT_EQ(files().size(), 1U);
    const auto [name, kernel] = *files().begin();
    const std::string first = kernel.substr(0, kernel.find('\n'));
    EXPECT_EQ(first, "// faro synth " + c.named);
    fs::remove(directory_ / name);
    EXPECT_EQ(run(first.substr(std::string("// faro ").size())).status, 0);
    EXPECT_EQ(files(), (std::map<std::string, std::string>{{name, kernel}}));
    fs::remove(directory_ / name);
  }
}

TEST_F(CliSynth, TooLittleTimeIsNoProof) {
  const Json json = json_of("poly-64 --space extra --time-limit 1");
  if (json.at("outcome") == "not finished") {
    EXPECT_NE(json.at("solutions"), 0);
    EXPECT_TRUE(json.at("unfinished").get<std::string>().ends_with(" within the time limit of 1 s"));
    EXPECT_EQ(json.at("remedy"), "a longer time limit or an easier space");
  } else {
    EXPECT_GT(json.at("solutions"), 0);
  }
}

// One sentence: what there is not, why, and what may help.
TEST_F(CliSynth, NothingToEmitWithinTheTimeIsOneSentence) {
  const Result told = run("synth poly-64 --warp 64 --space extra --time-limit 1");
  ASSERT_EQ(told.status, 8) << told.err;
  EXPECT_NE(told.out.find(" within the time limit of 1 s; nothing found, which proves nothing; "),
            std::string::npos)
      << told.out;
  const Result result = run("synth poly-64 --space extra --time-limit 1 --emit kernel.cu");
  if (result.status == 0) GTEST_SKIP() << "a solution was found within a second";
  EXPECT_EQ(result.status, 3);
  EXPECT_EQ(lines_of(result.err), 1) << result.err;
  EXPECT_TRUE(result.err.starts_with("faro: synth poly-64: got no solution yet: ")) << result.err;
  EXPECT_TRUE(
      result.err.ends_with(" within the time limit of 1 s, wanted a solution to emit; a longer time limit or "
                           "an easier space\n"))
      << result.err;
  for (const std::string word : {" got ", " wanted "})
    EXPECT_EQ(result.err.find(word), result.err.rfind(word)) << result.err;
  EXPECT_TRUE(files().empty());
}

TEST_F(CliSynth, ExtraTellsWhatItFrees) {
  const std::string columns = run("synth aos-crc --struct 3 --warp 8 --space extra").out;
  for (const std::string hole : {"first ", "row ", "last "}) {
    const std::size_t at = columns.find(hole);
    const std::string line = columns.substr(at, columns.find('\n', at) - at);
    EXPECT_NE(line.find(hole == "row " ? "ways; g free" : "ways; g, ecr and ec free"), std::string::npos)
        << line;
  }
  EXPECT_EQ(run("synth aos-crc --struct 3 --warp 8").out.find("free"), std::string::npos);
}

// A search that takes longer than what `timeout` ends.
TEST_F(CliSynth, WhatCannotBeWrittenIsRefusedBeforeTheSearch) {
  const std::string search = "synth poly-64 --space extra --emit ";
  const auto names = [&] {
    std::set<std::string> found;
    for (const auto& entry : fs::recursive_directory_iterator(directory_))
      found.insert(entry.path().string());
    return found;
  };
  const auto expect_refused = [&](const std::string& path, const std::string& part, const std::string& whom) {
    for (const bool as_json : {false, true}) {
      SCOPED_TRACE("faro " + search + path);
      const auto before = names();
      const Result result = run(search + path + (as_json ? " --json" : ""), "timeout 10 " + whom);
      EXPECT_EQ(result.status, 6) << result.err;
      EXPECT_EQ(lines_of(result.err), 1) << result.err;
      EXPECT_NE(result.err.find("got " + part), std::string::npos) << result.err;
      const bool named = result.err.find("write `" + path + "`: ") != std::string::npos ||
                         result.err.find("write " + path + ": ") != std::string::npos;
      EXPECT_TRUE(named) << result.err;
      if (as_json) {
        EXPECT_EQ(Json::parse(result.out).at("error").at("code"), "file");
      } else {
        EXPECT_EQ(result.out, "");
      }
      EXPECT_EQ(names(), before);
    }
  };
  ASSERT_TRUE(fs::create_directory(directory_ / "folder"));
  expect_refused("missing/kernel.cu", "No such file or directory", "");
  expect_refused("folder", "Is a directory", "");
  expect_refused("folder/", "Is a directory", "");
  expect_refused("/dev/null", "a pipe or device", "");
  ASSERT_EQ(chmod(directory_.c_str(), 0777), 0);
  ASSERT_EQ(chmod((directory_ / "folder").c_str(), 0555), 0);
  // Root may write to anything, so it becomes nobody.
  const std::string nobody = geteuid() == 0 ? "setpriv --reuid=65534 --clear-groups" : "";
  if (geteuid() == 0 && run("info", nobody).status != 0) GTEST_SKIP() << "there is nobody else here";
  expect_refused("folder/kernel.cu", "Permission denied", nobody);
}

TEST_F(CliSynth, WhatNoSolutionCanEmitIsRefusedBeforeTheSearch) {
  const std::vector<Refused> table{
      {"--warp 24", 3, "shuffles in a warp of 24 lanes"},
      {"--warp 64", 3, "shuffles in a warp of 64 lanes"},
      {"--batch 33", 3, "1024 threads"},
      {"--element float", 2, "bit operator `^`"},
      {"--warp 8 --element float", 2, "bit operator `^`"},
  };
  for (const Refused& refused : table)
    expect_refused("synth poly-64 --space extra --emit kernel.cu " + refused.arguments, refused.status,
                   refused.part, "timeout 10");
}

// Such warps have no shuffles, and these kernels need none.
TEST_F(CliSynth, EmitsWithoutShufflesForAnyWarp) {
  for (const std::string example : {"aos-crc --struct 1", "aos-rcr --struct 2", "load-only"}) {
    const Json emitted = json_of(example + " --warp 12 --emit kernel.cu").at("emitted");
    EXPECT_EQ(emitted.at("shuffles"), 0) << example;
    EXPECT_EQ(emitted.at("threads").get<int>() % 12, 0) << example;
  }
}

// What was there stays until the kernel is whole.
TEST_F(CliSynth, AKernelReplacesAFileWholeOrNotAtAll) {
  std::ofstream(directory_ / "kernel.cu") << "old";
  EXPECT_EQ(run("synth conv-2d --warp 16 --space easy --emit kernel.cu").status, 3);
  EXPECT_EQ(files(), (std::map<std::string, std::string>{{"kernel.cu", "old"}}));
  EXPECT_EQ(run("synth aos-crc --struct 2 --warp 4 --emit kernel.cu").status, 0);
  EXPECT_EQ(files().size(), 1U);
  EXPECT_NE(files().at("kernel.cu").find("__global__"), std::string::npos);
}

TEST_F(CliSynth, RefusalsAreOneLineAndWriteNothing) {
  const std::vector<Refused> table{
      {"", 2, "no EXAMPLE"},
      {"aos-cr", 2, "did you mean `aos-crc`?"},
      {"aos-crc --list", 2, "one of them"},
      {"aos-crc --struct 0", 2, "--struct"},
      {"aos-crc --struct many", 2, "`many`"},
      {"aos-crc --struct 65", 2, "1 to 64"},
      {"aos-crc --warp 0", 2, "--warp"},
      {"aos-crc --warp 65", 2, "1 to 64"},
      {"aos-crc --warp ''", 2, "--warp: an empty value"},
      {"poly-64 --struct 3", 2, "no structs"},
      {"conv-2d --struct 5", 2, "3 or 7"},
      {"aos-crc --space ful", 2, "did you mean `full`?"},
      {"aos-crc --space ''", 2, "--space: an empty value"},
      {"aos-crc --time-limit 0", 2, "--time-limit"},
      {"aos-crc --al", 2, "did you mean `--all`?"},
      {"aos-crc --batch 2", 2, "--batch without --emit"},
      {"aos-crc --element float", 2, "--element without --emit"},
      {"aos-crc --struct 2 --warp 4 --emit missing/kernel.cu", 6, "missing/kernel.cu"},
      {"aos-crc --struct 2 --warp 4 --emit kernel.cu --element double", 2, "double"},
      {"aos-crc --struct 2 --warp 4 --emit kernel.cu --batch 0", 2, "--batch"},
      {"aos-crc --struct 2 --warp 4 --emit kernel.cu --batch 257", 3, "1024 threads"},
      {"poly-64 --batch 2", 2, "--batch without --emit"},
      {"conv-2d --image", 2, "--image without --emit"},
      {"aos-crc --emit kernel.cu --image", 2, "conv-2d"},
      {"transpose --emit kernel.cu --batch 2", 3, "2 problems a block"},
      {"conv-2d --warp 16 --space easy --emit kernel.cu", 3, "no solution in space easy"},
  };
  for (const Refused& refused : table)
    for (const std::string more : {"", " --json"})
      expect_refused("synth " + refused.arguments + more, refused.status, refused.part);
}

// Written, it is read as the same sketch.
TEST_F(CliSynth, SketchesInFiles) {
  ASSERT_EQ(run("synth aos-crc --struct 3 --warp 8 --sketch own.sketch").status, 0);
  const Json example = Json::parse(run("synth aos-crc --struct 3 --warp 8 --json").out);
  const Json own = Json::parse(run("synth @own.sketch --json").out);
  EXPECT_EQ(own.at("solutions"), example.at("solutions"));
  ASSERT_EQ(run("synth @own.sketch --sketch again.sketch").status, 0);
  EXPECT_EQ(bytes_of("again.sketch"), bytes_of("own.sketch"));
  EXPECT_EQ(run("synth @own.sketch --emit own.cu").status, 0);
  EXPECT_EQ(run("synth @none.sketch").status, 6);
  EXPECT_EQ(run("synth @own.sketch --warp 8").status, 2);
  EXPECT_EQ(run("synth aos-crc --sketch a.sketch --emit a.cu").status, 2);
}

// A kernel's own expressions, held to what is wanted.
TEST_F(CliSynth, ChecksExpressions) {
  const std::string stencil = "synth stencil-1d --warp 8 --check 'index=i <= t ? 0 : 1' --check use=1 ";
  const Result agrees = run(stencil + "--check 'lane=(i + k) % 8'");
  EXPECT_EQ(agrees.status, 0) << agrees.err;
  EXPECT_EQ(agrees.out, "stencil-1d: all that is wanted, for every input\n");
  EXPECT_EQ(Json::parse(run(stencil + "--check 'lane=i + k & 7' --json").out).at("agrees"), true);
  // Lane 5 of block 0, warp 0 asks another.
  const Result differs = run(stencil + "--check 'lane=(i + k) % 8 ^ (i == 5 && k == 1)' --json");
  EXPECT_EQ(differs.status, 5);
  EXPECT_EQ(lines_of(differs.err), 1);
  const Json first = Json::parse(differs.out).at("first_difference");
  EXPECT_EQ(first.at("block"), 0);
  EXPECT_EQ(first.at("warp"), 0);
  EXPECT_EQ(first.at("lane"), 5);
  EXPECT_EQ(first.at("text").get<std::string>().rfind("O[5]: got ", 0), 0U) << first;
  const Result outside = run(stencil + "--check 'lane=i + k'");
  EXPECT_EQ(outside.status, 5);
  EXPECT_NE(outside.out.find("8 at i = 7, k = 1"), std::string::npos) << outside.out;
  for (const char* wrong : {"--check lane=i", "--check lanes=t", "--check lane", "--check 'lane=i +'",
                            "--check lane=i --emit a.cu", "--check lane=i --sketch a.sketch"}) {
    expect_refused(std::string("synth stencil-1d --warp 8 ") + wrong, 2, "");
  }
}

}  // namespace cli_synth_test

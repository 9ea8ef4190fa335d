// `faro emit` as a user meets it: what it writes and where, its JSON, its refusals.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cli_support.hpp"

namespace cli_emit_test {

using namespace faro::testing;

class CliEmit : public CommandTest {
 protected:
  std::string text_of(const std::string& arguments) const {
    const Result result = run("emit " + arguments);
    EXPECT_EQ(result.status, 0) << "faro emit " << arguments << "\n" << result.err;
    EXPECT_EQ(result.err, "");
    return result.out;
  }
};

// The command in the head writes the same text again.
std::string command_in(const std::string& text) {
  const std::string label = "//   made by:  faro emit ";
  const std::size_t begin = text.find(label);
  if (begin == std::string::npos) return "";
  return text.substr(begin + label.size(), text.find('\n', begin) - begin - label.size());
}

TEST_F(CliEmit, TheCommandInTheHeadMakesTheSameText) {
  for (const char* const arguments :
       {"'bit_reversal(15)'", "'bit_reversal(15)' --kernel iters --n-iter 2 --n-tile 4 --plain-rows",
        "'random_bmmc(14, 3)' --kernel two-pass --launcher --name my_kernel --element float2",
        "'random_bmmc(14, 3)' --map 'v * 2 + x' --n-tile 5", "'gray(9)' --kernel naive --map='-v'",
        "'gray(9)' --element 'unsigned long long' --map \"v + 'a'\"",
        "'transpose(64, 32)' --target cpp --map 'v ^ (x + y)'"}) {
    const std::string text = text_of(arguments);
    const std::string command = command_in(text);
    ASSERT_NE(command, "") << arguments;
    EXPECT_EQ(text_of(command), text) << "faro emit " << command;
  }
}

// Axes, flips, rolls and index arrays that are affine are written as the map that they are.
TEST_F(CliEmit, TakesAffineMapsInAnyForm) {
  struct Same {
    const char* given;
    const char* map;
  };
  ASSERT_EQ(run("new 64 u4 a.npy").status, 0);
  ASSERT_EQ(run("permute 'bit_reversal(6)' a.npy index.npy --quiet").status, 0);
  for (const Same& same :
       {Same{"axes(4 4; 1 0)", "bits(4; 2 3 0 1)"}, Same{"axes(2 2 2 2 2 2; 5 4 3 2 1 0)", "bit_reversal(6)"},
        Same{"flip(64)", "reverse(6)"}, Same{"roll(64, 32)", "xor(6, 0x20)"},
        Same{"indices(0 2 1 3)", "bit_reversal(2)"}, Same{"@index.npy", "bit_reversal(6)"}}) {
    for (const std::string options : {"", " --target cpp"}) {
      EXPECT_EQ(text_of("'" + std::string(same.given) + "'" + options),
                text_of("'" + std::string(same.map) + "'" + options));
    }
  }
}

TEST_F(CliEmit, WritesTheFileWholeOrNotAtAll) {
  const std::string text = text_of("'bit_reversal(15)' --kernel banks");
  EXPECT_EQ(text_of("'bit_reversal(15)' --kernel banks --out kernel.cu"), "");
  const std::string written = files().at("kernel.cu");
  EXPECT_EQ(written, text);
  EXPECT_EQ(run("emit 'random_bmmc(15, 1)' --kernel banks --out kernel.cu").status, 3);
  EXPECT_EQ(files().at("kernel.cu"), text);
  EXPECT_EQ(run("emit 'bit_reversal(15)' --out missing/kernel.cu").status, 6);
  EXPECT_EQ(files().size(), 1U);
}

TEST_F(CliEmit, JsonIsDocumented) {
  const std::set<std::string> documented = documented_keys().at("emit");
  for (const char* const arguments :
       {"'random_bmmc(16, 1)' --kernel two-pass --map 'v + y'", "'gray(16)' --kernel iters"}) {
    const Result result = run(std::string("emit ") + arguments + " --json");
    ASSERT_EQ(result.status, 0) << result.err;
    std::set<std::string> keys;
    collect_keys(Json::parse(result.out), "", keys);
    EXPECT_EQ(keys, documented) << arguments;
  }
  const Json json = Json::parse(run("emit 'bit_reversal(15)' --kernel tile --json").out).at("emit");
  EXPECT_EQ(json.at("class"), "BP");
  EXPECT_EQ(json.at("kernels").at(0).at("blocks"), 32);
  EXPECT_EQ(json.at("kernels").at(0).at("predicted").at("shared_loads").at("congestion"), 32);
  EXPECT_EQ(json.at("text"), text_of("'bit_reversal(15)' --kernel tile"));
  const Json cpp = Json::parse(run("emit 'bit_reversal(15)' --target cpp --json").out).at("emit");
  EXPECT_TRUE(cpp.at("kernel").is_null());
  EXPECT_TRUE(cpp.at("kernels").empty());
}

// The published pair is one command, and its text names it.
TEST_F(CliEmit, BothFactors) {
  const std::string text = text_of("'random_bmmc(15, 1)' --kernel banks --factors --launcher");
  EXPECT_NE(text.find("faro_kernel_first"), std::string::npos);
  EXPECT_NE(text.find("faro_kernel_second"), std::string::npos);
  EXPECT_NE(text.find(" --kernel banks --factors --launcher\n"), std::string::npos) << text.substr(0, 3000);
  EXPECT_EQ(run("emit 'random_bmmc(15, 1)' --factors").status, 2);
  EXPECT_EQ(run("emit 'random_bmmc(15, 1)' --factors --target cpp").status, 2);
}

// A map is tiled for some widths only: what explain calls tiled, emit writes with a tile.
TEST_F(CliEmit, ExplainAndEmitAgreeOnWhatIsTiled) {
  const std::string map = "'affine(6; 0x11 0x12 0x14 0x18 0x10 0x20; 0)'";
  for (const auto& [element, bytes] :
       std::map<std::string, int>{{"uint8_t", 1}, {"uint32_t", 4}, {"uint64_t", 8}}) {
    const Result explained = run("explain " + map + " --element-bytes " + std::to_string(bytes));
    const bool is_tiled = explained.out.find("class tiled BMMC") != std::string::npos;
    EXPECT_EQ(is_tiled, bytes < 8) << explained.out;
    EXPECT_EQ(run("emit " + map + " --kernel tile --element " + element).status, is_tiled ? 0 : 3) << element;
    const Json emitted = Json::parse(run("emit " + map + " --element " + element + " --json").out);
    EXPECT_EQ(emitted.at("emit").at("class"), is_tiled ? "tiled BMMC" : "BMMC");
  }
  EXPECT_EQ(run("emit " + map + " --kernel tile --element uint64_t --n-tile 5").status, 0);
}

TEST_F(CliEmit, RefusalsAreOneLineAndWriteNothing) {
  for (const Refused& refused :
       std::vector<Refused>{{"'random_bmmc(20, 1)' --kernel iters", 3, "two-pass and one-pass"},
                            {"'gray(20)' --kernel iter", 2, "`iter`"},
                            {"'gray(20)' --target c", 2, "cuda or cpp"},
                            {"'gray(20)' --target cpp --kernel naive", 2, "--kernel with --target cpp"},
                            {"'gray(20)' --target cpp --launcher", 2, "--launcher"},
                            {"'gray(20)' --kernel naive --n-tile 4", 2, "--n-tile"},
                            {"'gray(20)' --n-iter 2", 2, "--kernel iters"},
                            {"'gray(20)' --element float3", 2, "float3"},
                            {"'gray(20)' --name 9", 2, "`9`"},
                            {"'gray(20)' --map 'v)'", 2, "`)`"},
                            {"'gray(20)' --map ' '", 2, "nothing"},
                            {"'gray(20)' --map ''", 2, "empty"},
                            {"'gray(20)' --n-tile 0", 2, "--n-tile"},
                            {"'gray(20)' --n-tile 21", 2, "n_tile"},
                            {"'gray(20)' --kernel iters --n-iter eleven", 2, "--n-iter"},
                            {"'gry(20)'", 2, "gray"},
                            {"'roll(16, 3)'", 3, "roll(16, 3), wanted an affine map"},
                            {"'axes(3 4; 1 0)'", 3, "axes(3 4; 1 0), wanted an affine map"},
                            {"'indices(1 0 2 3 4)'", 3, "an affine map"},
                            {"'gray(20)' --kernl tile", 2, "--kernel"},
                            {"", 2, "SPEC"}}) {
    expect_refused("emit " + refused.arguments + " --out kernel.cu", refused.status, refused.part);
  }
}

// In emitted text, in what is told, in pictures and in errors, and by whatever verb: the name that was typed,
// and not the columns of its matrix. A file's name is none that emitted text could keep.
TEST_F(CliEmit, AMapKeepsTheNameThatWasTyped) {
  ASSERT_EQ(run("new 2^10 u4 a.npy").status, 0);
  const std::string name = "random_bmmc(10, 1)";
  for (const std::string& arguments :
       {"emit '" + name + "'", "emit '" + name + "' --kernel tile", "explain '" + name + "'",
        "explain '" + name + "' --svg drawn.svg", "explain '" + name + "' --svg drawn.svg --figure 8",
        "explain '" + name + "' --svg drawn.svg --figure 4",
        "explain '" + name + "' --svg drawn.svg --figure 99", "permute '" + name + "' a.npy out.npy",
        "permute '" + name + "' a.npy out.npy --method direct",
        "permute '" + name + "' a.npy out.npy --element-bytes 8"}) {
    const Result result = run(arguments);
    const std::string drawn = content_of(directory_ / "drawn.svg");
    for (const std::string* const text : {&result.out, &result.err, &drawn})
      EXPECT_EQ(text->find("affine("), std::string::npos) << arguments << "\n" << *text;
    fs::remove(directory_ / "drawn.svg");
  }
  std::ofstream(directory_ / "m.json") << R"({"n": 4, "columns": ["0xf", "0x4", "0x6", "0x1"]})";
  EXPECT_NE(text_of("@m.json").find("made by:  faro emit 'affine(4; "), std::string::npos);
}

// A title ends between two words.
TEST_F(CliEmit, NothingIsCutInTheMiddleOfAToken) {
  for (const std::string& spec :
       {std::string("random_bmmc(20, 1)"),
        std::string("affine(20; 0x1 0x3 0x7 0xf 0x1f 0x3f 0x7f 0xff 0x1ff 0x3ff 0x7ff 0xfff 0x1fff 0x3fff "
                    "0x7fff 0xffff 0x1ffff 0x3ffff 0x7ffff 0xfffff; 0)")}) {
    ASSERT_EQ(run("explain '" + spec + "' --svg drawn.svg").status, 0) << spec;
    const std::string drawn = content_of(directory_ / "drawn.svg");
    for (std::size_t at = drawn.find("..."); at != std::string::npos; at = drawn.find("...", at + 3))
      EXPECT_EQ(drawn.substr(at - 1, 1), " ") << drawn.substr(at < 80 ? 0 : at - 80, 90);
  }
}

}  // namespace cli_emit_test

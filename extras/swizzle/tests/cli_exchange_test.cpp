// `faro layout convert` as a user meets it: what it prints, its JSON, what it writes, its refusals.
#include <gtest/gtest.h>

#include <string>

#include "cli_support.hpp"

namespace cli_exchange_test {

using namespace faro::testing;

class CliExchange : public CommandTest {};

TEST_F(CliExchange, TellsOfAConversion) {
  const Result result = run("layout convert mma.m16n8.C mma.m16n8k8.A --element 32");
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_NE(result.out.find("shuffles      4: no program has fewer"), std::string::npos) << result.out;
  const Json json = Json::parse(run("layout convert mma.m16n8.C mma.m16n8k8.A --json").out);
  EXPECT_EQ(json.at("schema"), 1);
  EXPECT_EQ(json.at("shuffles"), 4);
  EXPECT_EQ(json.at("proven"), true);
  EXPECT_EQ(json.at("shared").at("store").at("wavefronts"),
            json.at("shared").at("store").at("least_wavefronts"));
  EXPECT_EQ(json.at("shared").at("load").at("by"), "1 ldmatrix.x4.trans");
  const Json plain = Json::parse(run("layout convert mma.m16n8.C mma.m16n8k8.A --capability 7.0 --json").out);
  EXPECT_EQ(plain.at("shared").at("load").at("by"), "2 loads of 8 bytes");
  EXPECT_EQ(json.at("emitted"), nullptr);
}

TEST_F(CliExchange, MemoryAndBlocks) {
  const Result load =
      run("layout convert 'tma.128B(64x64)' 'mma.m16n8k16.A[64x64]' --element 16 --emit load.cuh");
  EXPECT_EQ(load.status, 0) << load.err;
  EXPECT_NE(load.out.find("16 ldmatrix.x4 in 64 wavefronts, no bank conflict"), std::string::npos)
      << load.out;
  EXPECT_NE(bytes_of("load.cuh").find("(const char* shared, uint32_t (&out)[64], uint32_t lane)"),
            std::string::npos);
  const Json json =
      Json::parse(run("layout convert wgmma.m64n16.C 'blocked(1x4, 8x4, 4x1)[64x16]' --json").out);
  EXPECT_EQ(json.at("warps"), 4);
  EXPECT_EQ(json.at("shuffles"), nullptr);
  EXPECT_EQ(json.at("shared").at("is_cheaper"), true);
  const std::string turn = "layout convert ldmatrix.x4 ldmatrix.x4.trans --element 16 --emit turn.cuh ";
  EXPECT_EQ(run(turn + "--cheapest").status, 0);
  EXPECT_EQ(run(turn + "--shared --capability 7.5").status, 0);
  EXPECT_EQ(bytes_of("turn.cuh").find("stmatrix"), std::string::npos);
  EXPECT_EQ(run(turn + "--cheapest --shared").status, 2);
  for (const char* capability : {"9", "9.x", "x", "9.0.1", "0.9"})
    EXPECT_EQ(run(turn + "--capability " + capability).status, 2) << capability;
}

TEST_F(CliExchange, ListsTheLayouts) {
  EXPECT_NE(run("layout convert --list").out.find("mma.m16n8k16.A"), std::string::npos);
  EXPECT_GT(Json::parse(run("layout convert --list --json").out).at("layouts").size(), 40U);
}

TEST_F(CliExchange, WritesAHeader) {
  const std::string arguments =
      "layout convert ldmatrix.x4 ldmatrix.x4.trans --element 16 --name turn --emit turn.cuh";
  ASSERT_EQ(run(arguments).status, 0);
  const std::string text = bytes_of("turn.cuh");
  EXPECT_TRUE(text.starts_with("// faro " + arguments.substr(0, arguments.find(" --name")))) << text;
  EXPECT_NE(text.find("void turn(const uint32_t (&in)[4], uint32_t (&out)[4], uint32_t lane)"),
            std::string::npos);
  ASSERT_EQ(run(arguments + " --shared").status, 0);
  EXPECT_NE(bytes_of("turn.cuh").find("char* shared"), std::string::npos);
}

TEST_F(CliExchange, Refuses) {
  const auto status = [&](const std::string& arguments) {
    const Result result = run("layout convert " + arguments);
    EXPECT_EQ(lines_of(result.err), 1) << result.err;
    EXPECT_EQ(result.out, "");
    return result.status;
  };
  EXPECT_EQ(status(""), 2);
  EXPECT_EQ(status("mma.m16n8.C"), 2);
  EXPECT_EQ(status("mma.m16n8.C --list"), 2);
  EXPECT_EQ(status("mma.m16n8.C mma.m16n8k4.A"), 2);
  EXPECT_EQ(status("mma.m16n8.C mma.m16n8k8.A --element 12"), 2);
  EXPECT_EQ(status("mma.m16n8.C mma.m16n8k8.A --shared"), 2);
  EXPECT_EQ(status("mma.m16n8.C mma.m16n8k8.A --emit a.cuh --name '1x'"), 2);
  EXPECT_EQ(status("mma.m16n8.C mma.m16n8k8.A third"), 2);
  EXPECT_EQ(status("mma.m16n8.C mma.m16n8k8.A --elements 16"), 2);
  EXPECT_EQ(status("mfma.16x16.C 'trans(mfma.16x16.C)' --emit a.cuh"), 3);
  EXPECT_EQ(status("mma.m16n8.C @none.layout"), 6);
  EXPECT_NE(run("layout convert mma.m16n8.C mma.m16n8k8.A third").err.find("faro: layout convert: "),
            std::string::npos);
  EXPECT_NE(run("layout --rows").err.find("faro: layout: "), std::string::npos);
}

TEST_F(CliExchange, ChecksIndices) {
  const std::string row = "'lane / 4 + 8 * (i / 2)'";
  EXPECT_EQ(run("layout check mma.m16n8.C " + row + " '2 * (lane % 4) + i % 2'").status, 0);
  const Result wrong = run("layout check mma.m16n8.C " + row + " '2 * (lane % 4) + i'");
  EXPECT_EQ(wrong.status, 5);
  EXPECT_EQ(wrong.out, "mma.m16n8.C: at warp 0, lane 0, i 2 (8, 2), wanted (8, 0)\n");
  const Json json = Json::parse(run("layout check 'contiguous(4)' '4 * lane + i / i' --json").out);
  EXPECT_EQ(json.at("first_difference").at("got").at(0), nullptr);
  EXPECT_EQ(run("layout check mma.m16n8.C 1 2 3").status, 2);
  EXPECT_EQ(run("layout check mma.m16n8.C").status, 2);
  EXPECT_EQ(run("layout check mma.m16n8.C 'lane +'").status, 2);
}

}  // namespace cli_exchange_test

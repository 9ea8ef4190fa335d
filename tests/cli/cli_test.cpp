// The command line as a user meets it: exit statuses, one line for an error, JSON as documented, no file
// left behind.
//
// Runs the built command, named by $FARO or found above this program.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "cli_support.hpp"
#include "faro/kernels/affine_tile_index.hpp"

namespace cli_test {

using namespace faro::testing;

class Cli : public CommandTest {
 protected:
  void SetUp() override {
    CommandTest::SetUp();
    std::ofstream(directory_ / "swap.qasm") << "OPENQASM 2.0;\nqreg q[10];\nswap q[0],q[9];\n";
    std::ofstream(directory_ / "text.npy") << "no array";
    ASSERT_EQ(run("new 2^10 u4 a.npy").status, 0);
    ASSERT_EQ(run("new 12 u4 twelve.npy").status, 0);
    ASSERT_EQ(run("new '()' '<f8' scalar.npy").status, 0);
    ASSERT_EQ(run("new 0x3 '>u2' empty.npy").status, 0);
    ASSERT_EQ(run("new 64x16 S32 bytes.npy").status, 0);
    fs::create_symlink("a.npy", directory_ / "link.npy");
    fs::create_symlink("loop.npy", directory_ / "loop.npy");
    fs::create_hard_link(directory_ / "a.npy", directory_ / "hard.npy");
  }
};

TEST_F(Cli, FailuresAreOneLineAndWriteNothing) {
  struct Case {
    std::string arguments;
    int status;
    std::string part;  // of the line
  };
  const std::vector<Case> table{
      {"permut", 2, "did you mean `permute`?"},
      {"--versoin", 2, "did you mean `--version`?"},
      {"frobnicate", 2, "`faro --help`"},
      {"permute --elemnt-bytes 4 gray a.npy out.npy", 2, "did you mean `--element-bytes`?"},
      {"permute gray a.npy out.npy --batch", 2, "--batch"},
      {"permute gray a.npy out.npy --batch 1 --batch 2", 2, "each option at most once"},
      {"permute gray a.npy out.npy --threads ''", 2, "--threads: an empty value"},
      {"explain 'gray(4)' --svg ''", 2, "--svg: an empty value"},
      {"bench 'gray(4)' --bytes ''", 2, "--bytes: an empty value"},
      {"permute gray a.npy out.npy extra", 2, "one argument too many, `extra`"},
      {"permute", 2, "no SPEC"},
      {"permute gray a.npy", 2, "no OUT.npy"},
      {"bench", 2, "no SPEC"},
      {"new 4 u4", 2, "no OUT.npy"},
      {"info extra", 2, "`extra`"},
      {"maps grey", 2, "did you mean `gray`?"},
      {"explain 'gray(4)' --engine cuda --measure", 2, "--measure with --engine cuda"},
      {"explain 'gary(4)'", 2, "did you mean `gray`?"},
      {"explain gray", 2, "gray(n)"},
      {"explain 'gray(4'", 2, "gray"},
      {"explain 'gray(4, 5)'", 2, "gray"},
      {"explain 'gray(65)'", 2, "65"},
      {"explain 'gray(41)'", 2, "41"},
      {"explain 'affine(2; 0x1 0x1; 0x0)'", 2, "column"},
      {"explain 'axes(3 4; 0 0)'", 2, "axis 0 twice"},
      {"explain '@missing.qasm'", 6, "missing.qasm"},
      {"explain 'gray(4)' --element-bytes 3", 2, "3"},
      {"explain 'gray(4)' --element-bytes 0", 2, "0"},
      {"explain 'gray(4)' --element-bytes 8192", 2, "8192"},
      {"explain 'gray(4)' --batch -1", 2, "-1"},
      {"explain 'gray(4)' --svg missing/x.svg", 6, "missing/x.svg"},
      {"explain 'gray(4)' --svg --engine cpu", 2, "--engine"},
      {"permute gray missing.npy out.npy", 6, "missing.npy"},
      {"permute gray text.npy out.npy", 6, "text.npy"},
      {"permute gray . out.npy", 6, "directory"},
      {"permute gray a.npy missing/out.npy", 6, "missing/out.npy"},
      {"permute gray a.npy ''", 6, "the name of a file"},
      {"permute gray a.npy /dev/null", 6, "a pipe or device"},
      {"permute gray a.npy loop.npy", 6, "loop.npy"},
      {"permute gray a.npy .", 6, "it is a folder"},
      {"wisdom --import .", 6, "it is a folder"},
      {"synth @.", 6, "it is a folder"},
      {"layout convert @. mma.m16n8.C", 6, "it is a folder"},
      {"permute gray a.npy a.npy", 2, "same file"},
      {"permute gray a.npy link.npy", 2, "same file"},
      {"permute gray a.npy hard.npy", 2, "same file"},
      {"permute gray a.npy ./a.npy", 2, "same file"},
      {"permute 'gray(9)' a.npy out.npy", 2, "--batch 2"},
      {"permute 'gray(11)' a.npy out.npy", 2, "2048"},
      {"permute gray twelve.npy out.npy", 2, "power of two"},
      {"permute 'gray(2)' twelve.npy out.npy", 2, "--batch 3"},
      {"permute gray twelve.npy out.npy --batch 5", 2, "multiple of the batch"},
      {"permute gray a.npy out.npy --batch 0", 2, "--batch 0"},
      {"permute gray a.npy out.npy --batch many", 2, "`many`"},
      {"permute gray a.npy out.npy --element-bytes 2", 2, "multiple of the item size"},
      {"permute gray a.npy out.npy --element-bytes 12", 2, "multiple of the 3"},
      {"permute gray a.npy out.npy --threads 0", 2, "--threads"},
      {"permute gray a.npy out.npy --element-bits 4 --explain", 3, "--explain"},
      {"permute gray a.npy out.npy --element-bits 4 --io uring", 3, "--io"},
      {"permute gray a.npy out.npy --element-bits 4 --element-bytes 4", 3, "--element-bytes"},
      {"permute gray a.npy out.npy --element-bits 4 --method direct", 3, "--method"},
      {"permute gray a.npy out.npy --element-bits 4 --shape 4x4", 2, "--shape 4x4"},
      {"permute gray a.npy out.npy --engine gpu", 2, "auto, cpu or cuda"},
      {"permute gray a.npy out.npy --engine cuda --device 99", 4, "faro: "},
      {"permute gray a.npy out.npy --engine cuda --device many", 2, "`many`"},
      {"permute gray a.npy out.npy --device 0", 2, "engine cuda"},
      {"permute gray a.npy out.npy --map v", 3, "engine cpu, which moves elements"},
      {"permute gray a.npy out.npy --map ''", 2, "--map: an empty value"},
      {"permute gray a.npy out.npy --map v --verify", 2, "--verify with --map"},
      {"permute gray a.npy out.npy --element float", 2, "--element without --map"},
      {"permute gray a.npy out.zarr --io x", 2, "auto, uring"},
      {"permute gray a.npy out.zarr --method direct", 3, "--method"},
      {"permute gray a.npy out.zarr --skip 5", 2, "--skip without --raw"},
      {"permute gray a.npy out.zarr --device 1", 2, "--device without"},
      {"permute gray a.npy - --format zarr3", 3, "`-`"},
      {"permute gray a.npy - --levels 4,4", 3, "--levels"},
      {"permute gray a.npy - --no-backup", 2, "--no-backup without"},
      {"permute gray a.npy out.npy --piece-bytes 1MiB", 2, "--engine cuda"},
      {"permute gray a.npy out.npy --memory 1GB", 2, "4GiB"},
      {"permute gray a.npy out.npy --gather", 2, "`inverse(gray)`"},
      {"permute 'a b -> b a' a.npy out.npy --gather", 2, "`b a -> a b`"},
      {"permute gray a.npy out.npy --checkpoint -1", 2, "0.5"},
      {"permute gray a.npy out.npy --checkpoint inf", 2, "0.5"},
      {"permute gray a.npy out.npy --memory 0.5B", 2, "1.5GiB"},
      {"permute gray a.npy out.npy --memory 1e30GiB", 2, "1.5GiB"},
      {"bench 'gray(10)' --engine cuda --device 99", 4, "faro: "},
      {"bench 'gray(10)' --tile 1,2,3,4", 2, "a compiled tile for units of 4 bytes"},
      {"explain 'gray(10)' --engine cuda --device 99", 4, "faro: "},
      {"explain 'gray(10)' --engine cuda --capability nine", 2, "9.0"},
      {"explain 'gray(10)' --engine cuda --capability 9.", 2, "9.0"},
      {"explain 'gray(10)' --capability 9.0", 2, "--engine cuda"},
      {"explain 'gray(10)' --engine cuda --capability 9.0 --device 0", 2, "one of them"},
      {"permute 'gray(5)' empty.npy out.npy", 2, "--batch 0"},
      {"permute gray empty.npy out.npy", 2, "power of two"},
      {"bench 'gray(10)' --bytes 4095", 2, "at least one array, 4 KiB"},
      {"bench gray --bytes 3", 2, "0 elements"},
      {"bench 'gray(10)' --bytes 4MiB --element-bytes 3", 2, "power of two"},
      {"bench 'gray(10)' --bytes 4KB", 2, "64MiB"},
      {"bench 'gray(40)'", 2, "memory"},
      {"new 3xx4 u4 out.npy", 2, "`3xx4`"},
      {"new 4 O out.npy", 2, "`O`"},
      {"new 4 f16 out.npy", 2, "`f16`"},
      {"new 2^40x2^40 u4 out.npy", 2, "2^40x2^40"},
      {"new 2^60 u1 out.npy", 6, "out.npy"},
      {"layout --rows 32 --columns 32", 2, "no --access"},
      {"layout --rows 0 --columns 32 --access row", 2, "0 rows"},
      {"layout --rows many --columns 32 --access row", 2, "`many`"},
      {"layout --rows 2^20 --columns 32 --access row", 2, "at most 232448 bytes"},
      {"layout --rows 32 --columns 32 --element-bytes 3 --access row", 2, "1, 2, 4, 8 or 16 bytes"},
      {"layout --rows 32 --columns 32 --access row,colum", 2, "did you mean `column`?"},
      {"layout --rows 32 --columns 32 --access 'stride(0)'", 2, "a stride of 0"},
      {"layout --rows 32 --columns 32 --access @missing.txt", 6, "missing.txt"},
      {"layout --rows 32 --columns 32 --acess row", 2, "did you mean `--access`?"},
      {"layout --rows 32 --columns 32 --access row --seed x", 2, "`x`"},
      {"new 4 u4 missing/out.npy", 6, "missing/out.npy"},
      {"simulate", 2, "no PROGRAM"},
      {"simulate contigous", 2, "did you mean `contiguous`?"},
      {"simulate copy --width 0", 2, "--width"},
      {"simulate copy --width 32 --threads 48", 2, "threads that the width divides"},
      {"simulate copy --width 2^40", 2, "--width"},
      {"simulate copy --threads 96", 2, "a number of threads that divides n"},
      {"simulate copy --n 2^40", 2, "--n"},
      {"simulate copy --width 2^20", 2, "n = 1099511627776"},
      {"simulate copy --latency 0", 2, "--latency"},
      {"simulate copy --machine pram", 2, "dmm, umm or hmm"},
      {"simulate copy --dmms 2", 2, "DMMs of the dmm"},
      {"simulate copy file.txt", 2, "one argument too many"},
      {"simulate copy --spec 'gray(10)'", 2, "the program `permute`"},
      {"simulate copy --thread 32", 2, "did you mean `--threads`?"},
      {"simulate transpose-diagonal --n 1056", 2, "a square"},
      {"simulate transpose-rotating --registers 5", 2, "w / r a square"},
      {"simulate transpose-rotating --threads 64", 2, "r p that divides n"},
      {"simulate transpose-rotating --n 2304", 2, "sides that T = 32 divides"},
      {"simulate stride --n 1600 --layout rap", 2, "w^2 = 1024 words"},
      {"simulate copy --layout raw", 2, "contiguous, stride, diagonal"},
      {"simulate permute --machine umm --n 2048 --threads 96", 2, "a number of threads that divides n"},
      {"simulate permute --spec 'gray(9)' --n 1024", 2, "512"},
      {"simulate permute --spec 'gary(10)'", 2, "did you mean `gray`?"},
      {"simulate permute --seed x", 2, "`x`"},
      {"simulate trace", 2, "no FILE"},
      {"simulate trace missing.txt", 6, "missing.txt"},
      {"simulate trace text.npy", 6, "text.npy"},
      {"simulate trace text.npy --n 4", 2, "with a trace"},
      {"simulate copy --svg missing/x.svg", 6, "missing/x.svg"}};
  const auto before = files();
  for (const Case& c : table) {
    for (const bool as_json : {false, true}) {
      SCOPED_TRACE("faro " + c.arguments + (as_json ? " --json" : ""));
      if (!has_verb(c.arguments)) continue;
      const Result result = run(c.arguments + (as_json ? " --json" : ""));
      EXPECT_EQ(result.status, c.status) << result.err;
      EXPECT_EQ(lines_of(result.err), 1) << result.err;
      EXPECT_TRUE(result.err.starts_with("faro: ")) << result.err;
      if (!as_json || c.part != "--batch") {
        EXPECT_NE(result.err.find(c.part), std::string::npos) << result.err;
      }
      EXPECT_EQ(result.out.empty(), !as_json) << result.out;
      if (as_json) {
        const Json json = Json::parse(result.out);
        std::set<std::string> keys;
        collect_keys(json, "", keys);
        EXPECT_EQ(keys, documented_keys()["error"]);
      }
      EXPECT_TRUE(files() == before);
    }
  }
}

TEST_F(Cli, JsonHasTheDocumentedKeys) {
  const std::vector<std::string> table{"permute gray a.npy out.npy --json",
                                       "permute gray a.npy out.npy --verify --json --quiet",
                                       "explain 'gray(10)' --json",
                                       "explain 'bit_reversal(24)' --batch 3 --json",
                                       "explain 'bit_reversal(24)' --engine cuda --capability 9.0 --json",
                                       "bench gray 'bit_reversal(10)' --bytes 8KiB --json",
                                       "maps --json",
                                       "maps morton --json",
                                       "info --json",
                                       "layout --rows 64 --columns 64 --element-bytes 2 --access 'row(8)' "
                                       "--access 'column(8)' --json",
                                       "new 2x3 c8 out.npy --json"};
  auto documented = documented_keys();
  for (const std::string& arguments : table) {
    SCOPED_TRACE("faro " + arguments);
    const Result result = run(arguments);
    ASSERT_EQ(result.status, 0) << result.err;
    EXPECT_EQ(result.err, "");
    const Json json = Json::parse(result.out);
    EXPECT_EQ(json.at("schema"), 1);
    std::set<std::string> keys;
    collect_keys(json, "", keys);
    const std::string verb = arguments.substr(0, arguments.find(' '));
    std::set<std::string> expected = documented[verb];
    if (arguments.find("--engine cuda") != std::string::npos) {
      expected.merge(std::set(documented[verb + ", of a plan for a GPU"]));
    } else {
      expected.merge(std::set(documented[verb + ", of a plan for a CPU"]));
    }
    EXPECT_EQ(keys, without_empty_arrays(leaves_of(expected), json));
  }
}

TEST_F(Cli, PermutesWhatItSays) {
  const std::vector<std::string> table{"permute bit_reversal a.npy out.npy",
                                       "permute 'compose(gray, reverse)' a.npy out.npy --inverse",
                                       "permute 'gray(4)' a.npy out.npy --batch 64",
                                       "permute 'gray(4)' a.npy out.npy --batch 2^6 --threads 1",
                                       "permute gray a.npy out.npy --element-bytes 32",
                                       "permute 'gray(3)' a.npy out.npy --element-bytes 0x20 --batch 16",
                                       "permute @swap.qasm a.npy out.npy --engine cpu",
                                       "permute 'gray(2)' twelve.npy out.npy --batch 3",
                                       "permute bit_reversal scalar.npy out.npy",
                                       "permute 'gray(\n10 )' a.npy out.npy",
                                       "permute 'gray(20)' empty.npy out.npy --batch 0",
                                       "permute 'transpose(64, 16)' bytes.npy out.npy"};
  for (const std::string& arguments : table) {
    SCOPED_TRACE("faro " + arguments);
    const Result result = run(arguments + " --verify");
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_EQ(lines_of(result.err), 1) << result.err;
    EXPECT_EQ(result.out, "");
    EXPECT_TRUE(fs::remove(directory_ / "out.npy"));
  }
}

// On any machine: without a GPU, `explain` plans for the kind that is named, or the usual one.
TEST_F(Cli, ExplainsForAnyGpu) {
  for (const std::string arguments :
       {"explain 'bit_reversal(24)' --engine cuda",
        "explain 'bit_reversal(24)' --engine cuda --capability 8.0",
        "explain 'gray(20)' --engine cuda --capability 12.0 --element-bytes 64 --svg out.svg"}) {
    SCOPED_TRACE("faro " + arguments);
    const Result result = run(arguments);
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_EQ(result.err, "");
    EXPECT_NE(result.out.find("cuda"), std::string::npos) << result.out;
    if (arguments.find("--capability 8.0") != std::string::npos) {
      EXPECT_NE(result.out.find("compute capability 8.0"), std::string::npos) << result.out;
    }
  }
  EXPECT_TRUE(fs::exists(directory_ / "out.svg"));
}

TEST_F(Cli, TakesTheTileThatIsAskedFor) {
  for (const faro::kernels::CompiledTile& tile : faro::kernels::kCompiledTiles) {
    const auto& shape = tile.shape;
    const std::string text = std::to_string(shape.segment_bits) + "," + std::to_string(shape.row_bits) + "," +
                             std::to_string(shape.vector_bits) + "," + std::to_string(shape.threads()) +
                             (tile.blocked ? ",blocked" : "");
    const Result result = run("explain 'random_bmmc(30, 1)' --json --engine cuda --capability 9.0 --tile " +
                              text + " --element-bytes " + std::to_string(shape.element_bytes()));
    ASSERT_EQ(result.status, 0) << result.err;
    const Json pass = Json::parse(result.out).at("passes").at(0);
    EXPECT_EQ(pass.at("tile").at("segment_bits"), shape.segment_bits);
    EXPECT_EQ(pass.at("tile").at("row_bits"), shape.row_bits);
  }
}

TEST_F(Cli, CudaEngineRunsOrSaysWhyNot) {
  const Json info = Json::parse(run("info --json").out);
  const Json& cuda = info.at("engines").at(1);
  ASSERT_EQ(cuda.at("name"), "cuda");
  if (cuda.at("available")) {
    EXPECT_FALSE(info.at("gpus").empty());
    for (const std::string arguments :
         {"permute bit_reversal a.npy out.npy", "permute 'gray(2)' twelve.npy out.npy --batch 3",
          "permute bit_reversal scalar.npy out.npy", "permute 'gray(20)' empty.npy out.npy --batch 0",
          "permute 'transpose(64, 16)' bytes.npy out.npy --piece-bytes 8KiB --device-bytes 40KiB"}) {
      SCOPED_TRACE("faro " + arguments);
      const Result result = run(arguments + " --engine cuda --verify");
      EXPECT_EQ(result.status, 0) << result.err;
      EXPECT_TRUE(fs::remove(directory_ / "out.npy"));
    }
    // Cut in segments of 512 bytes, a tile would be the whole array.
    const Result refused = run("permute bit_reversal a.npy out.npy --engine cuda --piece-bytes 2KiB");
    EXPECT_EQ(refused.status, 3);
    EXPECT_NE(refused.err.find("at least 4096 bytes"), std::string::npos) << refused.err;
    return;
  }
  EXPECT_TRUE(info.at("gpus").empty());
  const std::string reason = "cuda: " + cuda.at("reason").get<std::string>();
  for (const std::string arguments :
       {"permute gray a.npy out.npy --engine cuda", "bench 'gray(10)' --engine cuda"}) {
    SCOPED_TRACE("faro " + arguments);
    const Result result = run(arguments);
    EXPECT_EQ(result.status, 4);
    EXPECT_EQ(lines_of(result.err), 1) << result.err;
    EXPECT_NE(result.err.find(reason), std::string::npos) << result.err;
    EXPECT_FALSE(fs::exists(directory_ / "out.npy"));
  }
}

TEST_F(Cli, InverseUndoes) {
  ASSERT_EQ(run("permute 'random_bmmc(10, 7)' a.npy b.npy --quiet").err, "");
  ASSERT_EQ(run("permute 'random_bmmc(10, 7)' b.npy c.npy --inverse --quiet").status, 0);
  EXPECT_TRUE(content_of(directory_ / "a.npy") != content_of(directory_ / "b.npy"));
  EXPECT_TRUE(content_of(directory_ / "a.npy") == content_of(directory_ / "c.npy"));
}

TEST_F(Cli, NewFillsWithTheIndex) {
  const auto data_of = [&](const std::string& dtype, std::size_t bytes) {
    EXPECT_EQ(run("new 300 '" + dtype + "' n.npy").status, 0);
    const std::string file = content_of(directory_ / "n.npy");
    EXPECT_EQ(file.size(), 128 + 300 * bytes);
    return file.substr(128);
  };
  EXPECT_EQ(data_of("<u2", 2).substr(2 * 258, 2), "\x02\x01");
  EXPECT_EQ(data_of(">u2", 2).substr(2 * 258, 2), "\x01\x02");
  EXPECT_EQ(data_of("u1", 1).substr(258, 1), "\x02");
  EXPECT_EQ(data_of(">f4", 4).substr(4 * 3, 4), std::string("\x40\x40\x00\x00", 4));
  EXPECT_EQ(data_of(">f2", 2).substr(2 * 3, 2), std::string("\x42\x00", 2));
  EXPECT_EQ(data_of("S5", 5).substr(5 * 258, 5), "00258");
  EXPECT_EQ(data_of("b1", 1).substr(0, 4), std::string("\x00\x01\x01\x00", 4));
  EXPECT_NE(data_of("V3", 3).substr(0, 3), data_of("V3", 3).substr(3, 3));
}

TEST_F(Cli, PagesGoToStandardOutput) {
  for (const std::string arguments :
       {"", "--help", "--version", "permute --help", "explain --help", "bench --help", "maps --help",
        "info --help", "new --help", "layout --help", "simulate --help", "simulate stride --timeline", "maps",
        "maps gray", "info"}) {
    SCOPED_TRACE("faro " + arguments);
    if (!has_verb(arguments)) continue;
    const Result result = run(arguments);
    EXPECT_EQ(result.status, 0);
    EXPECT_EQ(result.err, "");
    EXPECT_TRUE(result.out.ends_with('\n'));
    EXPECT_FALSE(result.out.ends_with("\n\n"));
    EXPECT_EQ(result.out.find('\x1b'), std::string::npos);
  }
  EXPECT_LE(lines_of(run("").out), 12);
}

TEST_F(Cli, UnwritableStandardOutputIsAFileError) {
  const int status = std::system(("'" + faro_command().string() + "' maps >/dev/full 2>/dev/null").c_str());
  EXPECT_EQ(WEXITSTATUS(status), 6);
}

TEST_F(Cli, ClosedStreamsHarmNothing) {
  ASSERT_EQ(run("permute gray a.npy wanted.npy --quiet").status, 0);
  for (const std::string streams : {"2>&-", "2>/dev/full", "0<&- 1>&- 2>&-"}) {
    SCOPED_TRACE(streams);
    // The # hides the redirections that run() appends.
    EXPECT_EQ(run("permute gray a.npy out.npy " + streams + " #").status, 0);
    EXPECT_TRUE(content_of(directory_ / "out.npy") == content_of(directory_ / "wanted.npy"));
    fs::remove(directory_ / "out.npy");
  }
  EXPECT_EQ(run("info 1>&- 2>&- #").status, 6);
}

TEST_F(Cli, FileSizeLimitIsFoundBeforeWriting) {
  ASSERT_EQ(run("new 2^16 u4 large.npy").status, 0);
  const auto before = files();
  // More than an OpenMP runtime wants for files of its own, less than the output.
  const Result result = run("permute gray large.npy out.npy", "ulimit -f 64 &&");
  EXPECT_EQ(result.status, 6) << result.err;
  EXPECT_EQ(lines_of(result.err), 1);
  EXPECT_TRUE(files() == before);
}

TEST_F(Cli, JsonFlagWithAValue) {
  const Result result = run("explain 'gray(99)' --json=true");
  EXPECT_EQ(result.status, 2);
  EXPECT_EQ(Json::parse(result.out).at("error").at("code"), "value");
}

// A hang-up ends the command, but not under nohup, which has it ignored.
TEST_F(Cli, NohupKeepsRunning) {
  const std::string bench = "bench 'bit_reversal(20)'";  // takes longer than the pause
  const Result result = run(bench, "timeout -s HUP 0.2 nohup");
  EXPECT_EQ(result.status, 124);
  EXPECT_NE(result.out, "");
  EXPECT_EQ(run(bench, "timeout -s HUP 0.2").out, "");
}

TEST_F(Cli, InterruptLeavesNothing) {
  ASSERT_EQ(run("new 2^26 u1 large.npy").status, 0);
  for (const char* const pause : {"0.01", "0.05", "0.2"}) {
    const Result result =
        run("permute bit_reversal large.npy out.npy --verify", "timeout -s INT " + std::string(pause));
    EXPECT_TRUE(result.status == 124 || result.status == 0) << result.status;
    for (const auto& entry : fs::directory_iterator(directory_)) {
      EXPECT_FALSE(entry.path().filename().string().starts_with(".faro")) << entry.path();
      if (result.status != 0) {
        EXPECT_NE(entry.path().filename(), "out.npy");
      }
    }
    fs::remove(directory_ / "out.npy");
  }
}

}  // namespace cli_test

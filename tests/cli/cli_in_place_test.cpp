// The command line in place: the file before and after, every refusal with the file as it was, explanations
// and benchmarks.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "cli_support.hpp"

namespace cli_in_place_test {

using namespace faro::testing;

class InPlaceCli : public CommandTest {
 protected:
  void SetUp() override {
    CommandTest::SetUp();
    ASSERT_EQ(run("new 1024 u4 a.npy").status, 0);
    ASSERT_EQ(run("new 30x70 u4 m.npy").status, 0);
    ASSERT_EQ(run("new 2100 u4 flat.npy").status, 0);
    ASSERT_EQ(run("new 16x64 u4 p.npy").status, 0);
    ASSERT_EQ(run("new 3x5x7 u2 three.npy").status, 0);
  }

  void write(const std::string& name, const std::string& bytes) const {
    std::ofstream(directory_ / name, std::ios::binary) << bytes;
  }

  // The data of a file with a header of 128 bytes.
  std::string data_of(const std::string& name) const { return bytes_of(name).substr(128); }

  Json json_of(const std::string& arguments) const {
    const Result result = run(arguments);
    EXPECT_EQ(result.status, 0) << result.err;
    return result.status == 0 ? Json::parse(result.out) : Json();
  }
};

// The same data as with two files.
TEST_F(InPlaceCli, PermutesAsWithTwoFiles) {
  struct Case {
    std::string spec;
    std::string file;
    std::string options;
  };
  const std::vector<Case> table{{"bit_reversal", "a.npy", ""},
                                {"'random_bmmc(10, 3)'", "a.npy", ""},
                                {"'random_bmmc(10, 3)'", "a.npy", " --inverse --threads 1"},
                                {"'circuit(10; x 3; cx 0 9; swap 1 2)'", "a.npy", " --engine cpu"},
                                {"gray", "a.npy", " --element-bytes 32"},
                                {"'gray(4)'", "a.npy", " --batch 64"},
                                {"'transpose(30, 70)'", "m.npy", ""},
                                {"'transpose(70, 30)'", "flat.npy", ""},
                                {"'transpose(10, 7)'", "m.npy", " --batch 30"},
                                {"'transpose(25, 28)'", "flat.npy", " --element-bytes 12"},
                                {"'transpose(16, 32)'", "p.npy", " --element-bytes 8"},
                                {"identity", "a.npy", ""},
                                {"'axes(3 5 7; 0 2 1)'", "three.npy", ""},
                                {"'axes(2 2 4 64; 3 1 2 0)'", "a.npy", ""},
                                {"'axes(4 4 4 16; 3 2 1 0)'", "a.npy", " --inverse"},
                                {"'axes(4 4; 1 0)'", "a.npy", " --batch 64"},
                                {"'flip(1024)'", "a.npy", ""},
                                {"'roll(1024, 256)'", "a.npy", ""},
                                {"'roll(1024, 3)'", "a.npy", ""},
                                {"'roll(1024, -3)'", "a.npy", " --inverse"},
                                {"'flip(105)'", "three.npy", ""},
                                {"'axes(3 5 7; 0 1 2; 1 0 3; 1)'", "three.npy", ""},
                                {"'indices(0 2 1 3)'", "a.npy", " --batch 256"},
                                {"@index.npy", "a.npy", ""}};
  ASSERT_EQ(run("permute 'random_bmmc(10, 5)' a.npy index.npy --quiet").status, 0);
  for (const Case& c : table) {
    SCOPED_TRACE("faro permute " + c.spec + " " + c.file + c.options);
    ASSERT_EQ(run("permute " + c.spec + " " + c.file + " out.npy --quiet" + c.options).status, 0);
    for (const std::string more : {" --verify", " --no-backup"}) {
      fs::copy_file(directory_ / c.file, directory_ / "x.npy", fs::copy_options::overwrite_existing);
      const Result result = run("permute --in-place " + c.spec + " x.npy" + c.options + more);
      ASSERT_EQ(result.status, 0) << result.err;
      EXPECT_EQ(lines_of(result.err), 1) << result.err;
      EXPECT_EQ(result.out, "");
      EXPECT_NE(result.err.find("in place"), std::string::npos) << result.err;
      EXPECT_EQ(data_of("x.npy"), data_of("out.npy"));
      EXPECT_EQ(bytes_of("x.npy").size(), bytes_of("out.npy").size());
    }
  }
}

// The header's shape follows the axes that move, and nothing else.
TEST_F(InPlaceCli, TurnsTheShapeRound) {
  for (const std::string more : {"", " --no-backup"}) {
    SCOPED_TRACE(more);
    ASSERT_EQ(run("permute --in-place 'transpose(30, 70)' m.npy" + more).status, 0);
    EXPECT_EQ(shape_of("m.npy"), "(70, 30)");
    ASSERT_EQ(run("permute --in-place 'transpose(30, 70)' m.npy --inverse" + more).status, 0);
    EXPECT_EQ(shape_of("m.npy"), "(30, 70)");
    ASSERT_EQ(run("permute --in-place 'transpose(70, 30)' m.npy --inverse" + more).status, 0);
    EXPECT_EQ(shape_of("m.npy"), "(70, 30)");
    ASSERT_EQ(run("permute --in-place 'transpose(70, 30)' m.npy" + more).status, 0);
    EXPECT_EQ(shape_of("m.npy"), "(30, 70)");
    // Not the transposition of this array.
    ASSERT_EQ(run("new 30x70 u4 other.npy").status, 0);
    EXPECT_EQ(run("permute --in-place 'axes(70 30; 1 0)' other.npy" + more).status, 2);
    EXPECT_EQ(shape_of("other.npy"), "(30, 70)");
    ASSERT_EQ(run("permute --in-place 'transpose(70, 30)' flat.npy" + more).status, 0);
    EXPECT_EQ(shape_of("flat.npy"), "(2100,)");

    ASSERT_EQ(run("permute --in-place 'transpose(16, 64)' p.npy" + more).status, 0);
    EXPECT_EQ(shape_of("p.npy"), "(64, 16)");
    // The same by other words, and round by round.
    ASSERT_EQ(run("permute --in-place 'bits(10; 4 5 6 7 8 9 0 1 2 3)' p.npy --inverse" + more).status, 0);
    EXPECT_EQ(shape_of("p.npy"), "(16, 64)");
    ASSERT_EQ(run("permute --in-place 'axes(16 64; 1 0)' p.npy" + more).status, 0);
    EXPECT_EQ(shape_of("p.npy"), "(64, 16)");
    ASSERT_EQ(run("permute --in-place 'transpose(64, 16)' p.npy" + more).status, 0);
    EXPECT_EQ(shape_of("p.npy"), "(16, 64)");

    ASSERT_EQ(run("permute --in-place gray p.npy" + more).status, 0);
    EXPECT_EQ(shape_of("p.npy"), "(16, 64)");
    ASSERT_EQ(run("permute --in-place gray p.npy --inverse" + more).status, 0);
    ASSERT_EQ(run("permute --in-place 'axes(3 5 7; 0 2 1)' three.npy" + more).status, 0);
    EXPECT_EQ(shape_of("three.npy"), "(3, 7, 5)");
    ASSERT_EQ(run("permute --in-place 'axes(3 5 7; 0 2 1)' three.npy --inverse" + more).status, 0);
    EXPECT_EQ(shape_of("three.npy"), "(3, 5, 7)");
  }
  ASSERT_EQ(run("new 1x50 u4 row.npy").status, 0);
  ASSERT_EQ(run("permute --in-place 'transpose(1, 50)' row.npy --no-backup").status, 0);
  EXPECT_EQ(shape_of("row.npy"), "(50, 1)");
  ASSERT_EQ(run("permute --in-place 'roll(50, 0)' row.npy").status, 0);
  EXPECT_EQ(shape_of("row.npy"), "(50, 1)");
  ASSERT_EQ(run("new 0x5 u4 none.npy").status, 0);
  ASSERT_EQ(run("permute --in-place 'transpose(0, 5)' none.npy").status, 0);
  EXPECT_EQ(shape_of("none.npy"), "(5, 0)");
}

TEST_F(InPlaceCli, EmptyAndSmall) {
  ASSERT_EQ(run("new 0 u4 empty.npy").status, 0);
  ASSERT_EQ(run("new '()' u4 scalar.npy").status, 0);
  for (const std::string more : {"", " --no-backup"}) {
    for (const std::string arguments :
         {"'gray(20)' empty.npy --batch 0", "bit_reversal scalar.npy", "'transpose(1, 1)' scalar.npy"}) {
      SCOPED_TRACE(arguments + more);
      const auto before = files();
      const Result result = run("permute --in-place " + arguments + more);
      EXPECT_EQ(result.status, 0) << result.err;
      EXPECT_NE(result.err.find("nothing to move"), std::string::npos) << result.err;
      EXPECT_TRUE(files() == before);
    }
  }
}

// A header with other blanks, of another version and with room for nothing.
TEST_F(InPlaceCli, KeepsOrRefusesTheHeader) {
  const auto file_of = [](const std::string& dictionary) {
    return std::string("\x93NUMPY\x01", 7) + '\0' + static_cast<char>(dictionary.size()) + '\0' + dictionary +
           std::string(24, '\x07');
  };
  const std::string tight = "{'shape':(2,3),'descr':[('shape','<u4')],'fortran_order':False}\n";
  write("tight.npy", file_of(tight));
  const Result refused = run("permute --in-place 'transpose(2, 3)' tight.npy --no-backup");
  EXPECT_EQ(refused.status, 3) << refused.err;
  EXPECT_NE(refused.err.find("--no-backup"), std::string::npos) << refused.err;
  EXPECT_EQ(bytes_of("tight.npy"), file_of(tight));
  EXPECT_EQ(run("permute --in-place 'transpose(2, 3)' tight.npy").status, 0);
  EXPECT_EQ(shape_of("tight.npy"), "(3, 2)");

  const std::string padded = "{\"descr\": '<u4', 'fortran_order': False, \"shape\": ( 2,3 )}  \n";
  write("padded.npy", file_of(padded));
  EXPECT_EQ(run("permute --in-place 'transpose(2, 3)' padded.npy --no-backup").status, 0);
  EXPECT_EQ(bytes_of("padded.npy"),
            file_of("{\"descr\": '<u4', 'fortran_order': False, \"shape\": (3, 2)}   \n"));
}

// Every refusal is one line and an exit status, and the file is as it was.
TEST_F(InPlaceCli, RefusesAndChangesNothing) {
  const std::string whole = bytes_of("m.npy");
  write("short.npy", whole.substr(0, whole.size() - 5));
  std::string fortran = whole;
  fortran.replace(fortran.find("False"), 5, "True ");
  write("fortran.npy", fortran);
  std::string objects = whole;
  objects.replace(objects.find("'<u4'"), 5, "'|O8'");
  write("objects.npy", objects);
  write("text.npy", "not an array");
  ASSERT_EQ(run("new 1024 V12 wide.npy").status, 0);
  ASSERT_EQ(run("permute 'random(1024, 7)' a.npy index.npy --quiet").status, 0);
  const std::vector<Refused> table{
      {"gray a.npy out.npy --in-place", 2, "a second file"},
      {"gray --in-place", 2, "IN.npy"},
      {"gray a.npy out.npy --no-backup", 2, "--in-place"},
      {"gray a.npy", 2, "no OUT.npy"},
      {"gray a.npy a.npy", 2, "--in-place"},
      {"gray a.npy --in-place --no-backup --verify", 2, "--verify with --no-backup"},
      {"gray a.npy --in-place --map 'v + 1'", 2, "--map"},
      {"@index.npy a.npy --in-place --plan-cache p.plan", 2, "--plan-cache"},
      {"@index.npy a.npy --in-place", 3, "in place"},
      {"@index.npy a.npy --in-place --method direct", 3, "in place"},
      {"@index.npy index.npy --in-place", 2, "FILE"},
      {"'axes(3 5 7; 2 1 0)' three.npy --in-place", 3, "rows x columns"},
      {"'transpose(30, 71)' m.npy --in-place", 2, "2130"},
      {"'transpose(70, 30)' m.npy --in-place", 2,
       "shape 30x70, wanted the rows x columns of transpose(70, 30)"},
      {"'transpose(30, 70)' m.npy --in-place --inverse", 2, "the columns x rows of transpose(30, 70)"},
      {"' transpose( 1,2100)' m.npy --in-place", 2, "shape 30x70"},
      {"'transpose(64, 16)' p.npy --in-place", 2, "shape 16x64"},
      {"'transpose(30, 35)' flat.npy --in-place --batch 3", 2, "--batch 2"},
      {"'transpose(30, 35)' m.npy --in-place --batch 3", 2, "3 arrays of 700 elements, shape 30x70"},
      {"'transpose(5, 7)' flat.npy --in-place --element-bytes 240", 3, "240 bytes"},
      {"'transpose(5, 7)' m.npy --in-place --element-bytes 240", 2,
       "elements of 240 bytes within shape 30x70"},
      {"'gray(20)' a.npy --in-place", 2, "1024"},
      {"gray wide.npy --in-place", 3, "elements of 12 bytes in place"},
      {"gray a.npy --in-place --piece-bytes 4KiB", 2, "--engine cuda"},
      {"gray missing.npy --in-place", 6, "No such file"},
      {"gray . --in-place", 6, "`.`"},
      {"gray text.npy --in-place", 6, "text.npy"},
      {"'transpose(30, 70)' short.npy --in-place", 6, "short.npy"},
      {"'transpose(30, 70)' fortran.npy --in-place --no-backup", 6, "Fortran order"},
      {"'transpose(30, 70)' objects.npy --in-place", 6, "object"},
      {"'transpose(2^40, 2^40)' m.npy --in-place", 2, ""},
      {"'transpose(3000000019, 3000000019)' m.npy --in-place", 2, ""}};
  for (const Refused& c : table) {
    for (const std::string more : {"", " --no-backup", " --json"}) {
      const bool names_it = c.arguments.find("--no-backup") != std::string::npos;
      const bool has_two = c.arguments.find("--in-place") == std::string::npos;
      if (more == " --no-backup" && (names_it || has_two)) continue;
      expect_refused("permute " + c.arguments + more, c.status, c.part);
    }
  }
}

TEST_F(InPlaceCli, RefusesAReadOnlyFile) {
  ASSERT_EQ(chmod(directory_.c_str(), 0777), 0);
  const auto expect_refused = [&](const std::string& as_whom) {
    const auto before = files();
    for (const std::string more : {"", " --no-backup"}) {
      const Result result = run("permute --in-place gray a.npy" + more, as_whom);
      EXPECT_EQ(result.status, 6) << result.err;
      EXPECT_EQ(lines_of(result.err), 1) << result.err;
      EXPECT_NE(result.err.find("Permission denied"), std::string::npos) << result.err;
      EXPECT_TRUE(files() == before);
    }
  };
  ASSERT_EQ(chmod((directory_ / "a.npy").c_str(), 0444), 0);
  expect_refused("");
  // Another's file; root may write to anything, so it becomes nobody.
  ASSERT_EQ(chmod((directory_ / "a.npy").c_str(), 0644), 0);
  const std::string nobody = geteuid() == 0 ? "setpriv --reuid=65534 --clear-groups" : "";
  if (nobody.empty() || run("info", nobody).status != 0) GTEST_SKIP() << "there is nobody else here";
  expect_refused(nobody);
}

// The file keeps its permissions, and a link to it stays a link.
TEST_F(InPlaceCli, KeepsModeAndLinks) {
  for (const std::string more : {"", " --no-backup"}) {
    ASSERT_EQ(chmod((directory_ / "a.npy").c_str(), 0640), 0);
    fs::remove(directory_ / "link.npy");
    fs::create_symlink("a.npy", directory_ / "link.npy");
    ASSERT_EQ(run("permute --in-place reverse link.npy" + more).status, 0);
    EXPECT_TRUE(fs::is_symlink(directory_ / "link.npy"));
    struct stat status {};
    ASSERT_EQ(stat((directory_ / "a.npy").c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777U, 0640U);
  }
  EXPECT_EQ(static_cast<unsigned char>(data_of("a.npy")[0]), 0);  // reversed twice
  EXPECT_EQ(static_cast<unsigned char>(data_of("a.npy")[4]), 1);
}

// Interrupted, the file is the old one or the new one, and nothing lies beside it.
TEST_F(InPlaceCli, AnInterruptionLeavesTheFileAsItWas) {
  ASSERT_EQ(run("new 2^20 u4 large.npy").status, 0);
  const std::string before = bytes_of("large.npy");
  for (const char* const signal : {"INT", "TERM"}) {
    const std::string line =
        "cd '" + directory_.string() + "' && ('" + faro_command().string() +
        "' permute --in-place 'random_bmmc(20, 1)' large.npy --quiet & pid=$!; sleep 0.05; " + "kill -" +
        signal + " $pid; wait $pid) >/dev/null 2>&1";
    [[maybe_unused]] const int status = std::system(line.c_str());
    if (bytes_of("large.npy") == before) continue;
    ASSERT_EQ(run("permute --in-place 'random_bmmc(20, 1)' large.npy --inverse --quiet").status, 0);
    EXPECT_TRUE(bytes_of("large.npy") == before);
  }
  for (const auto& [name, content] : files()) EXPECT_FALSE(name.starts_with(".faro-")) << name;
}

TEST_F(InPlaceCli, JsonHasTheDocumentedKeys) {
  auto documented = documented_keys();
  const auto keys_of = [](const Json& json) {
    std::set<std::string> keys;
    collect_keys(json, "", keys);
    return keys;
  };
  for (const std::string more : {" --verify", " --no-backup", " --quiet"}) {
    const Json json = json_of("permute --in-place 'random_bmmc(10, 3)' a.npy --json" + more);
    EXPECT_EQ(keys_of(json), documented["permute, in place"]);
    EXPECT_EQ(json.at("backup"), more != " --no-backup");
    EXPECT_EQ(json.at("workspace_bytes"), 0);
    EXPECT_EQ(json.at("verified"), more == " --verify");
    EXPECT_GT(json.at("ms"), 0);
  }
  EXPECT_EQ(json_of("permute --in-place 'transpose(30, 70)' m.npy --json").at("shape"), Json({70, 30}));

  std::set<std::string> of_affine = documented["explain"];
  of_affine.merge(std::set(documented["explain, of a plan for a CPU"]));
  of_affine.merge(std::set(documented["explain, of an affine map in place"]));
  const Json affine = json_of("explain 'random_bmmc(24, 1)' --in-place --json");
  EXPECT_EQ(keys_of(affine), leaves_of(of_affine));
  EXPECT_EQ(affine.at("passes").size(), 2U);
  std::set<std::string> of_sweeps = documented["explain, of a transposition in place"];
  of_sweeps.merge(std::set(documented["explain, of other passes on a CPU"]));
  std::erase_if(of_sweeps, [](const std::string& key) { return key.starts_with("passes[].tables[]."); });
  of_sweeps.insert("passes[].tables");  // empty
  EXPECT_EQ(keys_of(json_of("explain 'transpose(1000, 3000)' --in-place --json")), leaves_of(of_sweeps));

  const Json bench = json_of("bench --in-place 'bit_reversal(10)' 'transpose(30, 50)' --json");
  EXPECT_EQ(keys_of(bench), documented["bench"]);
  std::vector<std::string> kernels;
  for (const Json& row : bench.at("rows")) kernels.push_back(row.at("kernel"));
  const std::vector<std::string> wanted{"in_place", "faro", "naive", "copy",
                                        "in_place", "faro", "naive", "copy"};
  EXPECT_EQ(kernels, wanted);
}

TEST_F(InPlaceCli, ExplainsForBothEngines) {
  for (const std::string engine : {"", " --engine cuda --capability 9.0"}) {
    for (const auto& [arguments, part] : std::vector<std::pair<std::string, std::string>>{
             {"'bit_reversal(24)'", "1 over memory, in place"},
             {"'random_bmmc(30, 1)'", "2 over memory, in place"},
             {"'circuit(24; x 3; cx 0 19; swap 1 2)'", "factor      circuit(24;"},
             {"'transpose(1000, 3000)' --batch 3", "sweep 1"},
             {"'identity(20)'", "none: every element is where it belongs"},
             {"'gray(20)' --batch 0", "none: the batch is empty"}}) {
      SCOPED_TRACE("faro explain --in-place " + arguments + engine);
      const Result result = run("explain --in-place " + arguments + engine);
      EXPECT_EQ(result.status, 0) << result.err;
      EXPECT_NE(result.out.find(part), std::string::npos) << result.out;
    }
    EXPECT_EQ(run("explain --in-place 'gray(20)' --svg gray.svg" + engine).status, 0);
    EXPECT_TRUE(fs::exists(directory_ / "gray.svg"));
    EXPECT_EQ(run("explain --in-place 'transpose(30, 50)' --svg no.svg" + engine).status, 3);
    EXPECT_FALSE(fs::exists(directory_ / "no.svg"));
    EXPECT_EQ(run("explain --in-place 'roll(1000, 3)'" + engine).status, 0);
    EXPECT_EQ(run("explain --in-place 'axes(3 4 5; 2 1 0)'" + engine).status, 3);
  }
}

TEST_F(InPlaceCli, BenchesBatches) {
  const Result result = run("bench --in-place 'gray(8)' 'transpose(12, 20)' --bytes 16KiB --element-bytes 8");
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_NE(result.out.find("in_place"), std::string::npos);
  EXPECT_EQ(run("bench --in-place 'roll(1000, 3)'").status, 0);
  EXPECT_EQ(run("bench --in-place 'axes(3 4 5; 2 1 0)'").status, 3);
}

}  // namespace cli_in_place_test

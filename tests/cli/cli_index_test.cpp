// The command line on index arrays: permuted, explained, benchmarked, plans kept, the machine measured, and
// every bad request one line.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "cli_support.hpp"
#include "faro/permutation/permutation.hpp"
#include "faro/schedule/index_schedule.hpp"

namespace cli_index_test {

using namespace faro::testing;

class IndexCli : public CommandTest {
 protected:
  void SetUp() override {
    CommandTest::SetUp();
    setenv("FARO_CACHE", (directory_ / "cache").c_str(), 1);
    ASSERT_EQ(run("new 1000 u4 a.npy").status, 0);
    ASSERT_EQ(run("new 10 u4 ten.npy").status, 0);
    ASSERT_EQ(run("new 1000 f8 wide.npy").status, 0);
    ASSERT_EQ(run("permute 'random(1000, 7)' a.npy index.npy --quiet").status, 0);
    ASSERT_EQ(run("permute 'random(1000, 8)' a.npy other.npy --quiet").status, 0);
    ASSERT_EQ(run("permute 'roll(1000, 3)' a.npy rolled.npy --quiet").status, 0);
    write_npy("twice.npy", "<u4", std::vector<std::uint32_t>{2, 0, 2, 1});
    write_npy("past.npy", "<i8", std::vector<std::int64_t>{2, 0, 4, 1});
    write_npy("minus.npy", "<i4", std::vector<std::int32_t>{2, 0, -1, 1});
    write_npy("good8.npy", "<u8", std::vector<std::uint64_t>{2, 0, 3, 1});
    write_npy("float.npy", "<f4", std::vector<float>{2, 0, 3, 1});
    ASSERT_EQ(run("new 4 u1 four.npy").status, 0);
  }

  std::set<std::string> keys_of(const std::string& arguments) const {
    const Result result = run(arguments);
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_EQ(result.err, "");
    std::set<std::string> keys;
    collect_keys(Json::parse(result.out), "", keys);
    return keys;
  }

  bool same(const std::string& a, const std::string& b) const {
    return content_of(directory_ / a) == content_of(directory_ / b);
  }
};

TEST_F(IndexCli, PermutesBothWays) {
  const std::string data = content_of(directory_ / "four.npy").substr(0, 128);
  ASSERT_EQ(run("permute @good8.npy four.npy out.npy --verify").status, 0);
  EXPECT_EQ(content_of(directory_ / "out.npy"), data + std::string("\x01\x03\x00\x02", 4));
  ASSERT_EQ(run("permute @good8.npy four.npy out.npy --gather --verify").status, 0);
  EXPECT_EQ(content_of(directory_ / "out.npy"), data + std::string("\x02\x00\x03\x01", 4));
  ASSERT_EQ(run("permute @good8.npy four.npy bits.npy --gather --element-bits 8").status, 0);
  EXPECT_TRUE(same("bits.npy", "out.npy"));

  for (const std::string more : {"", " --element-bytes 8 --batch 1", " --method direct",
                                 " --method partition --chunk-bits 5 --levels 3,2", " --threads 1"}) {
    SCOPED_TRACE(more);
    const bool wide = more.find("--element-bytes") != std::string::npos;
    const std::string in = wide ? "wide.npy" : "a.npy";
    const Result there = run("permute @index.npy " + in + " there.npy --scatter --verify" + more);
    EXPECT_EQ(there.status, 0) << there.err;
    EXPECT_EQ(lines_of(there.err), 1);
    EXPECT_EQ(run("permute @index.npy there.npy back.npy --gather --verify" + more).status, 0);
    EXPECT_TRUE(same(in, "back.npy"));
    EXPECT_EQ(run("permute @index.npy there.npy again.npy --inverse --verify" + more).status, 0);
    EXPECT_TRUE(same(in, "again.npy"));
  }
  // Without a flag the array scatters.
  ASSERT_EQ(run("permute @index.npy a.npy p.npy").status, 0);
  ASSERT_EQ(run("permute @index.npy a.npy q.npy --scatter").status, 0);
  EXPECT_TRUE(same("p.npy", "q.npy"));
}

TEST_F(IndexCli, KeepsPlans) {
  const Result made =
      run("permute @index.npy a.npy one.npy --method partition --chunk-bits 6 --plan-cache p.plan");
  EXPECT_EQ(made.status, 0) << made.err;
  EXPECT_NE(made.err.find("plan written, `p.plan`"), std::string::npos) << made.err;
  const std::string plan = content_of(directory_ / "p.plan");
  ASSERT_FALSE(plan.empty());
  const Result read = run("permute @index.npy a.npy two.npy --plan-cache p.plan --verify");
  EXPECT_EQ(read.status, 0) << read.err;
  EXPECT_NE(read.err.find("plan read, `p.plan`"), std::string::npos) << read.err;
  EXPECT_EQ(
      run("permute @index.npy a.npy two.npy --method partition --chunk-bits 6 --plan-cache p.plan").status,
      0);
  const Result as_json = run("permute @index.npy a.npy two.npy --plan-cache p.plan --json");
  EXPECT_NE(Json::parse(as_json.out).at("plan").get<std::string>().find("chunks of 2^6 elements"),
            std::string::npos)
      << as_json.out;
  EXPECT_TRUE(same("one.npy", "two.npy"));
  EXPECT_EQ(run("permute @index.npy two.npy back.npy --plan-cache p.plan --gather --verify").status, 0);
  EXPECT_TRUE(same("a.npy", "back.npy"));
  EXPECT_EQ(run("permute @index.npy wide.npy w.npy --plan-cache p.plan --verify").status, 0);
  EXPECT_EQ(content_of(directory_ / "p.plan"), plan);

  // What is recognised as a roll needs none.
  const Result roll = run("permute @rolled.npy a.npy out.npy --plan-cache none.plan --verify");
  EXPECT_EQ(roll.status, 0);
  EXPECT_NE(roll.err.find("plan not needed"), std::string::npos) << roll.err;
  EXPECT_FALSE(fs::exists(directory_ / "none.plan"));

  std::string broken = plan;
  broken[broken.size() / 2] = static_cast<char>(broken[broken.size() / 2] ^ 1);
  std::ofstream(directory_ / "broken.plan", std::ios::binary) << broken;
  std::ofstream(directory_ / "short.plan", std::ios::binary) << plan.substr(0, plan.size() - 1);
  std::ofstream(directory_ / "empty.plan", std::ios::binary) << "";
  fs::create_symlink("x.npy", directory_ / "link");
  const std::vector<Refused> table{
      {"permute @index.npy a.npy x.npy --plan-cache link", 2, "same file as OUT"},
      {"permute @index.npy a.npy missing/x.npy --plan-cache new.plan", 6, "missing/x.npy"},
      {"permute '@ index.npy' a.npy index.npy", 2, "which the permutation is read from"},
      {"permute 'inverse(@index.npy\t)' a.npy index.npy", 2, "which the permutation is read from"},
      {"permute @other.npy a.npy x.npy --plan-cache p.plan", 2, "another index array"},
      {"permute @good8.npy four.npy x.npy --plan-cache p.plan", 2, "made for 1000 elements"},
      {"permute @index.npy a.npy x.npy --plan-cache broken.plan", 6, "broken.plan"},
      {"permute @index.npy a.npy x.npy --plan-cache short.plan", 6, "short.plan"},
      {"permute @index.npy a.npy x.npy --plan-cache empty.plan", 6, "empty.plan"},
      {"permute @index.npy a.npy x.npy --plan-cache a.npy", 2, "same file as IN"},
      {"permute @index.npy a.npy x.npy --plan-cache ./x.npy", 2, "same file as OUT"},
      {"permute @index.npy a.npy x.npy --plan-cache index.npy", 6, "index.npy"},
      {"permute @index.npy a.npy x.npy --plan-cache missing/p.plan", 6, "missing"},
      {"permute @index.npy a.npy x.npy --plan-cache p.plan --method direct", 2,
       "which holds method partition"},
      {"permute @index.npy a.npy index.npy", 2, "which the permutation is read from"},
      {"permute 'roll(1000, 1)' a.npy x.npy --plan-cache q.plan", 2, "--plan-cache with roll(1000, 1)"}};
  for (const Refused& c : table) expect_refused(c.arguments, c.status, c.part);
}

// A plan file whose fingerprint was made to fit: its entries are compared, and the plan is blamed for them.
TEST_F(IndexCli, BlamesAForgedPlan) {
  using namespace faro;
  const auto array = [&](const std::string& name) {
    return std::get<Indexed>(parse_permutation("@" + (directory_ / name).string()));
  };
  schedule::IndexSchedule forged = schedule::direct_schedule(array("other.npy"));
  forged.fingerprint = schedule::fingerprint(array("index.npy"));
  schedule::save(forged, directory_ / "forged.plan");
  for (const std::string more : {" --verify", "", " --gather"}) {
    const Result result = run("permute @index.npy a.npy x.npy --plan-cache forged.plan" + more);
    EXPECT_EQ(result.status, 5) << result.err;
    EXPECT_NE(result.err.find("the plan in `forged.plan` is not this permutation's"), std::string::npos)
        << result.err;
    EXPECT_EQ(result.err.find("bug in faro"), std::string::npos) << result.err;
    EXPECT_FALSE(fs::exists(directory_ / "x.npy"));
  }
}

TEST_F(IndexCli, NamesTheDirection) {
  EXPECT_EQ(run("permute @index.npy a.npy x.npy --gather").err.rfind("gather(@index.npy): ", 0), 0U);
  EXPECT_EQ(run("permute @index.npy a.npy x.npy --gather --inverse").err.rfind("inverse(gather(@ind", 0), 0U);
  EXPECT_EQ(run("permute @index.npy a.npy x.npy --scatter").err.rfind("@index.npy: ", 0), 0U);
  EXPECT_EQ(
      run("permute 'inverse(@index.npy)' a.npy x.npy --gather").err.rfind("inverse(@index.npy) --ga", 0), 0U);
}

TEST_F(IndexCli, AffineMapsOnAnyWidth) {
  ASSERT_EQ(run("new 32x3 f4 points.npy").status, 0);
  for (const std::string spec : {"transpose(16, 2)", "bit_reversal", "reverse(5)", "identity", "gray"}) {
    const Result result =
        run("permute '" + spec + "' points.npy p.npy --element-bytes 12 --verify --threads 2");
    EXPECT_EQ(result.status, 0) << spec << ": " << result.err;
  }
  const std::string text = run("explain 'transpose(16, 2)' --element-bytes 12").out;
  EXPECT_NE(text.find("permutation   transpose(16, 2)\n"), std::string::npos) << text;
  EXPECT_EQ(run("explain 'transpose(16, 2)' --element-bytes 12 --engine cuda --capability 9.0").status, 0);
  const Result bench = run("bench 'transpose(16, 2)' --element-bytes 12");
  EXPECT_EQ(bench.status, 0) << bench.err;
  EXPECT_NE(bench.out.find(" gather "), std::string::npos) << bench.out;
  ASSERT_EQ(run("new 0 f4 none.npy").status, 0);
  EXPECT_EQ(run("permute 'transpose(0, 3)' none.npy x.npy --verify").status, 0);
}

TEST_F(IndexCli, BenchRoundsDownToWholeArrays) {
  const auto bytes_of = [&](const std::string& arguments) {
    const Result result = run("bench " + arguments + " --json");
    EXPECT_EQ(result.status, 0) << result.err;
    return Json::parse(result.out).at("rows").at(0).at("bytes").get<std::uint64_t>();
  };
  EXPECT_EQ(bytes_of("'gray(10)' --bytes 5000"), 4096U);
  EXPECT_EQ(bytes_of("'gray(10)' --bytes 12287"), 8192U);
  EXPECT_EQ(bytes_of("gray --bytes 100000"), 65536U);
  EXPECT_EQ(bytes_of("@index.npy --bytes 40003"), 40000U);
  EXPECT_EQ(bytes_of("'transpose(30, 50)' --element-bytes 3 --bytes 10000"), 9000U);
}

TEST_F(IndexCli, RefusesInOneLine) {
  const std::vector<Refused> table{
      {"permute @twice.npy four.npy x.npy", 2, "entry 2 is 2"},
      {"permute @past.npy four.npy x.npy", 2, "entry 2 is 4"},
      {"permute @minus.npy four.npy x.npy", 2, "entry 2 is -1"},
      {"permute @float.npy four.npy x.npy", 2, "float.npy"},
      {"permute @missing.npy four.npy x.npy", 6, "missing.npy"},
      {"permute @index.npy ten.npy x.npy", 2, "1000"},
      {"permute @good8.npy ten.npy x.npy", 2, "4"},
      {"permute @index.npy a.npy x.npy --gather --scatter", 2, "one of them"},
      {"permute 'roll(1000, 1)' a.npy x.npy --gather", 2, "@index.npy"},
      {"permute @index.npy a.npy x.npy --method partitoin", 2, "did you mean `partition`?"},
      {"permute @index.npy a.npy x.npy --method axes", 3, "method axes"},
      {"permute @index.npy a.npy x.npy --method runs", 3, "method runs"},
      {"permute @index.npy a.npy x.npy --chunk-bits 17", 2, "--chunk-bits"},
      {"permute @index.npy a.npy x.npy --chunk-bits 4 --levels 1", 2, "wanted"},
      {"permute @index.npy a.npy x.npy --levels 3,,2", 2, "--levels"},
      {"permute @index.npy a.npy x.npy --method direct --chunk-bits 4", 2, "method partition"},
      {"permute gray four.npy x.npy --method direct", 3, "a method for gray,"},
      {"permute @index.npy a.npy x.npy --tile 1,2,3,4", 2, "tile"},
      {"permute @index.npy a.npy x.npy --map v", 3, "wanted an affine map"},
      {"permute 'roll(1000, 1)' a.npy x.npy --map v", 3, "wanted an affine map"},
      {"permute @index.npy a.npy x.npy --plan-cache ''", 2, "--plan-cache: an empty value"},
      {"explain @twice.npy", 2, "entry 2 is 2"},
      {"explain @index.npy --svg x.svg", 3, "affine"},
      {"explain @index.npy --element-bytes 5000", 2, "4096"},
      {"explain @index.npy --repeats 0", 2, "--repeats"},
      {"explain @index.npy --repeats many", 2, "--repeats"},
      {"permute @index.npy a.npy x.npy --repeats 2", 2, "--repeats"},
      {"bench @past.npy", 2, "entry 2 is 4"},
      {"bench @index.npy --bytes 3999", 2, "at least one array"},
      {"tune --engine gpu", 2, "auto, cpu or cuda"},
      {"tune --device 0", 2, "--engine cuda"},
      {"tune --engine cuda --device 99", 4, "faro: "},
      {"tune extra", 2, "`extra`"},
      {"tunee", 2, "did you mean `tune`?"}};
  for (const Refused& c : table) expect_refused(c.arguments, c.status, c.part);
}

TEST_F(IndexCli, ExplainsWhatItSaw) {
  const std::string general = run("explain @other.npy --element-bytes 12").out;
  for (const std::string part : {"permutation   ", "recognised    ", "  affine      no: ",
                                 "12 bytes wide, moved as 3 units of 4 bytes", "method        ",
                                 "candidates    ", "partition, chunks", ": taken", " times as long"}) {
    EXPECT_NE(general.find(part), std::string::npos) << part << "\n" << general;
  }
  EXPECT_NE(run("explain @rolled.npy").out.find("recognised    cyclic"), std::string::npos);
  EXPECT_NE(run("explain @rolled.npy --engine cuda --capability 9.0").out.find("roll(1000, 997)"),
            std::string::npos);
  const std::string gpu = run("explain 'random(70000, 1)' --engine cuda --capability 9.0 --batch 3").out;
  EXPECT_NE(gpu.find("compute capability 9.0"), std::string::npos) << gpu;
  EXPECT_NE(gpu.find("by the curves of an NVIDIA H200"), std::string::npos) << gpu;
  const std::string asked =
      run("explain 'random(70000, 1)' --engine cuda --capability 9.0 --chunk-bits 10").out;
  EXPECT_NE(asked.find("chunks of 2^10 elements"), std::string::npos) << asked;
  // One run does not pay for a schedule on a CPU, many do; permute makes one run.
  const std::string large = "'random(4194304, 1)'";
  EXPECT_NE(run("explain " + large).out.find("method        partition"), std::string::npos);
  const std::string once = run("explain " + large + " --repeats 1").out;
  EXPECT_NE(once.find("method        direct"), std::string::npos) << once;
  EXPECT_NE(once.find("chosen for    1 run"), std::string::npos) << once;
  // An affine map is explained as such.
  ASSERT_EQ(run("new 1024 u4 b.npy").status, 0);
  ASSERT_EQ(run("permute 'gray(10)' b.npy gray.npy --quiet").status, 0);
  const std::string affine = run("explain @gray.npy").out;
  EXPECT_NE(affine.find("recognised    affine"), std::string::npos) << affine;
  EXPECT_NE(affine.find("pass 1"), std::string::npos) << affine;
}

TEST_F(IndexCli, JsonHasTheDocumentedKeys) {
  ASSERT_EQ(run("new 1024 u4 b.npy").status, 0);
  ASSERT_EQ(run("permute 'gray(10)' b.npy gray.npy --quiet").status, 0);
  auto documented = documented_keys();
  const std::string section = "explain, of an index array";
  std::set<std::string> of_cpu = documented[section];
  of_cpu.merge(std::set(documented["explain, of other passes on a CPU"]));
  for (const std::string arguments :
       {"explain 'random(70000, 1)' --json", "explain @index.npy --gather --json",
        "explain @index.npy --repeats 3 --json"}) {
    SCOPED_TRACE(arguments);
    EXPECT_EQ(keys_of(arguments), leaves_of(of_cpu));
  }
  // On a GPU the passes as well, of which some are counted.
  std::set<std::string> of_gpu = leaves_of(documented[section]);
  of_gpu.merge(std::set(leaves_of(documented["explain, of other passes on a GPU"])));
  std::set<std::string> seen_of_gpu;
  for (const std::string spec :
       {"@index.npy", "'transpose(300, 700)'", "'roll(1000, 3)'", "'random(70000, 1)'"}) {
    for (const std::string& key : keys_of("explain " + spec + " --engine cuda --capability 9.0 --json")) {
      if (key != "recognition.findings" && key != "passes[].tables" && key != "passes[].predicted") {
        EXPECT_TRUE(of_gpu.contains(key)) << key;
      }
      seen_of_gpu.insert(key);
    }
  }
  for (const std::string& key : of_gpu) EXPECT_TRUE(seen_of_gpu.contains(key)) << key;
  const Json roll = Json::parse(run("explain 'roll(1000, 3)' --json").out);
  std::set<std::string> keys;
  collect_keys(roll, "", keys);
  std::set<std::string> expected = leaves_of(of_cpu);
  std::erase_if(expected, [](const std::string& key) {
    return key.starts_with("recognition.findings[]") || key.starts_with("passes[].tables[]");
  });
  expected.insert("recognition.findings");  // an empty array
  expected.insert("passes[].tables");       // likewise
  EXPECT_EQ(keys, expected);
  EXPECT_TRUE(roll.at("direction").is_null());
  EXPECT_TRUE(roll.at("recognition").at("findings").empty());

  std::set<std::string> of_affine = leaves_of(documented["explain"]);
  of_affine.merge(std::set(documented["explain, of a plan for a CPU"]));
  of_affine.merge(std::set(documented["explain, of what an index array was recognised as"]));
  std::set<std::string> seen = keys_of("explain @gray.npy --json");
  EXPECT_TRUE(seen.contains("recognition.findings[].why"));
  for (const std::string& key : seen) {
    const bool known = of_affine.contains(key) || documented["explain"].contains(key);
    EXPECT_TRUE(known) << key;
  }
  EXPECT_EQ(keys_of("permute @index.npy a.npy out.npy --json --plan-cache p.plan --quiet"),
            leaves_of(documented["permute"]));
  EXPECT_EQ(keys_of("bench @index.npy 'roll(1000, 1)' --json"), leaves_of(documented["bench"]));
}

TEST_F(IndexCli, BenchesBesideGatherAndScatter) {
  const Result result = run("bench @index.npy 'transpose(30, 50)' --element-bytes 12");
  EXPECT_EQ(result.status, 0) << result.err;
  for (const std::string part : {" faro ", " gather ", " scatter ", " copy ", "planned in"}) {
    EXPECT_NE(result.out.find(part), std::string::npos) << result.out;
  }
  EXPECT_EQ(run("bench @index.npy --gather --method partition --bytes 40000").status, 0);
}

TEST_F(IndexCli, BrokenCurvesAreNamedAndLeftOut) {
  const std::string first = run("explain 'random(70000, 1)' --engine cpu").out;
  EXPECT_NE(first.find("built in"), std::string::npos) << first;
  fs::create_directories(directory_ / "cache");
  const Json plan = Json::parse(run("explain 'random(70000, 1)' --engine cpu --json").out);
  std::string machine = plan.at("target").at("name");
  std::string file = "tune-";
  for (const char c : machine) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      file += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else if (file.back() != '-') {
      file += '-';
    }
  }
  std::ofstream(directory_ / "cache" / (file + ".json")) << "{}";
  const Result result = run("explain 'random(70000, 1)' --engine cpu");
  EXPECT_EQ(result.status, 0);
  EXPECT_NE(result.out.find("left out"), std::string::npos) << result.out;
}

}  // namespace cli_index_test

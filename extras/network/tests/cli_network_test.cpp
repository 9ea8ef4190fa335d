// `faro network` as a user meets it: what it explains, runs, verifies and refuses, and its JSON.
#include <gmock/gmock.h>

#include <algorithm>
#include <complex>
#include <cstring>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "cli_support.hpp"
#include "io/npy.hpp"

namespace cli_network_test {

using namespace faro::testing;
using ::testing::HasSubstr;

class CliNetwork : public CommandTest {
 protected:
  template <typename Value>
  void write(const std::string& name, const std::string& descr, const std::vector<std::uint64_t>& shape,
             const std::vector<Value>& values) const {
    faro::io::NpyOutput file(directory_ / name, descr, shape, sizeof(Value));
    std::memcpy(file.data().data(), values.data(), values.size() * sizeof(Value));
    file.commit();
  }

  template <typename Value>
  std::vector<Value> read(const std::string& name) const {
    const faro::io::NpyInput file(directory_ / name);
    std::vector<Value> values(file.data().size() / sizeof(Value));
    std::memcpy(values.data(), file.data().data(), file.data().size());
    return values;
  }

  Json json_of(const std::string& arguments) const {
    const Result result = run("network " + arguments + " --json");
    EXPECT_EQ(result.status, 0) << "faro network " << arguments << "\n" << result.err;
    return result.status == 0 ? Json::parse(result.out) : Json();
  }

  void expect_documented(const Json& json, const std::string& section) const {
    std::set<std::string> keys;
    collect_keys(json, "", keys);
    EXPECT_EQ(keys, leaves_of(without_empty_arrays(documented_keys()[section], json))) << section;
  }
};

std::vector<std::uint32_t> random_keys(std::size_t count) {
  std::mt19937_64 random(5);
  std::vector<std::uint32_t> keys(count);
  for (std::uint32_t& key : keys) key = static_cast<std::uint32_t>(random() % 1000);
  return keys;
}

TEST_F(CliNetwork, JsonHasTheDocumentedKeys) {
  const std::string sizes = " --tile-bits 6 --segment-bits 2";
  expect_documented(
      json_of("explain 'parm(3; parm(1; pairs(min_max))) . bmmc(gray)' --bits 10 --engine cuda" + sizes),
      "network explain");
  expect_documented(json_of("explain 'parm(3; parm(1; pairs(min_max))) . bmmc(gray)' --bits 10" + sizes),
                    "network explain");
  expect_documented(json_of("list"), "network list");
  write("keys.npy", "'<u4'", {1024}, random_keys(1024));
  Json json = json_of("run sort keys.npy out.npy --quiet --verify");
  expect_documented(json, "network run");
  EXPECT_EQ(json.at("verified"), true);
  EXPECT_EQ(json.at("layers"), 55);
  EXPECT_TRUE(json.at("device_ms").is_null());
}

TEST_F(CliNetwork, TellsBeforeAfterAndTheFewPasses) {
  const Json json = json_of("explain merge --bits 24 --tile-bits 15 --segment-bits 6");
  EXPECT_EQ(json.at("plan").at("pass_counts").at("planned"), 2);
  EXPECT_EQ(json.at("plan").at("layer_count"), 24);
  // Layer k stands in 23 - k parms 3: each literally two more passes.
  EXPECT_EQ(json.at("rewriting").at("before").at("passes"), 24 + 2 * (23 * 24 / 2));
  EXPECT_LE(json.at("rewriting").at("after").at("passes"), 2 * 24 + 1);
  const Result text = run("network explain merge --bits 24 --tile-bits 15 --segment-bits 6 --steps");
  // In JSON the steps are whole: as many as the rules have uses, and each a program.
  const Json whole = json_of("explain sort --bits 10 --steps").at("rewriting");
  std::size_t uses = 0;
  for (const Json& rule : whole.at("rules")) uses += rule.at("uses").get<std::size_t>();
  EXPECT_GT(uses, 200U);
  EXPECT_EQ(whole.at("steps").size(), uses);
  for (const Json& step : whole.at("steps")) {
    EXPECT_EQ(step.at("before").get<std::string>().find("..."), std::string::npos);
    EXPECT_EQ(step.at("after").get<std::string>().find("..."), std::string::npos);
  }
  EXPECT_EQ(json_of("explain sort --bits 10").at("rewriting").at("steps").size(), 200U);
  EXPECT_EQ(text.status, 0);
  for (const char* part : {"before", "after", "rules", "parm-to-halves", "saved"}) {
    EXPECT_THAT(text.out, HasSubstr(part));
  }
}

// Every pass of the plan is told with its kernel, its bytes and its time, on either engine.
TEST_F(CliNetwork, TellsHowEveryPassIsCarriedOut) {
  const std::string sort = "explain sort --bits 24";
  const Json on_cpu = json_of(sort + " --threads 2");
  const Json& teams = on_cpu.at("teams");
  ASSERT_EQ(teams.size(), on_cpu.at("plan").at("passes").size());
  EXPECT_TRUE(on_cpu.at("launches").empty());
  for (std::size_t i = 0; i < teams.size(); ++i) {
    EXPECT_EQ(teams[i].at("pass"), i);
    EXPECT_EQ(teams[i].at("layers"), on_cpu.at("plan").at("passes")[i].at("layer_count"));
    EXPECT_GT(teams[i].at("visits"), 0);
    EXPECT_LE(teams[i].at("visits"), teams[i].at("layers"));
    EXPECT_EQ(teams[i].at("threads"), 2);
    EXPECT_EQ(teams[i].at("tiles"), 1 << (24 - 16));
    EXPECT_EQ(teams[i].at("thread_bytes"), 4 << 16);
    EXPECT_EQ(teams[i].at("bytes_read"), std::uint64_t{4} << 24);
    EXPECT_GT(teams[i].at("least_time").at("ms"), 0);
  }
  const Result text = run("network " + sort + " --threads 2");
  for (const char* part :
       {"on a CPU 1", "visits to the buffer", "minima and maxima", "2, each by way of 256 KiB",
        "reads 64 MiB and writes as much", "ms at least, which a copy takes"}) {
    EXPECT_THAT(text.out, HasSubstr(part));
  }

  // Arrays of 1 KiB: sixteen of them are one tile, run by one thread where there are few.
  const Json small = json_of("explain sort --bits 8 --batch 40");
  EXPECT_EQ(small.at("teams").at(0).at("arrays_a_tile"), 16);
  EXPECT_EQ(small.at("teams").at(0).at("tiles"), 3);
  EXPECT_EQ(small.at("teams").at(0).at("threads"), 1);

  const Json on_gpu = json_of(sort + " --engine cuda");
  EXPECT_TRUE(on_gpu.at("teams").empty());
  ASSERT_FALSE(on_gpu.at("launches").empty());
  for (const Json& launch : on_gpu.at("launches")) {
    EXPECT_EQ(launch.at("bytes_written"), std::uint64_t{4} << 24);
    EXPECT_GT(launch.at("predicted_time").at("ms"), 0);
    EXPECT_THAT(launch.at("kernel").get<std::string>(), HasSubstr("elements in registers"));
  }
  EXPECT_THAT(run("network " + sort + " --engine cuda").out, HasSubstr("ms, by the rates of"));
}

TEST_F(CliNetwork, SortsKeysOfEveryType) {
  std::vector<std::uint32_t> keys = random_keys(4096);
  write("u4.npy", "'<u4'", {4, 1024}, keys);
  EXPECT_EQ(json_of("run sort u4.npy out.npy --verify --quiet").at("batch"), 4);
  for (int i = 0; i < 4; ++i) std::sort(keys.begin() + i * 1024, keys.begin() + (i + 1) * 1024);
  EXPECT_EQ(read<std::uint32_t>("out.npy"), keys);

  std::vector<double> reals(512);
  for (std::size_t i = 0; i < reals.size(); ++i) reals[i] = static_cast<double>(i * 37 % 101) - 50;
  write("f8.npy", "'<f8'", {512}, reals);
  json_of("run bitonic f8.npy out.npy --verify --quiet");
  std::sort(reals.begin(), reals.end());
  EXPECT_EQ(read<double>("out.npy"), reals);
}

TEST_F(CliNetwork, SortsPairsByKey) {
  const std::vector<std::uint32_t> keys = random_keys(256);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
  std::vector<std::uint32_t> flat;
  for (std::uint32_t i = 0; i < keys.size(); ++i) {
    pairs.emplace_back(keys[i], i);
    flat.insert(flat.end(), {keys[i], i});
  }
  write("pairs.npy", "'<u4'", {256, 2}, flat);
  EXPECT_EQ(json_of("run sort pairs.npy out.npy --pairs --verify --quiet").at("element"), "u32+value");
  std::sort(pairs.begin(), pairs.end());
  const std::vector<std::uint32_t> out = read<std::uint32_t>("out.npy");
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    EXPECT_EQ(out[2 * i], pairs[i].first);
    EXPECT_EQ(out[2 * i + 1], pairs[i].second);
  }
}

TEST_F(CliNetwork, TransformsAnImpulse) {
  std::vector<std::complex<float>> values(64);
  values[0] = 1;
  write("c8.npy", "'<c8'", {64}, values);
  const Json json = json_of("run fft c8.npy out.npy --verify --quiet");
  EXPECT_LE(json.at("verification").at("error"), json.at("verification").at("bound"));
  EXPECT_EQ(read<std::complex<float>>("out.npy"), std::vector<std::complex<float>>(64, 1));
  std::vector<std::int32_t> delta(32);
  delta[3] = 5;
  write("i4.npy", "'<i4'", {32}, delta);
  json_of("run wht i4.npy out.npy --verify --quiet");
  const std::vector<std::int32_t> out = read<std::int32_t>("out.npy");
  for (unsigned y = 0; y < 32; ++y) EXPECT_EQ(out[y], std::popcount(y & 3U) % 2 == 0 ? 5 : -5);
}

// A permutation is written in any form; what is affine is the map that it is.
TEST_F(CliNetwork, TakesAffineMapsInAnyForm) {
  const std::vector<std::uint32_t> keys = random_keys(16);
  write("keys.npy", "'<u4'", {16}, keys);
  write("order.npy", "'<u4'", {16},
        std::vector<std::uint32_t>{0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15});
  struct Same {
    std::string given;
    std::string map;
  };
  for (const Same& same :
       {Same{"flip(16)", "reverse"}, Same{"roll(16, 8)", "xor(4, 8)"}, Same{"flip", "reverse"},
        Same{"roll(8)", "xor(4, 8)"}, Same{"axes(4 4; 1 0)", "transpose(4, 4)"},
        Same{"axes(2 2 2 2; 3 2 1 0)", "bit_reversal"}, Same{"@order.npy", "transpose(4, 4)"}}) {
    SCOPED_TRACE(same.given);
    const std::string sorted = " . bmmc(" + same.given + ") . sort";
    const std::string wanted = " . bmmc(" + same.map + ") . sort";
    Json given = json_of("explain 'merge" + sorted + "' --bits 4");
    Json map = json_of("explain 'merge" + wanted + "' --bits 4");
    for (Json* const json : {&given, &map}) {  // all but what the map is called
      EXPECT_NE(json->at("plan").at("final_map"), nullptr);
      json->erase("text");
      json->at("rewriting").erase("steps");
      json->at("rewriting").at("before").erase("text");
      json->at("rewriting").at("after").erase("text");
      json->at("plan").erase("program");
      json->at("plan").erase("final_map");
      for (Json& pass : json->at("plan").at("passes")) pass.erase("map");
    }
    EXPECT_EQ(given, map);
    json_of("run 'merge" + sorted + "' keys.npy given.npy --verify --quiet");
    json_of("run 'merge" + wanted + "' keys.npy map.npy --verify --quiet");
    EXPECT_EQ(read<std::uint32_t>("given.npy"), read<std::uint32_t>("map.npy"));
  }
}

TEST_F(CliNetwork, SortsOneElement) {
  write("one.npy", "'<u4'", {1}, std::vector<std::uint32_t>{42});
  EXPECT_EQ(json_of("run sort one.npy out.npy --verify --quiet").at("passes"), 0);
  EXPECT_EQ(read<std::uint32_t>("out.npy"), std::vector<std::uint32_t>{42});
  write("ones.npy", "'<u4'", {3, 1}, std::vector<std::uint32_t>{3, 1, 2});
  EXPECT_EQ(run("network run sort ones.npy out.npy --verify").status, 0);
  EXPECT_EQ(read<std::uint32_t>("out.npy"), (std::vector<std::uint32_t>{3, 1, 2}));
  for (const std::string program : {"sort", "fft", "id", "bmmc(bit_reversal)", "bmmc(flip)"}) {
    EXPECT_EQ(json_of("explain '" + program + "' --bits 0").at("plan").at("passes").size(), 0U) << program;
    EXPECT_EQ(json_of("explain '" + program + "' --bits 0 --engine cuda").at("launches").size(), 0U);
  }
  EXPECT_NE(run("network explain sort --bits 0").out.find("none: one element stays where it is"),
            std::string::npos);
}

TEST_F(CliNetwork, ReportsOnStandardErrorUnlessQuiet) {
  write("keys.npy", "'<u4'", {64}, random_keys(64));
  const Result result = run("network run sort keys.npy out.npy --verify");
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, HasSubstr("sort: 2^6 u32 in 1 pass, "));
  EXPECT_THAT(result.err, HasSubstr(" GB/s, verified\n"));
  const std::string program =
      R"('each(add 5) . parm(3; pairs(step "auto t = a; a = b; b = t + p;")) . sort . each(add 5)')";
  const Result longer = run("network run " + program + " keys.npy out.npy --verify");
  EXPECT_TRUE(longer.err.starts_with("program: 2^6 u32 in 1 pass, ")) << longer.err;
  EXPECT_LE(longer.err.size(), 81U) << longer.err;
  EXPECT_EQ(run("network run sort keys.npy out.npy --quiet").err, "");
}

TEST_F(CliNetwork, DrawsTheFigures) {
  EXPECT_EQ(run("network explain merge --bits 4 --svg merge.svg").status, 0);
  EXPECT_EQ(run("network explain 'parm(6; id)' --bits 3 --svg parm.svg").status, 0);
  for (const int figure : {1, 2, 4, 5, 6, 7, 8}) {
    const std::string name = "figure" + std::to_string(figure) + ".svg";
    const Result result =
        run("explain 'bit_reversal(10)' --figure " + std::to_string(figure) + " --svg " + name);
    EXPECT_EQ(result.status, 0) << result.err;
  }
  for (const auto& [name, content] : files()) {
    if (name.ends_with(".svg")) {
      EXPECT_THAT(content, HasSubstr("</svg>")) << name;
    }
  }
  EXPECT_EQ(run("explain 'bit_reversal(10)' --figure 3 --svg x.svg").status, 2);
  EXPECT_EQ(run("explain 'bit_reversal(10)' --figure 4").status, 2);
  EXPECT_EQ(run("explain 'random_bmmc(10, 1)' --figure 4 --svg x.svg").status, 3);
  EXPECT_EQ(run("network explain sort --bits 7 --svg x.svg").status, 2);
  EXPECT_EQ(files().count("x.svg"), 0U);
}

// Functions of elements and a user's operator, from the keyboard to the file, beside a plain loop.
TEST_F(CliNetwork, RunsElementwiseFunctionsAndUsersTexts) {
  std::vector<std::uint32_t> keys = random_keys(1024);
  write("keys.npy", "'<u4'", {1024}, keys);
  const std::string program =
      R"('each(xor 0xff) . parm(1; pairs(step "if (b < a) { auto t = a; a = b; b = t; } b += p;")) . two(each(add 5))')";
  const Result result = run("network run " + program + " keys.npy out.npy --verify");
  ASSERT_EQ(result.status, 0) << result.err;
  for (std::uint32_t& key : keys) key += 5;
  for (const std::size_t side : {0U, 1U}) {
    for (std::size_t p = 0; p < 256; ++p) {
      std::uint32_t& a = keys[4 * p + side];
      std::uint32_t& b = keys[4 * p + 2 + side];
      if (b < a) std::swap(a, b);
      b += static_cast<std::uint32_t>(p);
    }
  }
  for (std::uint32_t& key : keys) key ^= 0xff;
  EXPECT_EQ(read<std::uint32_t>("out.npy"), keys);
  const Json json = json_of("explain " + program + " --bits 10");
  EXPECT_EQ(json.at("plan").at("layer_count"), 3);
  EXPECT_EQ(json.at("teams").at(0).at("kernel"), "elements one by one, pairs one by one");
  EXPECT_EQ(json_of("explain 'each(negate)' --bits 10 --engine cuda").at("launches").size(), 1U);
  const Result one = run("network explain 'each(add 5)' --bits 0");
  EXPECT_NE(one.out.find("changed where it is"), std::string::npos) << one.out;
}

// A name that was typed stays the name.
TEST_F(CliNetwork, ExplainsByTheNamesThatWereTyped) {
  const Result large = run("network explain 'pairs(min_max) . bmmc(random_bmmc(20, 1))' --bits 20 --steps");
  EXPECT_EQ(large.status, 0) << large.err;
  EXPECT_NE(large.out.find("before        pairs(min_max) . bmmc(random_bmmc(20, 1))\n"), std::string::npos)
      << large.out;
  EXPECT_EQ(large.out.find("affine("), std::string::npos) << large.out;
  const Json json = json_of("explain 'bmmc(random_bmmc(20, 1)) . bmmc(random_bmmc(20, 2))' --bits 20");
  EXPECT_EQ(json.at("rewriting").at("after").at("text"),
            "bmmc(compose(random_bmmc(20, 1), random_bmmc(20, 2)))");
  EXPECT_EQ(json_of("explain 'bmmc(random_bmmc(20, 1))' --bits 20").dump().find("affine("),
            std::string::npos);
  const Result drawn =
      run("network explain 'bmmc(random_bmmc(5, 1)) . each(not) . sort' --bits 5 --svg n.svg");
  EXPECT_EQ(drawn.status, 0) << drawn.err;
  const std::string svg = files()["n.svg"];
  EXPECT_NE(svg.find("faro network: bmmc(random_bmmc(5, 1)) . each(not) . sort"), std::string::npos);
  EXPECT_NE(svg.find("each(not) of 7"), std::string::npos);
  EXPECT_EQ(svg.find("affine("), std::string::npos);
}

TEST_F(CliNetwork, RefusesOnOneLineAndWritesNothing) {
  write("keys.npy", "'<u4'", {64}, random_keys(64));
  write("odd.npy", "'<u4'", {48}, random_keys(48));
  write("cube.npy", "'<u4'", {4, 4, 4}, random_keys(64));
  write("big.npy", "'>u4'", {64}, random_keys(64));
  const std::vector<Refused> table{
      {"explain", 2, "no program"},
      {"explain sort", 2, "--bits"},
      {"explian sort --bits 4", 2, "did you mean `explain`?"},
      {"explain srot --bits 4", 2, "did you mean `sort`?"},
      {"explain 'parm(0; id)' --bits 4", 2, "network `parm(0; id)`: got a mask of zero"},
      {"explain 'two(sort 4)' --bits 4", 2, "network `sort 4`"},
      {"explain sort --bits 4 --element c64", 2, "pairs(min_max)"},
      {"explain 'two(pairs(fourier))' --bits 4 --element f32", 2, "network `pairs(fourier)`"},
      {"explain 'f n = f n; f' --bits 4", 2, "a recursion without end"},
      {"explain sort --bits 4 --element u33", 2, "u33"},
      {"explain 'bmmc(roll(16, 3))' --bits 4", 3, "bmmc: got roll(16, 3), wanted an affine map over F2"},
      {"explain 'bmmc(axes(3 4; 1 0))' --bits 4", 3, "got axes(3 4; 1 0), wanted an affine map over F2"},
      {"explain 'bmmc(flip(16))' --bits 5", 2, "a map of 2^4 elements"},
      {"explain sort --bits 41", 2, "--bits"},
      {"explain sort --bits 4 --verify", 2, "network run"},
      {"explain sort --bits 10 --tile-bits 2 --segment-bits 3", 2, ""},
      {"explain @missing.txt --bits 3", 6, "missing.txt"},
      {"list more", 2, "nothing after"},
      {"run sort keys.npy", 2, "too few"},
      {"run sort keys.npy keys.npy", 2, "the same file"},
      {"run sort missing.npy out.npy", 6, "missing.npy"},
      {"run sort keys.npy o.bin", 2, "a name that ends in .npy"},
      {"run sort odd.npy out.npy", 2, "shape 48"},
      {"run sort cube.npy out.npy", 2, "shape 4x4x4"},
      {"run sort big.npy out.npy", 2, ">u4"},
      {"run sort keys.npy out.npy --pairs", 2, "--pairs"},
      {"run fft keys.npy out.npy", 2, "network `pairs(fourier)`"},
      {"run sort keys.npy out.npy --bits 6", 2, "--bits"},
      {"run 'pairs(own \"for (;;) a = b;\")' keys.npy out.npy --engine cpu", 3, "pairs(own) on engine cpu"},
      {"run 'pairs(own \"a = a / (b - b);\")' keys.npy out.npy --engine cpu", 2, "a division by zero"},
      {"run 'each(ad 5)' keys.npy out.npy", 2, "did you mean `add`?"},
      {"run 'each(add 0.5)' keys.npy out.npy", 2, "wanted one that u32 can hold"},
      {"run 'each(conjugate)' keys.npy out.npy", 2, "each(conjugate): got elements of type u32"},
      {"run 'pairs(negate)' keys.npy out.npy", 2, "pairs(negate)"},
  };
  for (const Refused& c : table) expect_refused("network " + c.arguments, c.status, c.part);
}

}  // namespace cli_network_test

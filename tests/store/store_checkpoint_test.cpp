// Checkpoints changed by rules, against the same done to arrays in memory by the obvious loops.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "faro/checkpoint.hpp"
#include "faro/error.hpp"
#include "io/file_system.hpp"
#include "refusal.hpp"
#include "store/checkpoint_files.hpp"
#include "store/checkpoint_rules.hpp"
#include "store/name_pattern.hpp"
#include "store/safetensors.hpp"
#include "store/store_formats.hpp"
#include "store/toml.hpp"

namespace faro {
namespace store_checkpoint_test {

namespace fs = std::filesystem;
using store::Shape;
using ::testing::HasSubstr;

// An array of numbers of two bytes.
struct Array {
  Shape shape;
  std::vector<std::uint16_t> values;

  friend bool operator==(const Array&, const Array&) = default;

  std::uint16_t at(const Shape& index) const {
    std::uint64_t place = 0;
    for (std::size_t a = 0; a < shape.size(); ++a) place = place * shape[a] + index[a];
    return values[place];
  }
};

// The array of this shape whose elements are get(index).
template <typename Get>
Array array_of(const Shape& shape, const Get& get) {
  Array made{shape, {}};
  if (store::is_empty(shape)) return made;
  Shape index(shape.size(), 0);
  do {
    made.values.push_back(get(index));
  } while (store::advance(index, shape));
  return made;
}

Array drawn_array(const Shape& shape, std::mt19937_64& random) {
  return array_of(shape, [&](const Shape&) { return static_cast<std::uint16_t>(random()); });
}

Array transposed(const Array& from, const std::vector<int>& order) {
  Shape shape;
  for (const int axis : order) shape.push_back(from.shape[static_cast<std::size_t>(axis)]);
  return array_of(shape, [&](const Shape& index) {
    Shape source(index.size());
    for (std::size_t a = 0; a < index.size(); ++a) source[static_cast<std::size_t>(order[a])] = index[a];
    return from.at(source);
  });
}

Array sliced(const Array& from, std::size_t axis, std::uint64_t begin, std::uint64_t extent) {
  Shape shape = from.shape;
  shape[axis] = extent;
  return array_of(shape, [&](Shape index) {
    index[axis] += begin;
    return from.at(index);
  });
}

Array joined(const std::vector<Array>& parts, std::size_t axis) {
  Shape shape = parts.front().shape;
  shape[axis] = 0;
  for (const Array& part : parts) shape[axis] += part.shape[axis];
  return array_of(shape, [&](Shape index) {
    std::size_t part = 0;
    for (; index[axis] >= parts[part].shape[axis]; ++part) index[axis] -= parts[part].shape[axis];
    return parts[part].at(index);
  });
}

// w.reshape(heads, 2, rows / heads / 2, rest).swapaxes(1, 2): from halves to pairs side by side.
Array interleaved(const Array& from, std::uint64_t heads) {
  const std::uint64_t half = from.shape[0] / heads / 2;
  return array_of(from.shape, [&](Shape index) {
    const std::uint64_t head = index[0] / (2 * half);
    const std::uint64_t within = index[0] % (2 * half);
    index[0] = head * 2 * half + within % 2 * half + within / 2;
    return from.at(index);
  });
}

using Tensors = std::map<std::string, Array>;

class Checkpoints : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "faro-checkpoints-XXXXXX").string();
    folder_ = mkdtemp(name.data());
    io::set_sync(false);
  }
  void TearDown() override {
    io::set_sync(true);
    fs::remove_all(folder_);
  }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name), std::ios::binary) << text;
  }

  void write_file(const std::string& name, const Tensors& tensors,
                  const store::Json& metadata = store::Json::object()) const {
    std::vector<store::SafeTensor> all;
    std::string data;
    for (const auto& [key, array] : tensors) {
      all.push_back({.name = key, .shape = array.shape, .type = store::known_element_type("uint16")});
      data.append(reinterpret_cast<const char*>(array.values.data()), array.values.size() * 2);
    }
    const store::Bytes header = store::safetensors_header(all, metadata, 8);
    write(name, std::string(reinterpret_cast<const char*>(header.data()), header.size()) + data);
  }

  Tensors read(const std::string& name) const {
    Tensors read;
    const store::CheckpointFiles files = store::open_checkpoint(path(name));
    for (const store::CheckpointTensor& tensor : files.tensors) {
      Array array{tensor.shape, std::vector<std::uint16_t>(store::volume(tensor.shape))};
      std::ifstream file(files.files[tensor.file], std::ios::binary);
      file.seekg(static_cast<std::streamoff>(tensor.offset));
      file.read(reinterpret_cast<char*>(array.values.data()),
                static_cast<std::streamsize>(array.values.size() * 2));
      read.emplace(tensor.name, std::move(array));
    }
    return read;
  }

  std::vector<std::string> entries() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_))
      names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
  }

  // The report of what is refused; nothing is left of it.
  ErrorReport refused(const std::string& rules, const std::string& in = "in.safetensors",
                      const std::string& out = "out.safetensors",
                      const checkpoint::Options& options = {}) const {
    const std::vector<std::string> before = entries();
    const ErrorReport report =
        test::report_of([&] { static_cast<void>(checkpoint::run(rules, path(in), path(out), options)); });
    EXPECT_EQ(entries(), before) << rules;
    return report;
  }

  checkpoint::Report change(const std::string& rules, const std::string& out = "out.safetensors",
                            std::uint64_t memory_bytes = 4096) const {
    const checkpoint::Report report = checkpoint::run(rules, path("in.safetensors"), path(out),
                                                      {.memory_bytes = memory_bytes, .verify = true});
    EXPECT_TRUE(report.finished && report.verified);
    return report;
  }

  fs::path folder_;
};

TEST(NamePattern, CapturesWhatItSays) {
  const auto matched = [](const std::string& pattern, const std::string& name,
                          const std::string& made) -> std::string {
    const auto captures = store::NamePattern(pattern, "test").match(name);
    return captures ? store::filled(made, *captures) : "-";
  };
  EXPECT_EQ(matched("a.{x}.b", "a.17.b", "{x}|{x}"), "17|17");
  EXPECT_EQ(matched("a.{x}.b", "a.1.7.b", "{x}"), "-");
  EXPECT_EQ(matched("a.{x*}.b", "a.1.7.b", "{x}"), "1.7");
  EXPECT_EQ(matched("a.{x*}.b", "a..b", "{x}"), "-");
  EXPECT_EQ(matched("{x*}.{y}", "a.b.c", "{x}|{y}"), "a.b|c");
  EXPECT_EQ(matched("{x*}{y*}", "abc", "{x}|{y}"), "ab|c");
  EXPECT_EQ(matched("{x}{y}", "a", "{x}"), "-");
  EXPECT_EQ(matched("abc", "abc", "n"), "n");
  EXPECT_EQ(matched("abc", "abcd", "n"), "-");
  // Places that failed are not tried again.
  std::string many;
  for (int i = 0; i < 30; ++i) many += fmt::format("{{a{}*}}b", i);
  EXPECT_EQ(matched(many + "c", std::string(2000, 'b'), ""), "-");
}

TEST_F(Checkpoints, WhatNoRuleMatchesIsCopiedIntoShardsWithAnIndex) {
  std::mt19937_64 random(1);
  Tensors tensors;
  for (int i = 0; i < 9; ++i)
    tensors.emplace(fmt::format("t.{}", i), drawn_array({static_cast<std::uint64_t>(i), 50}, random));
  tensors.emplace("scalar", drawn_array({}, random));
  write_file("in.safetensors", tensors, {{"format", "pt"}});
  const checkpoint::Report report =
      checkpoint::run(R"j({"rules": [], "metadata": {"by": "me"}})j", path("in.safetensors"), path("out/"),
                      {.memory_bytes = 1000, .shard_bytes = 1500, .verify = true});
  EXPECT_GT(report.facts.files.size(), 2U);
  EXPECT_EQ(read("out"), tensors);
  EXPECT_EQ(read("out/model.safetensors.index.json"), tensors);
  for (const std::string& file : report.facts.files) {
    EXPECT_EQ(store::safetensors_metadata(path("out/" + file)),
              (store::Json{{"format", "pt"}, {"by", "me"}}));
    EXPECT_LE(fs::file_size(path("out/" + file)), 1500U + 4096U);
  }
  // And back to one file.
  checkpoint::run(R"j({"rules": []})j", path("out"), path("back.safetensors"), {.memory_bytes = 1000});
  EXPECT_EQ(read("back.safetensors"), tensors);
  EXPECT_EQ(entries(), (std::vector<std::string>{"back.safetensors", "in.safetensors", "out"}));
}

TEST_F(Checkpoints, SplitsTransposesAndJoinsAlongAnyAxis) {
  std::mt19937_64 random(2);
  for (int round = 0; round < 40; ++round) {
    SCOPED_TRACE(fmt::format("round {}", round));
    const std::size_t rank = 1 + random() % 4;
    Shape shape(rank);
    for (std::uint64_t& extent : shape) extent = 1 + random() % 9;
    const std::size_t axis = random() % rank;
    const std::uint64_t first = 1 + random() % 7;
    const std::uint64_t second = 1 + random() % 7;
    shape[axis] = first + second;
    const Array whole = drawn_array(shape, random);
    std::vector<int> order(rank);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    write_file("in.safetensors", {{"m.w", whole}});
    const std::string map = fmt::format(R"j("map": "axes({})")j", fmt::join(order, " "));
    change(fmt::format(R"j({{"rules": [{{"match": "{{p}}.w", {}, "split": {{"axis": {}, "into": [
             {{"name": "{{p}}.a", "size": {}}}, {{"name": "{{p}}.b", "size": {}}}]}}}}]}})j",
                       map, axis, first, second),
           "parts.safetensors");
    const Array a = transposed(sliced(whole, axis, 0, first), order);
    const Array b = transposed(sliced(whole, axis, first, second), order);
    EXPECT_EQ(read("parts.safetensors"), (Tensors{{"m.a", a}, {"m.b", b}}));
    // Back: each part turned, then joined.
    std::vector<int> back(rank);
    for (std::size_t i = 0; i < rank; ++i) back[static_cast<std::size_t>(order[i])] = static_cast<int>(i);
    const std::string rules =
        fmt::format(R"j({{"rules": [{{"join": ["{{p}}.a", "{{p}}.b"], "map": "axes({})", "axis": {},
                       "name": "{{p}}.w"}}]}})j",
                    fmt::join(back, " "), axis);
    checkpoint::run(rules, path("parts.safetensors"), path("back.safetensors"),
                    {.memory_bytes = 300, .verify = true});
    EXPECT_EQ(read("back.safetensors"), (Tensors{{"m.w", whole}}));
  }
}

TEST_F(Checkpoints, TakesPartsOutOfTheMiddleOfHeads) {
  std::mt19937_64 random(3);
  const Array fused = drawn_array({5 * 3 * 4, 6}, random);  // heads, q k v, rows of a head
  write_file("in.safetensors", {{"qkv", fused}});
  change(R"j({"rules": [{"match": "qkv", "reshape": [5, 3, 4, -1], "split": {"axis": 1, "into": [
            {"name": "q", "shape": [20, -1]}, {"name": "k", "shape": [20, -1]}, {"name": "v", "shape": [20, 6]}]}}]})j");
  const Tensors parts = read("out.safetensors");
  for (std::uint64_t part = 0; part < 3; ++part) {
    const Array want = array_of({20, 6}, [&](const Shape& index) {
      return fused.at({index[0] / 4 * 12 + part * 4 + index[0] % 4, index[1]});
    });
    EXPECT_EQ(parts.at(std::string(1, "qkv"[part])), want);
  }
  checkpoint::run(
      R"j({"rules": [{"join": ["q", "k", "v"], "reshape": [5, 1, 4, 6], "axis": 1, "shape": [-1, 6],
                      "name": "qkv"}]})j",
      path("out.safetensors"), path("back.safetensors"), {.verify = true});
  EXPECT_EQ(read("back.safetensors"), (Tensors{{"qkv", fused}}));
}

TEST_F(Checkpoints, PermutesHeadsForRotaryEmbeddings) {
  std::mt19937_64 random(4);
  const Tensors tensors{{"q", drawn_array({48, 10}, random)}, {"bias", drawn_array({48}, random)}};
  write_file("in.safetensors", tensors);
  change(R"j({"rules": [{"match": "{n}", "rotary": {"heads": 3, "to": "interleaved"}}]})j");
  const Tensors turned = read("out.safetensors");
  EXPECT_EQ(turned,
            (Tensors{{"q", interleaved(tensors.at("q"), 3)}, {"bias", interleaved(tensors.at("bias"), 3)}}));
  checkpoint::run(R"j({"rules": [{"match": "{n}", "rotary": {"heads": 3, "to": "halves"}}]})j",
                  path("out.safetensors"), path("back.safetensors"), {.memory_bytes = 600, .verify = true});
  EXPECT_EQ(read("back.safetensors"), tensors);
  // The first 6 rows alone of each head of 16.
  change(R"j({"rules": [{"match": "q", "rotary": {"heads": 3, "to": "interleaved", "dims": 6}}]})j",
         "some.safetensors");
  std::vector<Array> heads;
  for (std::uint64_t head = 0; head < 3; ++head) {
    heads.push_back(interleaved(sliced(tensors.at("q"), 0, head * 16, 6), 1));
    heads.push_back(sliced(tensors.at("q"), 0, head * 16 + 6, 10));
  }
  EXPECT_EQ(read("some.safetensors").at("q"), joined(heads, 0));
}

TEST_F(Checkpoints, TakeAnyMap) {
  std::mt19937_64 random(5);
  const Array square = drawn_array({64, 64}, random);
  const Array odd = drawn_array({35, 11}, random);
  write_file("in.safetensors", {{"square", square}, {"odd", odd}});
  change(R"j({"rules": [{"match": "square", "map": "bit_reversal"}, {"match": "odd", "map": "flip"}]})j",
         "out.safetensors", 3000);
  const Tensors turned = read("out.safetensors");
  for (std::uint64_t x = 0; x < 4096; ++x) {
    std::uint64_t to = 0;
    for (int bit = 0; bit < 12; ++bit) to |= (x >> bit & 1) << (11 - bit);
    ASSERT_EQ(turned.at("square").values[to], square.values[x]);
  }
  EXPECT_TRUE(std::equal(odd.values.rbegin(), odd.values.rend(), turned.at("odd").values.begin()));
  change(
      R"j({"rules": [{"match": "odd", "map": "strided(35 4; 11 3; 4 1)"}, {"match": "square", "drop": true}]})j",
      "view.safetensors");
  EXPECT_EQ(read("view.safetensors"), (Tensors{{"odd", array_of({35, 4}, [&](const Shape& index) {
                                                  return odd.at({index[0], 3 * index[1]});
                                                })}}));
}

TEST_F(Checkpoints, LaterRulesOverrideAndTypesFilter) {
  std::mt19937_64 random(6);
  const Array a = drawn_array({4, 6}, random);
  write_file("in.safetensors", {{"a", a}, {"b", a}});
  const checkpoint::Report report = change(
      R"j({"rules": [{"match": "{n}", "map": "transpose", "name": "{n}.t"}, {"match": "b", "name": "c"},
                    {"match": ["a", "b"], "from": ["floats", "uint16"], "reshape": [8, 3]}]})j");
  EXPECT_EQ(report.facts.rules[1].matched, 1U);
  const Array want = transposed({{8, 3}, a.values}, {1, 0});
  EXPECT_EQ(read("out.safetensors"), (Tensors{{"a.t", want}, {"c", want}}));
  EXPECT_THAT(refused(R"j({"rules": [{"match": "{n}", "from": "floats"}]})j").got,
              HasSubstr("match no tensor"));
}

TEST_F(Checkpoints, RulesThatCannotBeAreRefusedInOneLine) {
  std::mt19937_64 random(7);
  write_file("in.safetensors", {{"a", drawn_array({6, 4}, random)}, {"b", drawn_array({6, 4}, random)}});
  const std::vector<std::string> malformed{"",
                                           "[]",
                                           "{",
                                           R"j({"rules": 1})j",
                                           R"j({"rule": []})j",
                                           std::string(100000, '['),
                                           R"j({"rules": [], "rules": []})j"};
  for (const std::string& rules : malformed) {
    const ErrorCode code = refused(rules).code;
    EXPECT_TRUE(code == ErrorCode::file || code == ErrorCode::value) << rules.substr(0, 60);
  }
  const std::vector<std::string> impossible{
      R"j({"match": "c"})j",
      R"j({"match": "a", "name": "b"})j",
      R"j({"match": "{x}", "name": "same"})j",
      R"j({"match": "{x", "name": "c"})j",
      R"j({"match": "{x}", "name": "{y}"})j",
      R"j({"match": "{x}{x}"})j",
      R"j({"match": "a", "name": ""})j",
      R"j({"match": "a", "name": "__metadata__"})j",
      R"j({"match": "a", "name": "c", "drop": true})j",
      R"j({"match": "a", "mapp": "transpose"})j",
      R"j({"match": "a", "map": "transpose", "rotary": {"heads": 1, "to": "halves"}})j",
      R"j({"match": "a", "map": "transpose(3, 4)"})j",
      R"j({"match": "a", "map": "axes(0 1 2)"})j",
      R"j({"match": "a", "map": "nonsense"})j",
      R"j({"match": "a", "map": "strided(7 4; 4 1; 4 1)"})j",
      R"j({"match": "a", "map": "strided(6 4; 4 1; 8 1)"})j",
      R"j({"match": "a", "rotary": {"heads": 4, "to": "halves"}})j",
      R"j({"match": "a", "rotary": {"heads": 2, "to": "halves"}})j",
      R"j({"match": "a", "rotary": {"heads": 0, "to": "halves"}})j",
      R"j({"match": "a", "rotary": {"heads": 3, "to": "thirds"}})j",
      R"j({"match": "a", "rotary": {"heads": 1, "to": "halves", "dims": 8}})j",
      R"j({"match": "a", "reshape": [5, -1]})j",
      R"j({"match": "a", "reshape": [-1, -1]})j",
      R"j({"match": "a", "reshape": [-2]})j",
      R"j({"match": "a", "shape": [4611686018427387904, 16]})j",
      R"j({"match": "a", "dtype": "float31"})j",
      R"j({"match": "a", "dtype": "S4"})j",
      R"j({"match": "a", "dtype": "complex128"})j",
      R"j({"match": "a", "scale": "2"})j",
      R"j({"match": "a", "scale": [1, 2]})j",
      R"j({"match": "a", "scale": [1, 2], "along": 0})j",
      R"j({"match": "a", "scale": [1, 2], "along": 2})j",
      R"j({"match": "a", "from": "floats64"})j",
      R"j({"match": "a", "split": {"into": []}})j",
      R"j({"match": "a", "split": {"axis": 2, "into": [{"name": "c"}]}})j",
      R"j({"match": "a", "split": {"into": [{"name": "c", "size": 5}, {"name": "d", "size": 2}]}})j",
      R"j({"match": "a", "split": {"into": [{"name": "c", "size": 5}, {"name": "d"}]}})j",
      R"j({"match": "a", "split": {"into": [{"name": "c"}, {"name": "d"}, {"name": "e"}, {"name": "f"}]}})j",
      R"j({"match": "a", "split": {"into": [{"name": "c"}, {"name": "c"}]}})j",
      R"j({"join": ["a", "b"]})j",
      R"j({"join": ["a", "c"], "name": "d"})j",
      R"j({"join": ["a", "{x}"], "name": "d"})j",
      R"j({"join": ["a", "b"], "name": "d", "axis": 2})j",
      R"j({"join": ["a", "b"], "name": "d"}, {"match": "b", "map": "transpose"})j",
      R"j({"join": ["a", "b"], "name": "d"}, {"match": "b", "dtype": "int8"})j",
      R"j({"join": ["a", "b"], "name": "d", "shape": [5, 5]})j",
      R"j({"name": "c"})j"};
  for (const std::string& rule : impossible) {
    const ErrorCode code = refused(R"j({"rules": [)j" + rule + "]}").code;
    EXPECT_TRUE(code == ErrorCode::value || code == ErrorCode::unsupported || code == ErrorCode::spec)
        << rule;
  }
  const std::string none = R"j({"rules": []})j";
  EXPECT_EQ(refused(none, "in.safetensors", "in.safetensors").code, ErrorCode::value);
  EXPECT_EQ(refused(none, "none", "out").code, ErrorCode::file);
  EXPECT_EQ(refused(none, "in.safetensors", "missing/out").code, ErrorCode::file);
  EXPECT_EQ(refused(none, "in.safetensors", "out.safetensors", {.shard_bytes = 10}).code, ErrorCode::value);
  EXPECT_EQ(refused(none, "in.safetensors", "out", {.memory_bytes = 5}).code, ErrorCode::value);
  fs::create_directory(path("full"));
  write("full/file", "");
  EXPECT_EQ(refused(none, "in.safetensors", "full").code, ErrorCode::file);
  EXPECT_EQ(refused(none, "full").code, ErrorCode::file);
}

TEST(CheckpointToml, SaysWhatJsonSays) {
  const std::string toml = R"(
[metadata]
format = "pt"
old = false
words = "ü\"ü"  # "ö
[[rules]]   # the first
match = ["h.{i}.w", 'x\y']
reshape = [32, -1]
scale = 0.5
[[rules]]
match = "h.{i}.qkv"
split = {axis = 0, into = [{name = "q.{i}", size = 2}, {name = "k.{i}", size = 0x10}]}
[[rules]]
match = "h.{i}.k"
rotary.heads = 4
rotary.to = "halves"
)";
  store::Json json;
  try {
    json = store::json_of_toml(toml, "test");
  } catch (const Error& error) {
    if (error.code() == ErrorCode::unsupported) GTEST_SKIP() << error.what();
    throw;
  }
  EXPECT_EQ(nlohmann::json(json),
            nlohmann::json::parse(R"({"metadata": {"format": "pt", "old": false, "words": "ü\"ü"}, "rules": [
    {"match": ["h.{i}.w", "x\\y"], "reshape": [32, -1], "scale": 0.5},
    {"match": "h.{i}.qkv", "split": {"axis": 0, "into": [{"name": "q.{i}", "size": 2}, {"name": "k.{i}", "size": 16}]}},
    {"match": "h.{i}.k", "rotary": {"heads": 4, "to": "halves"}}]})"));
  const store::Rules rules = store::parse_rules(toml);
  EXPECT_EQ(rules.rules.size(), 3U);
  EXPECT_EQ(rules.metadata.at("old"), std::nullopt);
  EXPECT_EQ(rules.rules[2].change.layout->rotary->heads, 4U);
}

TEST(CheckpointToml, IsRefusedInOneLineThatNamesItsLine) {
  std::string deep = "a";
  for (int level = 0; level < 100'000; ++level) deep += ".a";
  for (const auto& [text, wanted] : std::map<std::string, std::string>{
           {"rules = ", "in line 1"},
           {"[[rules]]\nmatch = 2020-01-01", "a date or a time in line 2"},
           {"[[rules]]\nmatch = 'a'\nmatch = 'b'", "in line 3"},
           {"x = nan", "not finite"},
           {deep + " = 1", "more than 64 dots"},
           {"x = " + std::string(100'000, '['), "in line 1"},
           {"rules = 3", "no list `rules`"},
           {"x = 'a'\n\xe4\xb8\xad = 1", "beyond ASCII outside of texts in line 2"},
           {"x = \"\"\"a\"\"\"\" \xe4\xb8\xad", "beyond ASCII"},
           {"x = \"\"\"a\\\n \xe4\xb8\xad\"\"\"", "beyond ASCII"},
           {"[[rules]]\nmatsch = 'a'", "did you mean `match`"}}) {
    try {
      static_cast<void>(store::parse_rules(text));
      ADD_FAILURE() << text.substr(0, 80);
    } catch (const Error& error) {
      const std::string told = error.what();
      EXPECT_EQ(told.find('\n'), std::string::npos) << told;
      if (error.code() != ErrorCode::unsupported) {
        EXPECT_THAT(told, HasSubstr(wanted));
      }
    }
  }
}

TEST_F(Checkpoints, IndicesThatLieAreRefused) {
  std::mt19937_64 random(8);
  fs::create_directory(path("in"));
  write_file("in/x.safetensors", {{"a", drawn_array({6}, random)}});
  const auto refused_index = [&](const std::string& text) {
    write("in/model.safetensors.index.json", text);
    return refused(R"j({"rules": []})j", "in", "out").code == ErrorCode::file;
  };
  EXPECT_TRUE(refused_index("{}"));
  EXPECT_TRUE(refused_index(R"j({"weight_map": []})j"));
  EXPECT_TRUE(refused_index(R"j({"weight_map": {"a": 1}})j"));
  EXPECT_TRUE(refused_index(R"j({"weight_map": {"a": "../in/x.safetensors"}})j"));
  EXPECT_TRUE(refused_index(R"j({"weight_map": {"a": ".."}})j"));
  EXPECT_TRUE(refused_index(R"j({"weight_map": {"a": "y.safetensors"}})j"));
  EXPECT_TRUE(refused_index(R"j({"weight_map": {"b": "x.safetensors"}})j"));
  EXPECT_TRUE(refused_index(R"j({"weight_map": {"a": "x.safetensors", "b": "x.safetensors"}})j"));
  write("in/model.safetensors.index.json", R"j({"weight_map": {"a": "x.safetensors"}})j");
  checkpoint::run(R"j({"rules": []})j", path("in"), path("out"));
  EXPECT_EQ(read("out"), read("in"));
}

// Ended at every moment, and gone on with.
TEST_F(Checkpoints, GoOnWhereTheyWereEnded) {
  std::mt19937_64 random(9);
  Tensors tensors;
  for (int i = 0; i < 6; ++i)
    tensors.emplace(fmt::format("t{}", i), drawn_array({37, 20 + random() % 20}, random));
  write_file("in.safetensors", tensors);
  const std::string rules =
      R"j({"rules": [{"match": "{n}", "map": "transpose"}, {"join": ["t1", "t0"], "axis": -1, "reshape": [-1, 1], "name": "j"}]})j";
  checkpoint::Options options{
      .memory_bytes = 1500, .shard_bytes = 6000, .verify = true, .checkpoint_seconds = 0};
  checkpoint::run(rules, path("in.safetensors"), path("whole"), options);
  const Tensors whole = read("whole");
  std::uint64_t resumed = 0;
  for (std::uint64_t moment = 1; moment < 25; ++moment) {
    SCOPED_TRACE(fmt::format("ended at moment {}", moment));
    std::uint64_t asked = 0;
    options.resume = false;
    options.cancelled = [&] { return ++asked > moment * 8; };
    const checkpoint::Report first = checkpoint::run(rules, path("in.safetensors"), path("out"), options);
    options.cancelled = {};
    if (!first.finished) {
      EXPECT_FALSE(fs::exists(path("out")));
      options.resume = true;
      const checkpoint::Report second = checkpoint::run(rules, path("in.safetensors"), path("out"), options);
      EXPECT_TRUE(second.finished && second.verified);
      resumed += second.resumed_tiles;
    }
    EXPECT_EQ(read("out"), whole);
    fs::remove_all(path("out"));
    EXPECT_EQ(entries(), (std::vector<std::string>{"in.safetensors", "whole"}));
  }
  EXPECT_GT(resumed, 0U);

  // Other rules, or a changed input, are not gone on with.
  std::uint64_t asked = 0;
  options.resume = false;
  options.cancelled = [&] { return ++asked > 20; };
  EXPECT_FALSE(checkpoint::run(rules, path("in.safetensors"), path("out"), options).finished);
  options = {.memory_bytes = 1500, .shard_bytes = 6000, .resume = true};
  EXPECT_EQ(refused(R"j({"rules": []})j", "in.safetensors", "out", options).code, ErrorCode::file);
  write_file("in.safetensors", tensors);
  EXPECT_EQ(refused(rules, "in.safetensors", "out", options).code, ErrorCode::file);
  options.resume = false;
  checkpoint::run(rules, path("in.safetensors"), path("out"), options);
  EXPECT_EQ(read("out"), whole);
  EXPECT_EQ(entries(), (std::vector<std::string>{"in.safetensors", "out", "whole"}));
}

}  // namespace store_checkpoint_test
}  // namespace faro

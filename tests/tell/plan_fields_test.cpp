// What explain says of every pass, whatever the permutation, the engine and the placement: its kernel, its
// launch or its threads, what it was counted to move, and its predicted time; that these numbers agree with
// the arrays and with each other; and that a plan has one predicted time. Permutations of every kind are
// drawn; views and rows are listed.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "faro/engines/cuda.hpp"
#include "faro/error.hpp"
#include "faro/plan/plan.hpp"
#include "faro/plan/row_plan.hpp"
#include "tell/counts/line_counts.hpp"
#include "tell/row_counts.hpp"

namespace faro {
namespace plan_fields_test {

using Json = nlohmann::json;

Target cpu() {
  Target target;
  target.threads = 2;
  target.name = "2 threads";
  return target;
}

class Drawn {
 public:
  explicit Drawn(std::uint64_t seed) : random_(seed) {}

  std::uint64_t between(std::uint64_t least, std::uint64_t most) {
    return least + random_() % (most - least + 1);
  }
  std::string number(std::uint64_t least, std::uint64_t most) { return std::to_string(between(least, most)); }

  // One of most kinds, text first; sizes that are quick to plan and to count.
  std::vector<Permutation> permutations() {
    std::vector<Permutation> all;
    for (const std::string& spec :
         {"identity(" + number(0, 20) + ")", "bit_reversal(" + number(1, 20) + ")",
          "xor(" + number(13, 22) + ", " + number(1, 4096) + ")", "gray(" + number(2, 20) + ")",
          "random_bpc(" + number(2, 20) + ", " + number(1, 999) + ")",
          "random_bmmc(" + number(2, 20) + ", " + number(1, 999) + ")",
          "transpose(" + number(2, 700) + ", " + number(2, 700) + ")",
          "axes(" + number(2, 40) + " " + number(2, 40) + " " + number(2, 40) + " " + number(2, 9) +
              "; 3 0 2 1)",
          "axes(" + number(2, 60) + " " + number(2, 60) + " " + number(2, 60) + "; 1 0 2)",
          "axes(" + number(900, 2000) + " " + number(3, 9) + " " + number(3, 9) + "; 0 2 1)",
          "axes(" + number(20, 200) + " " + number(20, 200) + "; 1 0; 0 " + number(1, 19) + "; 0)",
          "axes(" + number(20, 200) + " " + number(20, 200) + "; 0 1; " + number(1, 19) + " 2)",
          "roll(" + number(2, 100000) + ", 1)", "flip(" + number(2, 100000) + ")",
          "multiply(" + std::to_string(2 * between(1, 50000) + 1) + ", 2)",
          "aosoa(" + number(100, 900) + ", 3, 32)",
          "random(" + number(2, 60000) + ", " + number(1, 99) + ")"})
      all.push_back(parse_permutation(spec));
    all.push_back(locally_shuffled());
    all.push_back(in_runs());
    all.push_back(with_exceptions());
    return all;
  }

 private:
  static Permutation scatter(std::vector<std::uint32_t> entries) {
    return Indexed(std::move(entries), Direction::scatter);
  }
  std::vector<std::uint32_t> in_order(std::uint64_t count) {
    std::vector<std::uint32_t> entries(count);
    std::iota(entries.begin(), entries.end(), 0U);
    return entries;
  }
  Permutation locally_shuffled() {
    constexpr std::size_t group = 16;
    std::vector<std::uint32_t> entries = in_order(between(1000, 4000) * group);
    for (std::size_t first = 0; first < entries.size(); first += group)
      std::swap(entries[first], entries[first + between(1, group - 1)]);
    return scatter(std::move(entries));
  }
  Permutation in_runs() {
    constexpr std::uint32_t run = 200;
    std::vector<std::uint32_t> runs = in_order(between(50, 200));
    for (std::size_t i = runs.size(); i > 1; --i) std::swap(runs[i - 1], runs[between(0, i - 1)]);
    std::vector<std::uint32_t> entries;
    for (const std::uint32_t first : runs) {
      for (std::uint32_t i = 0; i < run; ++i) entries.push_back(first * run + i);
    }
    return scatter(std::move(entries));
  }
  Permutation with_exceptions() {
    const std::uint64_t count = 7 * between(2000, 9000) + 1;
    std::vector<std::uint32_t> entries;
    for (std::uint64_t i = 0; i < count; ++i) entries.push_back(static_cast<std::uint32_t>(i * 7 % count));
    std::swap(entries[3], entries[between(5, count - 1)]);
    return scatter(std::move(entries));
  }

  std::mt19937_64 random_;
};

bool says(const std::string& text, const std::string& name) {
  return text.find("\n  " + name + " ") != std::string::npos;
}

void expect_number(const Json& of, const char* key) {
  ASSERT_TRUE(of.contains(key)) << key;
  EXPECT_TRUE(of[key].is_number()) << key;
}

// A warp asks for 16 bytes a lane at most, and what is asked for lies in the sectors, lines and banks that
// are counted. Where all blocks were run, or those that were stand for all, every byte of the output is
// stored once; in place tiles that rest are not.
void expect_counts_of_bytes(const Json& pass, const Json& predicted) {
  constexpr std::uint64_t most_of_request = 512;
  for (const char* const side : {"global_loads", "global_stores"}) {
    const Json& counts = predicted[side];
    const auto bytes = counts["bytes"].get<std::uint64_t>();
    EXPECT_LE(bytes, most_of_request * counts["requests"].get<std::uint64_t>()) << side;
    EXPECT_LE(counts["sectors"].get<std::uint64_t>(), 4 * counts["lines"].get<std::uint64_t>()) << side;
    EXPECT_LE(counts["lines"].get<std::uint64_t>(), counts["sectors"].get<std::uint64_t>()) << side;
  }
  for (const char* const side : {"shared_loads", "shared_stores"}) {
    const Json& counts = predicted[side];
    EXPECT_GE(counts["wavefronts"].get<std::uint64_t>() * 32, counts["requests"].get<std::uint64_t>())
        << side;
  }
  const bool in_place = pass.contains("in_place") || pass.value("source", "input") == "data";
  if (!in_place && pass["bounded"] == false) {
    EXPECT_EQ(predicted["global_stores"]["bytes"], pass["bytes_written"]);
  }
}

// The fields of one pass in JSON.
void expect_fields(const Json& pass, Engine engine) {
  expect_number(pass, "bytes_read");
  expect_number(pass, "bytes_written");
  ASSERT_TRUE(pass["predicted_time"].is_object());
  EXPECT_GT(pass["predicted_time"]["ms"].get<double>(), 0);
  EXPECT_FALSE(pass["predicted_time"]["rates"].get<std::string>().empty());
  EXPECT_TRUE(pass["counted"].is_string());
  EXPECT_TRUE(pass["bounded"].is_boolean());
  if (engine == Engine::cpu) {
    EXPECT_FALSE(pass["team"]["kernel"].get<std::string>().empty());
    EXPECT_GE(pass["team"]["threads"].get<int>(), 1);
    for (const char* const side : {"read", "written"}) {
      const Json& lines = pass["lines"][side];
      expect_number(lines, "runs");
      const std::uint64_t bytes = pass[side == std::string("read") ? "bytes_read" : "bytes_written"];
      EXPECT_GE(lines["lines"].get<std::uint64_t>() * 64 + 63 * lines["runs"].get<std::uint64_t>(), bytes);
      EXPECT_GT(lines["lines"].get<std::uint64_t>(), 0U);
    }
    return;
  }
  const Json& predicted = pass["predicted"];
  ASSERT_TRUE(predicted.is_object());
  for (const char* const side : {"global_loads", "global_stores"}) {
    for (const char* const count : {"requests", "sectors", "lines", "bytes"}) {
      expect_number(predicted[side], count);
      EXPECT_GT(predicted[side][count].get<std::uint64_t>(), 0U) << side << " " << count;
    }
  }
  for (const char* const side : {"shared_loads", "shared_stores"}) {
    for (const char* const count : {"requests", "wavefronts", "bytes"}) expect_number(predicted[side], count);
  }
  expect_counts_of_bytes(pass, predicted);
  if (pass["kind"] == "copy" && pass["launch"].is_null()) return;  // the driver's
  for (const char* const size : {"blocks", "threads", "shared_bytes"}) expect_number(pass["launch"], size);
  EXPECT_FALSE(pass["launch"]["kernel"].get<std::string>().empty());
}

void expect_words(const std::string& text, Engine engine) {
  EXPECT_TRUE(says(text, "kernel")) << text;
  EXPECT_TRUE(says(text, "time")) << text;
  EXPECT_TRUE(says(text, "counted")) << text;
  EXPECT_EQ(text.find("not predicted"), std::string::npos) << text;
  EXPECT_EQ(text.find("not counted"), std::string::npos) << text;
  if (engine == Engine::cpu) {
    EXPECT_TRUE(says(text, "threads")) << text;
    EXPECT_TRUE(says(text, "lines")) << text;
  } else {
    EXPECT_TRUE(says(text, "loads")) << text;
    EXPECT_TRUE(says(text, "stores")) << text;
  }
}

// A plan, or nothing where the engine refuses the problem.
std::optional<Plan> planned(const Problem& problem, const Target& target, std::optional<IndexMethod> method) {
  try {
    const auto* const array = std::get_if<Indexed>(&problem.permutation);
    if (array == nullptr) return method ? std::nullopt : std::optional(Plan(problem, target));
    IndexChoice choice;
    choice.method = method;
    return Plan(problem, target, recognise(*array), choice);
  } catch (const Error&) {
    return std::nullopt;
  }
}

// The plan's one time, as text and drawings have it.
void expect_time_in_words(const Plan& plan, const std::string& text) {
  const std::string ms = fmt::format("{:.4g} ms", predict_us(plan).value_or(0) / 1e3);
  EXPECT_NE(text.find("time  "), std::string::npos);
  EXPECT_NE(text.find(ms), std::string::npos) << ms << " in " << text;
  std::string drawing;
  try {
    drawing = plan.svg();
  } catch (const Error&) {
    return;  // sweeps and index arrays are not drawn
  }
  EXPECT_NE(drawing.find(ms + " predicted"), std::string::npos) << ms;
}

// The passes' times are the plan's, which no candidate, and no other interface, tells otherwise.
void expect_one_time(const Plan& plan, const Json& json) {
  double sum = 0;
  for (const Json& pass : json["passes"]) sum += pass["predicted_time"]["ms"].get<double>();
  EXPECT_NEAR(json["predicted_ms"].get<double>(), sum, 1e-9 * sum);
  const std::optional<double> us = predict_us(plan);
  ASSERT_TRUE(us.has_value());
  EXPECT_NEAR(*us / 1e3, sum, 1e-9 * sum);
  if (!json.contains("candidates")) return;
  for (const Json& candidate : json["candidates"]) {
    EXPECT_FALSE(candidate.contains("predicted_ms"));
    if (candidate["taken"] == true && candidate["times_as_long"].is_number()) {
      EXPECT_EQ(candidate["times_as_long"], 1.0);
    }
  }
}

// What is read is written, and each pass moves the whole array, but for parts of it, which add up to it.
void expect_bytes_of_arrays(const Plan& plan, const Json& json) {
  std::uint64_t moved = 0;
  std::uint64_t most = 0;
  for (const Json& pass : json["passes"]) {
    if (pass["kind"] == "patch") continue;
    EXPECT_EQ(pass["bytes_read"], pass["bytes_written"]);
    moved += pass["bytes_read"].get<std::uint64_t>();
    most = std::max(most, pass["bytes_read"].get<std::uint64_t>());
  }
  EXPECT_LE(most, plan.array_bytes());
  EXPECT_EQ(moved % plan.array_bytes(), 0U) << moved << " of " << plan.array_bytes();
}

void expect_every_field(const Plan& plan) {
  if (plan.passes().empty()) return;
  const Engine engine = plan.target().engine;
  const Json json = Json::parse(plan.explain_json());
  expect_one_time(plan, json);
  expect_bytes_of_arrays(plan, json);
  ASSERT_EQ(json["passes"].size(), plan.passes().size());
  for (const Json& pass : json["passes"]) {
    SCOPED_TRACE(pass.dump().substr(0, 600));
    expect_fields(pass, engine);
  }
  expect_words(plan.explain(), engine);
  expect_time_in_words(plan, plan.explain());
}

TEST(PlanFields, EveryPassOfDrawnPermutationsHasAllOfThem) {
  int plans = 0;
  for (const std::uint64_t seed : {1U, 2U}) {
    Drawn drawn(seed);
    for (const Permutation& permutation : drawn.permutations()) {
      for (const Placement placement : {Placement::out_of_place, Placement::in_place}) {
        const Problem problem{
            .permutation = permutation,
            .element_bytes = std::vector<std::uint64_t>{1, 2, 3, 4, 8, 12, 16}.at(drawn.between(0, 6)),
            .batch = drawn.between(1, 3),
            .placement = placement};
        for (const Target& target : {cpu(), cuda::target_of_capability(9, 0)}) {
          const auto plan = planned(problem, target, {});
          if (!plan) continue;
          ++plans;
          SCOPED_TRACE(to_text(permutation).substr(0, 200) + " of " + std::to_string(problem.element_bytes));
          expect_every_field(*plan);
        }
      }
    }
  }
  EXPECT_GT(plans, 100);
}

TEST(PlanFields, EveryMethodOfAnIndexArrayHasThem) {
  const Permutation array = parse_permutation("random(50000, 3)");
  for (const IndexMethod method :
       {IndexMethod::direct, IndexMethod::partition, IndexMethod::row_column, IndexMethod::row_column_5}) {
    for (const std::uint64_t width : {2U, 12U, 64U}) {
      for (const Target& target : {cpu(), cuda::target_of_capability(9, 0)}) {
        const auto plan = planned({.permutation = array, .element_bytes = width}, target, method);
        ASSERT_TRUE(plan.has_value());
        SCOPED_TRACE(std::string(name(method)) + " of " + std::to_string(width));
        expect_every_field(*plan);
      }
    }
  }
}

// Views that are no permutation: one pass, with the same fields.
TEST(PlanFields, EveryViewHasThem) {
  for (const char* const text :
       {"strided(300 400; -400 1; 400 1; 119600 0)", "strided(200 300; 1 250; 310 1)",
        "strided(50 60 7; 7 360 1; 420 7 1)", "strided(5000; 3; 1)"}) {
    const Strided view = parse_strided(text);
    for (const std::uint64_t width : {1U, 3U, 4U, 16U}) {
      for (const Target& target : {cpu(), cuda::target_of_capability(9, 0)}) {
        SCOPED_TRACE(std::string(text) + " of " + std::to_string(width));
        const Plan plan({.element_bytes = width, .view = view}, target);
        if (!plan.problem().view) {
          expect_every_field(
              Plan({.permutation = plan.problem().permutation, .element_bytes = width}, target));
          continue;
        }
        const Json json = Json::parse(plan.explain_json());
        ASSERT_EQ(json["passes"].size(), 1U);
        Json pass = json["passes"][0];
        EXPECT_EQ(pass["bytes_read"], element_count(view) * width);
        EXPECT_EQ(pass["bytes_written"], element_count(view) * width);
        EXPECT_EQ(json["predicted_ms"], pass["predicted_time"]["ms"]);
        EXPECT_DOUBLE_EQ(predict_us(plan).value_or(0) / 1e3, json["predicted_ms"].get<double>());
        expect_fields(pass, target.engine);
        const std::string words = plan.explain();
        for (const char* const name : {"kernel", "time", "counted"}) EXPECT_TRUE(says(words, name)) << words;
      }
    }
  }
}

// Rows that are taken, put and added, in words.
TEST(PlanFields, EveryLaunchOfRowsHasThem) {
  std::vector<std::uint32_t> entries(1000);
  for (std::uint32_t i = 0; i < entries.size(); ++i) entries[i] = i * 7 % 2000;
  const RowNumbers numbers{std::span<const std::uint32_t>(entries)};
  for (const RowMove& move :
       {RowMove(Take{.from = numbers, .rows = 2000}), RowMove(Put{.to = numbers, .rows = 2000}),
        RowMove(Add{.to = numbers, .rows = 2000, .number = Number::f32})}) {
    for (const std::uint64_t width : {4U, 12U, 64U, 1000U, 4096U}) {
      for (const Target& target : {cpu(), cuda::target_of_capability(9, 0)}) {
        const RowPlan plan(move, {.row_bytes = width}, target);
        const std::string words = plan.explain();
        SCOPED_TRACE(words);
        EXPECT_NE(words.find("\ntime: "), std::string::npos);
        EXPECT_NE(words.find(" ms predicted, by "), std::string::npos);
        EXPECT_GT(detail::predict_us(plan).value_or(0), 0);
        for (const RowPass& pass : plan.passes()) {
          const detail::RowCounts counts = detail::count_rows(plan, pass);
          EXPECT_NE(words.find(std::to_string(pass.blocks) + " blocks of " + std::to_string(pass.threads) +
                               " threads"),
                    std::string::npos);
          EXPECT_NE(words.find(std::to_string(counts.load_sectors) + " sectors of 32 bytes"),
                    std::string::npos);
          EXPECT_GE(counts.store_sectors * 32, pass.written_bytes);
          EXPECT_GE(counts.store_requests * 512, pass.written_bytes);
          if (counts.at_most) {
            EXPECT_GE(counts.load_sectors * 32, pass.written_bytes);  // each row is read
          }
        }
      }
    }
  }
}

// Lines that a pass on a CPU moves, against the obvious loop over its elements.
TEST(PlanFields, LinesOfAPatchAndOfEntriesAreThoseOfTheElements) {
  const auto lines = [](std::uint64_t element, std::uint64_t bytes) {
    return (element * bytes + bytes - 1) / 64 - element * bytes / 64 + 1;
  };
  for (const std::uint64_t width : {1U, 3U, 4U, 12U, 64U, 100U}) {
    const Indexed array = Indexed::random(3000, width);
    IndexChoice choice;
    choice.method = IndexMethod::direct;
    const Plan plan({.permutation = array, .element_bytes = width}, cpu(), recognise(array), choice);
    const auto counts = detail::count_lines(plan, 0);
    ASSERT_TRUE(counts.has_value());
    std::uint64_t random = 0;
    for (std::uint64_t i = 0; i < array.count(); ++i) random += lines(array.entry(i), width);
    const bool scatters = array.direction() == Direction::scatter;
    EXPECT_EQ((scatters ? counts->written : counts->read).lines, random) << width;
    EXPECT_EQ((scatters ? counts->read : counts->written).lines, (3000 * width + 63) / 64) << width;
    EXPECT_FALSE(counts->bounded);
  }
}

// A transposition's boxes: rows of so many elements of each side, cut where a box ends.
TEST(PlanFields, LinesOfBoxesAreThoseOfTheirRuns) {
  const Plan plan({.permutation = parse_permutation("transpose(128, 256)"), .element_bytes = 3}, cpu());
  const auto counts = detail::count_lines(plan, 0);
  ASSERT_TRUE(counts.has_value());
  // No fewer than the array has, and no more than every run's bytes and two ends.
  const std::uint64_t least = (128 * 256 * 3 + 63) / 64;
  for (const detail::SideLines& side : {counts->read, counts->written}) {
    EXPECT_GE(side.lines, least);
    EXPECT_LE(side.lines, least + 2 * side.runs);
  }
}

}  // namespace plan_fields_test
}  // namespace faro

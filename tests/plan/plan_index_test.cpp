// IndexPlan and IndexCalibration: what is chosen, what is predicted, what is said, and what is refused.
// Nothing is run here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "engines/cuda/host/device_table.hpp"
#include "faro/engines/cuda.hpp"
#include "faro/error.hpp"
#include "faro/permutation/affine.hpp"
#include "faro/plan/plan.hpp"
#include "faro/problem/target.hpp"
#include "own_cache_support.hpp"
#include "refusal.hpp"

namespace plan_index_test {

using namespace faro;
namespace fs = std::filesystem;
using ::testing::HasSubstr;
using Json = nlohmann::json;

Target gpu() { return cuda::target_of_capability(9, 0); }

Target cpu() {
  Target target;
  target.threads = 2;
  target.name = "2 threads";
  return target;
}

// A general array of any size, without the array: planning looks at counts only.
Recognition general(const Permutation& permutation) {
  return {
      .family = Family::general, .permutation = permutation, .runs = {}, .displacement = {}, .findings = {}};
}

Indexed of_size(std::uint64_t count, Direction direction = Direction::scatter) {
  static const int there = 0;
  const int bytes = count > std::uint64_t{1} << 32 ? 8 : 4;
  return Indexed::valid_on_device(&there, count, {.bytes = bytes, .is_signed = false}, direction, 0, nullptr);
}

IndexPlan planned(std::uint64_t count, std::uint64_t width, const Target& target, IndexChoice choice = {},
                  Direction direction = Direction::scatter, std::uint64_t batch = 1) {
  const Indexed indexed = of_size(count, direction);
  return {{.permutation = indexed, .element_bytes = width, .batch = batch},
          target,
          general(indexed),
          std::move(choice)};
}

Plan whole_plan(std::uint64_t count, std::uint64_t width, const Target& target,
                const IndexChoice& choice = {}) {
  const Indexed indexed = of_size(count);
  return {{.permutation = indexed, .element_bytes = width}, target, general(indexed), choice};
}

using test::report_of;

class Calibrations : public faro::testing::OwnCacheTest {};

// --- curves

TEST(TimeCurve, IsStraightInTheLogarithms) {
  const TimeCurve curve{.points = {{.elements = 1024, .microseconds = 2},
                                   {.elements = 4096, .microseconds = 2},
                                   {.elements = 16384, .microseconds = 32}}};
  EXPECT_DOUBLE_EQ(curve.microseconds(0), 2);
  EXPECT_DOUBLE_EQ(curve.microseconds(1024), 2);
  EXPECT_DOUBLE_EQ(curve.microseconds(2000), 2);
  EXPECT_DOUBLE_EQ(curve.microseconds(4096), 2);
  EXPECT_DOUBLE_EQ(curve.microseconds(8192), 8);  // half way: the geometric mean
  EXPECT_DOUBLE_EQ(curve.microseconds(16384), 32);
  EXPECT_DOUBLE_EQ(curve.microseconds(65536), 128);
  EXPECT_THROW(static_cast<void>(TimeCurve{}.microseconds(1)), Error);
}

TEST(IndexCalibration, TakesTheNearestCurveAndScalesByBytes) {
  const auto flat_rate = [](double us_per_1024) {
    return TimeCurve{.points = {{.elements = 1024, .microseconds = us_per_1024},
                                {.elements = 1024 * 1024, .microseconds = us_per_1024 * 1024}}};
  };
  const IndexCalibration calibration{.source = "test",
                                     .curves = {{.kernel = IndexKernel::copy,
                                                 .element_bytes = 4,
                                                 .chunk_bits = 0,
                                                 .run_bits = 0,
                                                 .curve = flat_rate(1)},
                                                {.kernel = IndexKernel::copy,
                                                 .element_bytes = 16,
                                                 .chunk_bits = 0,
                                                 .run_bits = 0,
                                                 .curve = flat_rate(8)},
                                                {.kernel = IndexKernel::place,
                                                 .element_bytes = 4,
                                                 .chunk_bits = 14,
                                                 .run_bits = 0,
                                                 .curve = flat_rate(3)},
                                                {.kernel = IndexKernel::place,
                                                 .element_bytes = 4,
                                                 .chunk_bits = 12,
                                                 .run_bits = 0,
                                                 .curve = flat_rate(5)}}};
  EXPECT_DOUBLE_EQ(*calibration.predict_us(IndexKernel::copy, 4, 2048), 2);
  EXPECT_DOUBLE_EQ(*calibration.predict_us(IndexKernel::copy, 16, 2048), 16);
  EXPECT_DOUBLE_EQ(*calibration.predict_us(IndexKernel::copy, 64, 2048), 64);  // four times 16 bytes
  EXPECT_DOUBLE_EQ(*calibration.predict_us(IndexKernel::place, 4, 2048, 14), 6);
  EXPECT_DOUBLE_EQ(*calibration.predict_us(IndexKernel::place, 4, 2048, 11), 10);
  // 2 + 2 x 9 bytes an element rather than 2 + 2 x 4: twice as many.
  EXPECT_DOUBLE_EQ(*calibration.predict_us(IndexKernel::place, 9, 2048, 14), 12);
  // The last pass backwards stands on that forwards, windows on the last pass, too.
  EXPECT_DOUBLE_EQ(*calibration.predict_us(IndexKernel::pick, 4, 2048, 14), 6);
  EXPECT_DOUBLE_EQ(*calibration.predict_us(IndexKernel::window, 4, 2048), 10);
  EXPECT_FALSE(calibration.predict_us(IndexKernel::gather, 4, 2048).has_value());
  EXPECT_FALSE(calibration.predict_us(IndexKernel::spread, 4, 2048).has_value());
}

// Runs of 2^8 were measured at every size, shorter ones at one or two: those say how much longer than the
// former they take.
TEST(IndexCalibration, ShorterRunsCostWhatTheyCostWhereTheyWereMeasured) {
  const auto curve = [](int run_bits, TimeCurve times) {
    return IndexCurve{.kernel = IndexKernel::spread,
                      .element_bytes = 4,
                      .chunk_bits = 14,
                      .run_bits = run_bits,
                      .curve = std::move(times)};
  };
  const IndexCalibration calibration{
      .source = "",
      .curves = {curve(8, {.points = {{1024, 10}, {4096, 40}, {16384, 320}}}),
                 curve(6, {.points = {{1024, 10}, {16384, 384}}}),  // 1 and 1.2 times as long
                 curve(4, {.points = {{4096, 80}}})}};              // twice
  const auto predict = [&](std::uint64_t elements, int run_bits) {
    return *calibration.predict_us(IndexKernel::spread, 4, elements, 14, run_bits);
  };
  EXPECT_DOUBLE_EQ(predict(16384, 8), 320);
  EXPECT_DOUBLE_EQ(predict(16384, 6), 384);
  EXPECT_DOUBLE_EQ(predict(16384, 4), 640);
  EXPECT_DOUBLE_EQ(predict(65536, 8), 1280);
  EXPECT_DOUBLE_EQ(predict(65536, 4), 2560);
  EXPECT_DOUBLE_EQ(predict(1024, 6), 10);
  // Straight in the number of runs: 1/32 lies a third of the way from 1/64 to 1/16, and 1/8 as far beyond.
  EXPECT_DOUBLE_EQ(predict(16384, 5), 320 * (1.2 + 0.8 / 3));
  EXPECT_DOUBLE_EQ(predict(16384, 3), 320 * (1.2 + 0.8 * (1.0 / 8 - 1.0 / 64) / (1.0 / 16 - 1.0 / 64)));
  // 2 x 4 + 2 bytes an element, and 38 a run: what longer runs save.
  EXPECT_NEAR(predict(65536, 12), 1280 * (10 + 38.0 / 4096) / (10 + 38.0 / 256), 0.01);
}

// Partitions of random arrays on an H200 (bench/results/h200-2026-11-22-index-chosen.md), milliseconds.
TEST(IndexCalibration, PredictsWhatWasMeasuredOnAnH200) {
  struct Measured {
    int bits, width, chunk_bits;
    std::vector<int> levels;
    double scatter_ms, gather_ms;  // 0: another way was chosen
  };
  const std::vector<Measured> all = {
      {24, 4, 15, {9}, 0.1078, 0.1087},     {26, 4, 14, {6, 6}, 0.5238, 0.5126},
      {28, 4, 14, {7, 7}, 2.0486, 1.9982},  {29, 4, 14, {8, 7}, 4.1577, 4.0762},
      {30, 4, 14, {8, 8}, 8.4371, 8.3090},  {24, 8, 14, {10}, 0.2030, 0.2038},
      {26, 8, 13, {7, 6}, 0.9539, 0.9253},  {28, 8, 13, {8, 7}, 3.8218, 3.7120},
      {29, 8, 13, {8, 8}, 7.7612, 7.5499},  {30, 8, 13, {9, 8}, 17.6710, 15.7613},
      {24, 16, 12, {6, 6}, 0, 0.4495},      {26, 16, 12, {7, 7}, 1.8094, 1.7584},
      {28, 16, 12, {8, 8}, 7.5151, 7.2181}, {30, 2, 15, {8, 7}, 4.9735, 5.9312}};
  for (const Measured& each : all) {
    for (const bool forwards : {true, false}) {
      const double seen = forwards ? each.scatter_ms : each.gather_ms;
      if (seen == 0) continue;
      const auto predict = [&](IndexKernel kernel, int run_bits) {
        return *built_in_gpu_calibration().predict_us(kernel, static_cast<std::uint64_t>(each.width),
                                                      std::uint64_t{1} << each.bits, each.chunk_bits,
                                                      run_bits);
      };
      double us = predict(forwards ? IndexKernel::place : IndexKernel::pick, 0);
      for (const int bits : each.levels) {
        us += predict(forwards ? IndexKernel::spread : IndexKernel::collect, each.chunk_bits - bits);
      }
      // The one that is further off, by 6.1%, is 8 GiB gathered by runs of 16.
      const double most = each.bits == 30 && each.width == 8 && !forwards ? 0.061 : 0.06;
      EXPECT_NEAR(us / 1000 / seen, 1, most)
          << "2^" << each.bits << " x " << each.width << (forwards ? " scatter" : " gather");
    }
  }
}

TEST_F(Calibrations, AreKeptAndReadAgain) {
  EXPECT_EQ(calibration_path("NVIDIA H200")->filename(), "tune-nvidia-h200.json");
  EXPECT_EQ(calibration_path("../../x y/\xff")->filename(), "tune-x-y.json");
  EXPECT_FALSE(kept_calibration("a machine").has_value());
  IndexCalibration made = built_in_gpu_calibration();
  made.axes = {{.kind = "groups", .count = "ns reads", .factor = 1.25}};
  const fs::path path = keep_calibration("a machine", made);
  const auto kept = kept_calibration("a machine");
  ASSERT_TRUE(kept.has_value());
  EXPECT_EQ(kept->to_json(), made.to_json());
  EXPECT_EQ(calibration_for("a machine", built_in_cpu_calibration())->source, made.source);
  EXPECT_EQ(calibration_for("another", made)->source, made.source);

  for (const char* const wrong : {"[\"groups\", \"ns reads\", 0]", "[\"groups\", 1, 1]", "[]", "{}", "1e9"}) {
    const std::string text =
        std::string(R"({"schema": 1, "source": "", "curves": [], "axes": [)") + wrong + "]}";
    EXPECT_THAT(report_of([&] { IndexCalibration::from_json(text, "a file"); }).got, HasSubstr("`axes`"))
        << wrong;
  }

  // What is broken is named, left out of planning, and overwritten by what is measured next.
  std::ofstream(path) << "{";
  EXPECT_EQ(report_of([] { kept_calibration("a machine"); }).code, ErrorCode::file);
  EXPECT_THAT(calibration_for("a machine", made)->source, HasSubstr(path.string()));
  EXPECT_EQ(calibration_for("a machine", made)->curves.size(), made.curves.size());
  std::ofstream(path) << "{}";
  fs::resize_file(path, std::uintmax_t{1} << 40);  // a hole, of which nothing is read
  EXPECT_THAT(calibration_for("a machine", made)->source, HasSubstr("at most 16 MiB"));
  keep_calibration("a machine", made);
  EXPECT_TRUE(kept_calibration("a machine").has_value());
  fs::remove(path);
  fs::create_directory(path);
  EXPECT_EQ(report_of([] { kept_calibration("a machine"); }).code, ErrorCode::file);
  EXPECT_THAT(calibration_for("a machine", made)->source, HasSubstr(path.string()));

  std::ofstream(directory_ / "file") << "x";
  setenv("FARO_CACHE", (directory_ / "file" / "deeper").c_str(), 1);
  EXPECT_EQ(report_of([&] { keep_calibration("a machine", made); }).code, ErrorCode::file);
}

TEST(IndexCalibration, RefusesWhatIsNoCalibration) {
  const std::string good = R"({"schema":1,"source":"s","curves":[{"kernel":"copy","element_bytes":4,)"
                           R"("chunk_bits":0,"run_bits":0,"points":[[1,2.5],[4,3]]}]})";
  EXPECT_EQ(IndexCalibration::from_json(good, "f").curves.at(0).curve.points.at(1).elements, 4U);
  struct Change {
    std::string from;
    std::string to;
    std::string named;
  };
  const std::vector<Change> table{{"\"schema\":1", "\"schema\":2", "schema"},
                                  {"\"schema\":1,", "", "schema"},
                                  {"\"s\"", "7", "source"},
                                  {"\"copy\"", "\"kopy\"", "kernel"},
                                  {"\"element_bytes\":4", "\"element_bytes\":0", "element_bytes"},
                                  {"\"element_bytes\":4", "\"element_bytes\":1e99", "element_bytes"},
                                  {"\"chunk_bits\":0", "\"chunk_bits\":-1", "chunk_bits"},
                                  {"\"run_bits\":0", "\"run_bits\":\"0\"", "run_bits"},
                                  {"[4,3]", "[1,3]", "points"},
                                  {"[4,3]", "[4,0]", "points"},
                                  {"[4,3]", "[4,-3]", "points"},
                                  {"[4,3]", "[4,1e-300]", "points"},
                                  {"[4,3]", "[4,1e15]", "points"},
                                  {"[4,3]", "[4]", "points"},
                                  {"[4,3]", "[-4,3]", "points"},
                                  {"[4,3]", "[99999999999999999,3]", "points"},
                                  {"[4,3]", "{}", "points"},
                                  {"[[1,2.5],[4,3]]", "7", "points"},
                                  {"{\"schema\"", "[\"schema\"", "JSON"}};
  for (const Change& change : table) {
    std::string text = good;
    const auto at = text.find(change.from);
    ASSERT_NE(at, std::string::npos) << change.from;
    text.replace(at, change.from.size(), change.to);
    const ErrorReport report = report_of([&] { IndexCalibration::from_json(text, "f"); });
    EXPECT_EQ(report.code, ErrorCode::file) << text;
    EXPECT_THAT(report.got + report.operation, HasSubstr(change.named)) << text;
    EXPECT_THAT(report.operation, HasSubstr("`f`"));
  }
}

// Measured or made up, rising or falling, of one kernel or of several.
TEST(IndexCalibration, NoCurvesPredictLessThanNothing) {
  std::mt19937_64 random(20261126);
  const auto below = [&](std::uint64_t end) { return random() % end; };
  for (int draw = 0; draw < 4000; ++draw) {
    IndexCalibration drawn;
    for (std::uint64_t curves = 1 + below(4); curves > 0; --curves) {
      IndexCurve curve{.kernel = static_cast<IndexKernel>(below(draw % 3 == 0 ? 2 : 11)),
                       .element_bytes = 1 << below(draw % 2 == 0 ? 13 : 2),
                       .chunk_bits = static_cast<int>(below(draw % 2 == 0 ? 41 : 2)),
                       .run_bits = static_cast<int>(below(draw % 2 == 0 ? 41 : 4)),
                       .curve = {}};
      std::uint64_t elements = 0;
      for (std::uint64_t points = 1 + below(4); points > 0; --points) {
        elements += 1 + below(std::uint64_t{1} << below(48));
        const double us = std::pow(10.0, static_cast<double>(below(21)) - 6);
        curve.curve.points.push_back({.elements = elements, .microseconds = us});
      }
      drawn.curves.push_back(curve);
    }
    const std::string text = drawn.to_json();
    const auto read = IndexCalibration::from_json(text, "f");
    for (const IndexCurve& curve : read.curves) {
      for (const int width : {1, 4, 12, 4096}) {
        for (const int bits : {0, 20, 40}) {
          const auto us = read.predict_us(curve.kernel, width, std::uint64_t{1} << bits, curve.chunk_bits,
                                          curve.run_bits);
          ASSERT_TRUE(us.has_value()) << text;
          ASSERT_TRUE(std::isfinite(*us) && *us >= 0) << *us << " of " << width << " 2^" << bits << text;
        }
      }
    }
  }
}

TEST(IndexCalibration, BuiltInCurvesAreCurves) {
  for (const IndexCalibration* each : {&built_in_gpu_calibration(), &built_in_cpu_calibration()}) {
    EXPECT_EQ(IndexCalibration::from_json(each->to_json(), "f").to_json(), each->to_json());
    for (const IndexKernel kernel : {IndexKernel::copy, IndexKernel::gather, IndexKernel::scatter,
                                     IndexKernel::spread, IndexKernel::place, IndexKernel::schedule}) {
      for (const std::uint64_t width : {1, 2, 4, 8, 12, 16, 64}) {
        double before = 0;
        for (int bits = 0; bits <= 34; ++bits) {
          const auto us = each->predict_us(kernel, width, std::uint64_t{1} << bits, 14, 6);
          ASSERT_TRUE(us.has_value());
          EXPECT_GE(*us, before) << name(kernel) << " " << width << " 2^" << bits;
          before = *us;
        }
      }
    }
  }
}

// --- the choice

TEST(IndexPlan, SmallArraysTakeOnePassLargeOnesArePartitioned) {
  for (const Target& target : {gpu(), cpu()}) {
    for (const Direction direction : {Direction::scatter, Direction::gather}) {
      for (const std::uint64_t width : {1, 2, 4, 8, 16}) {
        EXPECT_EQ(planned(1024, width, target, {}, direction).chosen().passes, 1) << width;
      }
      for (const std::uint64_t width : {1, 2, 4, 8}) {
        const IndexCandidate large =
            planned((std::uint64_t{1} << 32) / width, width, target, {}, direction).chosen();
        EXPECT_EQ(large.method, IndexMethod::partition) << width;
        EXPECT_GE(large.passes, 3);
      }
      EXPECT_EQ(planned(1 << 22, 1024, target, {}, direction).chosen().method, IndexMethod::direct);
    }
  }
}

// The least predicted time is taken, and direct unless another is faster by a margin.
TEST(IndexPlan, TakesTheFastest) {
  for (const Target& target : {gpu(), cpu()}) {
    for (int bits = 0; bits <= 33; ++bits) {
      for (const std::uint64_t width : {1, 3, 4, 16, 64}) {
        const IndexPlan plan = planned((std::uint64_t{1} << bits) + 3, width, target);
        ASSERT_TRUE(plan.chosen().curve_us.has_value());
        EXPECT_EQ(plan.chosen().why_not, "");
        for (const IndexCandidate& each : plan.candidates()) {
          EXPECT_EQ(&each == &plan.chosen(), each.why_not.empty()) << to_text(each);
          if (!each.curve_us || each.why_not.find("on request") != std::string::npos) continue;
          const double least = *plan.chosen().curve_us;
          const bool is_first = plan.chosen().method == IndexMethod::direct;
          EXPECT_GE(*each.curve_us, is_first ? std::min(0.95 * least, least - 1) : least) << to_text(each);
          EXPECT_LE(each.passes, 6);
        }
      }
    }
  }
}

// On a GPU a chunk fits a block's shared memory, runs are at least 64 bytes, and levels are even.
// What so many runs take with the schedule, of which a direct gather needs none.
double total_us(const IndexCandidate& candidate, std::uint64_t repeats) {
  return static_cast<double>(repeats) * *candidate.curve_us + candidate.schedule_us.value_or(0);
}

TEST(IndexPlan, AScheduleIsMadeWhereItsRunsPayForIt) {
  constexpr auto kGather = Direction::gather;
  const auto method = [](int bits, std::uint64_t width, const Target& target, std::uint64_t repeats) {
    return planned(std::uint64_t{1} << bits, width, target, {.repeats = repeats}, kGather).chosen().method;
  };
  // On an H200 a schedule and one run take less than a gather of 4-byte elements, and more of 8-byte ones.
  EXPECT_EQ(method(28, 4, gpu(), 1), IndexMethod::partition);
  EXPECT_EQ(method(28, 8, gpu(), 1), IndexMethod::direct);
  EXPECT_EQ(method(28, 8, gpu(), 100), IndexMethod::partition);
  EXPECT_EQ(method(28, 8, gpu(), 0), IndexMethod::partition);
  EXPECT_EQ(method(26, 4, cpu(), 1), IndexMethod::direct);
  EXPECT_EQ(method(26, 4, cpu(), 100), IndexMethod::partition);
  for (const Target& target : {gpu(), cpu()}) {
    for (const int bits : {10, 20, 24, 28, 30}) {
      for (const std::uint64_t width : {1, 4, 8, 16}) {
        bool was_scheduled = false;
        for (const std::uint64_t repeats : {1, 2, 4, 16, 256, 65536}) {
          const IndexPlan plan =
              planned(std::uint64_t{1} << bits, width, target, {.repeats = repeats}, kGather);
          EXPECT_EQ(plan.repeats(), repeats);
          const bool is_scheduled = plan.chosen().method != IndexMethod::direct;
          EXPECT_TRUE(is_scheduled || !was_scheduled) << "more runs, and no schedule";
          was_scheduled = is_scheduled;
          const IndexCandidate& direct = plan.candidates().front();
          ASSERT_EQ(direct.method, IndexMethod::direct);
          EXPECT_LE(total_us(plan.chosen(), repeats), total_us(direct, repeats)) << to_text(plan.chosen());
        }
      }
    }
  }
}

// Partitioning finds out whether the entries are a permutation; a gather needs a sweep for that, unless it is
// known.
TEST(IndexPlan, WhatIsNotCheckedYetCostsACheck) {
  const auto direct_of = [](auto make) {
    static const int there = 0;
    const Indexed indexed = make(&there, std::uint64_t{1} << 28, IndexType{}, Direction::gather, 0, nullptr);
    const IndexPlan plan({.permutation = indexed, .element_bytes = 8}, gpu(), general(indexed),
                         {.repeats = 1});
    return plan.candidates().front();
  };
  EXPECT_GT(*direct_of(&Indexed::on_device).schedule_us, 1000);
  EXPECT_EQ(*direct_of(&Indexed::valid_on_device).schedule_us, 0);
}

// Turned round, the array of a scatter is gathered, which many runs pay for.
TEST(IndexPlan, AGpuTurnsAScatterRoundForMoreThanOneRun) {
  const auto direct_of = [](std::uint64_t repeats) {
    return planned(std::uint64_t{1} << 28, 4, gpu(), {.repeats = repeats}).candidates().front();
  };
  EXPECT_EQ(*direct_of(1).schedule_us, 0);
  for (const std::uint64_t repeats : {0, 2}) {
    EXPECT_GT(*direct_of(repeats).schedule_us, 0);
    EXPECT_LT(2 * *direct_of(repeats).curve_us, *direct_of(1).curve_us);
  }
  // A scatter of narrow elements takes twice a gather and more: a schedule pays for itself at once.
  for (const std::uint64_t width : {1, 2, 4, 8}) {
    EXPECT_EQ(planned(std::uint64_t{1} << 28, width, gpu(), {.repeats = 1}).chosen().method,
              IndexMethod::partition);
  }
}

TEST(IndexPlan, PartitionsFitTheMachine) {
  for (int bits = 10; bits <= 33; ++bits) {
    for (const std::uint64_t width : {1, 2, 4, 8, 12, 16, 32, 64}) {
      const Target target = gpu();
      bool any = false;
      const IndexPlan plan = planned((std::uint64_t{1} << bits) - 1, width, target);
      for (const IndexCandidate& each : plan.candidates()) {
        if (!each.shape) continue;
        any = true;
        schedule::check_shape(*each.shape);
        EXPECT_LE(width << each.shape->chunk_bits, target.chunk_bytes_max);
        for (const int level : each.shape->level_bits) {
          EXPECT_GE(width << (each.shape->chunk_bits - level), 64U);
          EXPECT_LE(each.shape->level_bits.front() - level, 1);
        }
        EXPECT_EQ(each.passes, 1 + each.shape->levels());
        EXPECT_EQ(each.schedule_bytes, each.shape->bytes());
        EXPECT_EQ(each.bytes_moved,
                  2 * plan.count() * width * static_cast<std::uint64_t>(each.passes) + each.shape->bytes());
      }
      EXPECT_TRUE(any) << width << " 2^" << bits;
    }
  }
}

TEST(IndexPlan, TwoPassesWhereTheySuffice) {
  EXPECT_THAT(whole_plan(1 << 24, 4, gpu()).explain(),
              ::testing::AllOf(HasSubstr("chunks of 2^14 elements, levels of 10 bits"),
                               HasSubstr("chunks of 2^15 elements, levels of 9 bits")));
  EXPECT_THAT(whole_plan(1 << 30, 4, gpu()).explain(), HasSubstr("levels of 8 and 8 bits"));
}

TEST(IndexPlan, WorkspaceIsOneArrayOrNone) {
  const auto workspace = [](Direction direction, std::vector<int> levels) {
    const int bits = std::accumulate(levels.begin(), levels.end(), 10);
    return planned(std::uint64_t{1} << bits, 8, gpu(),
                   {.method = {}, .chunk_bits = 10, .level_bits = std::move(levels)}, direction)
        .workspace_bytes();
  };
  EXPECT_EQ(workspace(Direction::scatter, {5}), 0U);  // the last pass in place
  EXPECT_EQ(workspace(Direction::gather, {5}), 8U << 15);
  EXPECT_EQ(workspace(Direction::scatter, {5, 5}), 8U << 20);
  EXPECT_EQ(workspace(Direction::gather, {5, 5}), 8U << 20);
  EXPECT_EQ(planned(1 << 20, 4, gpu(), {.method = IndexMethod::direct, .chunk_bits = {}, .level_bits = {}})
                .workspace_bytes(),
            0U);
}

// Many small arrays fill the machine as one large one does, and stay in its caches.
TEST(IndexPlan, ABatchOfSmallArraysIsNoLargeArray) {
  for (const Target& target : {gpu(), cpu()}) {
    const auto direct_us = [&](std::uint64_t count, std::uint64_t batch) {
      return *planned(count, 4, target, {.method = IndexMethod::direct, .chunk_bits = {}, .level_bits = {}},
                      Direction::gather, batch)
                  .chosen()
                  .curve_us;
    };
    EXPECT_LT(direct_us(1 << 10, 1 << 20), direct_us(1 << 30, 1) / 2);
    EXPECT_GT(direct_us(1 << 10, 1 << 20), direct_us(1 << 10, 1 << 10));
  }
}

TEST(IndexPlan, AnArrayThatIsOneChunkMayHaveSixteenBits) {
  const IndexChoice sixteen{.method = {}, .chunk_bits = 16, .level_bits = {}};
  EXPECT_EQ(to_text(planned(1 << 16, 4, cpu(), sixteen).chosen()), "partition, chunks of 2^16 elements");
  EXPECT_THAT(report_of([&] { planned((1 << 16) + 1, 4, cpu(), sixteen); }).wanted, HasSubstr("2^15"));
}

// One level backwards needs the workspace, so a GPU takes such arrays in turns: small ones would leave it
// idle.
TEST(IndexPlan, SmallArraysThatTakeTurnsAreNotPartitioned) {
  const auto partition = [](Direction direction, std::uint64_t batch) {
    return *planned(1 << 18, 4, gpu(), {.method = {}, .chunk_bits = 14, .level_bits = {4}}, direction, batch)
                .chosen()
                .curve_us;
  };
  EXPECT_DOUBLE_EQ(partition(Direction::gather, 1024), 1024 * partition(Direction::gather, 1));
  EXPECT_LT(partition(Direction::scatter, 1024), 512 * partition(Direction::scatter, 1));
  EXPECT_EQ(planned(1 << 18, 4, gpu(), {}, Direction::gather, 1024).chosen().method, IndexMethod::direct);
}

TEST(IndexPlan, LocalityIsUsed) {
  const Indexed indexed = of_size(1 << 26);
  const Problem problem{.permutation = indexed, .element_bytes = 4};
  Recognition recognition = general(indexed);
  recognition.runs = 1 << 16;  // of 1024 elements
  recognition.displacement = 1000;
  EXPECT_EQ(IndexPlan(problem, gpu(), recognition).chosen().method, IndexMethod::runs);
  recognition.runs.reset();
  EXPECT_EQ(IndexPlan(problem, gpu(), recognition).chosen().method, IndexMethod::window);
  recognition.displacement = 40000;
  const IndexPlan far(problem, gpu(), recognition);
  EXPECT_EQ(far.chosen().method, IndexMethod::partition);
  EXPECT_THAT(Plan(problem, gpu(), recognition).explain(), HasSubstr("elements move by up to 40000"));
  recognition.displacement = 20000;  // fits 16 bits, but not shared memory with its tile
  EXPECT_EQ(IndexPlan(problem, gpu(), recognition).chosen().method, IndexMethod::partition);
}

TEST(IndexPlan, UnitsDivideTheElement) {
  struct Case {
    std::uint64_t width;
    std::uint64_t unit;
  };
  for (const Case& c :
       {Case{1, 1}, {2, 2}, {3, 1}, {4, 4}, {6, 2}, {12, 4}, {16, 16}, {24, 8}, {48, 16}, {4096, 16}}) {
    const IndexPlan plan = planned(100, c.width, gpu());
    EXPECT_EQ(plan.unit_bytes(), c.unit);
    EXPECT_EQ(plan.unit_bytes() * plan.element_units(), c.width);
  }
}

// --- what is said

TEST(IndexPlan, ExplainsEveryCandidate) {
  for (const Target& target : {gpu(), cpu()}) {
    const Plan whole = whole_plan(1 << 26, 4, target);
    const IndexPlan& plan = *whole.index_plan();
    const std::string text = whole.explain();
    for (const IndexCandidate& each : plan.candidates()) {
      EXPECT_THAT(text, HasSubstr(to_text(each).substr(0, 20)));
    }
    EXPECT_THAT(text, HasSubstr(": taken\n"));
    EXPECT_THAT(text, HasSubstr("by the curves of"));
    const Json json = Json::parse(whole.explain_json());
    EXPECT_EQ(json.at("candidates").size(), plan.candidates().size());
    EXPECT_EQ(json.at("method"), name(plan.chosen().method));
    EXPECT_EQ(json.at("curves"), plan.calibration().source);
    std::size_t taken = 0;
    for (const Json& each : json.at("candidates")) taken += each.at("taken").get<bool>() ? 1 : 0;
    EXPECT_EQ(taken, 1U);
    for (const std::string& line : {text}) EXPECT_EQ(line.find('\t'), std::string::npos);
  }
}

TEST(IndexPlan, ExplainsForHowManyRuns) {
  const Plan often = whole_plan(1 << 26, 4, gpu());
  EXPECT_THAT(often.explain(),
              ::testing::AllOf(HasSubstr("predicted to make it"), ::testing::Not(HasSubstr("chosen for"))));
  EXPECT_TRUE(Json::parse(often.explain_json()).at("repeats").is_null());
  const Plan once = whole_plan(1 << 26, 4, gpu(), {.repeats = 1});
  EXPECT_THAT(once.explain(), HasSubstr("chosen for    1 run, and making the schedule"));
  EXPECT_EQ(Json::parse(once.explain_json()).at("repeats"), 1);
}

TEST(IndexPlan, MethodsHaveNames) {
  for (const IndexMethod method :
       {IndexMethod::cyclic, IndexMethod::axes, IndexMethod::direct, IndexMethod::window, IndexMethod::runs,
        IndexMethod::partition, IndexMethod::row_column, IndexMethod::row_column_5}) {
    EXPECT_EQ(parse_index_method(name(method)), method);
  }
  EXPECT_THAT(report_of([] { parse_index_method("partitoin"); }).remedy, HasSubstr("`partition`"));
}

TEST(Plan, OfAnIndexArrayIsThatOfWhatItIs) {
  std::vector<std::uint32_t> entries(1024);
  for (std::uint32_t i = 0; i < 1024; ++i) entries[i] = i ^ (i >> 1);
  const Indexed indexed(entries, Direction::scatter);
  const Plan plan({.permutation = indexed, .element_bytes = 4}, cpu());
  EXPECT_EQ(plan.index_plan(), nullptr);
  EXPECT_EQ(plan.problem().permutation, Permutation(maps::gray(10)));
  EXPECT_THAT(plan.explain(), HasSubstr("recognised    affine"));
  EXPECT_EQ(Json::parse(plan.explain_json()).at("recognition").at("family"), "affine");
  EXPECT_FALSE(Json::parse(Plan({.permutation = maps::gray(10), .element_bytes = 4}, cpu()).explain_json())
                   .contains("recognition"));
  // Read the other way it is the inverse.
  const Plan turned({.permutation = indexed.inverse(), .element_bytes = 4}, gpu());
  EXPECT_EQ(turned.problem().permutation, Permutation(maps::gray(10).inverse()));
  // Asked for a method, it is an index array.
  const Plan asked({.permutation = indexed, .element_bytes = 4}, cpu(), recognise(indexed),
                   {.method = IndexMethod::direct, .chunk_bits = {}, .level_bits = {}});
  ASSERT_NE(asked.index_plan(), nullptr);
  EXPECT_EQ(asked.index_plan()->chosen().method, IndexMethod::direct);
}

}  // namespace plan_index_test

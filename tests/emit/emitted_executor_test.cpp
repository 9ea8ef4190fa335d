// What runs emitted kernels, as far as it goes without a GPU: that NVRTC takes every text, that the launches
// of a batch cover it, and what is refused. tests/gpu/gpu_emitted_test.cpp runs them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "engines/cuda/host/mapped.hpp"
#include "faro/engines/cuda_emitted.hpp"
#include "faro/engines/nvrtc.hpp"
#include "faro/error.hpp"
#include "faro/faro.hpp"
#include "refusal.hpp"

namespace faro::cuda {
namespace emitted_executor_test {

using ::testing::HasSubstr;

using test::report_of;

class EmittedText : public ::testing::Test {
 protected:
  void SetUp() override {
    const NvrtcStatus status = nvrtc_status();
    if (!status.available) GTEST_SKIP() << status.reason;
  }
  // As EmittedExecutor does.
  static CompiledText compile_emitted(const std::string& text) {
    return compile_text(
        {.text = text, .options = {"--pre-include=cstdint", "--device-as-default-execution-space"}}, 9, 0);
  }
};

TEST_F(EmittedText, NvrtcTakesEveryRung) {
  std::string text;
  std::vector<std::string> kernels;
  for (const Affine& map : {maps::bit_reversal(20), maps::random_bpc(20, 1), maps::random_bmmc(20, 1)}) {
    for (const emit::Rung rung : {emit::Rung::naive, emit::Rung::tile, emit::Rung::banks, emit::Rung::iters,
                                  emit::Rung::two_pass, emit::Rung::one_pass}) {
      try {
        const emit::Source source =
            emit::emit(map, {.rung = rung, .name = "kernel_" + std::to_string(kernels.size())});
        text += source.text + "\n";
        for (const emit::Kernel& kernel : source.kernels) kernels.push_back(kernel.name);
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::unsupported) << error.what();
      }
    }
  }
  EXPECT_GE(kernels.size(), 3 * 4U + 5U);
  const CompiledText compiled = compile_emitted(text);
  for (const std::string& kernel : kernels) EXPECT_THAT(compiled.code, HasSubstr(kernel));
}

TEST_F(EmittedText, NvrtcTakesEveryElementType) {
  std::string text;
  int number = 0;
  for (const emit::ElementType& type : emit::element_types()) {
    const std::string name = "kernel_" + std::to_string(number++);
    const emit::Options options{.rung = emit::Rung::naive, .element = std::string(type.name), .name = name};
    text += emit::emit(maps::bit_reversal(2), options).text + "\n";
  }
  EXPECT_NO_THROW(compile_emitted(text));
}

// Both forms of the expression: as it is, and wrapped for 2^k arrays.
TEST_F(EmittedText, NvrtcTakesMapsOfBatches) {
  for (const std::uint64_t batch : {std::uint64_t{1}, std::uint64_t{100}}) {
    const MappedLaunches launches =
        make_mapped_launches({.permutation = maps::gray(12), .element_bytes = 4, .batch = batch},
                             {.expression = "v * 2.0f + (x < y ? 1 : 0)", .element = "float"});
    EXPECT_EQ(launches.folded_bits > 0, batch > 1);
    EXPECT_THAT(compile_emitted(launches.source.text).code, HasSubstr("faro_map"));
  }
}

TEST_F(EmittedText, AFaultOfTheMapIsNamed) {
  for (const std::uint64_t batch : {std::uint64_t{1}, std::uint64_t{100}}) {
    const MappedLaunches launches = make_mapped_launches(
        {.permutation = maps::gray(12), .element_bytes = 4, .batch = batch}, {.expression = "v + w"});
    const ErrorReport report = report_of([&] { compile_emitted(launches.source.text); });
    EXPECT_EQ(report.code, ErrorCode::value);
    EXPECT_THAT(report.got, HasSubstr("identifier \"w\" is undefined"));
    EXPECT_THAT(report.remedy, HasSubstr("v + w"));
  }
}

// --- launches

TEST(MappedLaunchesOfABatch, CoverItAndNoMore) {
  for (const int n : {0, 1, 2, 5, 12}) {
    for (const std::uint64_t element_bytes : {1U, 4U, 16U}) {
      for (const std::uint64_t batch : {1U, 2U, 3U, 16U, 17U, 21U, 33U, 100U, 1000U, 4097U}) {
        SCOPED_TRACE("faro permute 'gray(" + std::to_string(n) + ")' --element-bytes " +
                     std::to_string(element_bytes) + " --batch " + std::to_string(batch));
        const MappedLaunches launches = make_mapped_launches(
            {.permutation = maps::gray(n), .element_bytes = element_bytes, .batch = batch},
            {.expression = "v"});
        const std::uint64_t array_bytes = element_bytes << n;
        const std::uint64_t arrays = std::uint64_t{1} << launches.folded_bits;
        EXPECT_LE(launches.count, kMostMappedLaunches);
        EXPECT_LE(launches.count * arrays, batch + batch / 8 + 1);
        std::set<std::uint64_t> covered;
        for (std::uint64_t i = 0; i < launches.count; ++i) {
          const std::uint64_t first = launches.first_byte(i);
          EXPECT_EQ(first % array_bytes, 0U);
          EXPECT_EQ(first % launches.source.vector_bytes, 0U);
          for (std::uint64_t k = 0; k < arrays; ++k) covered.insert(first / array_bytes + k);
        }
        EXPECT_EQ(covered.size(), batch);
        EXPECT_EQ(*covered.rbegin(), batch - 1);
        ASSERT_EQ(launches.source.kernels.size(), 1U);
        EXPECT_EQ(launches.source.kernels[0].map, direct_sum(maps::gray(n), Affine(launches.folded_bits)));
      }
    }
  }
}

TEST(MappedLaunchesOfABatch, AnEmptyOneHasNone) {
  const MappedLaunches launches = make_mapped_launches(
      {.permutation = maps::gray(4), .element_bytes = 4, .batch = 0}, {.expression = "v"});
  EXPECT_EQ(launches.count, 0U);
}

TEST(MappedLaunchesOfABatch, ElementsAreUnsignedUnlessNamed) {
  const std::vector<std::pair<std::uint64_t, std::string>> types{
      {1, "uint8_t"}, {2, "uint16_t"}, {4, "uint32_t"}, {8, "uint64_t"}, {16, "uint4"}};
  for (const auto& [bytes, type] : types) {
    const Problem problem{.permutation = maps::gray(10), .element_bytes = bytes};
    EXPECT_EQ(make_mapped_launches(problem, {.expression = "v"}).map.element, type);
    EXPECT_EQ(make_mapped_launches(problem, {.expression = "v"}).source.element, type);
  }
}

TEST(MappedLaunchesOfABatch, RefuseWhatCannotBe) {
  const Problem problem{.permutation = maps::gray(10), .element_bytes = 4};
  const auto of = [&](const Problem& p, const ElementMap& map) {
    return report_of([&] { static_cast<void>(make_mapped_launches(p, map)); });
  };
  EXPECT_EQ(of({.permutation = maps::gray(4), .element_bytes = 32}, {.expression = "v"}).code,
            ErrorCode::unsupported);
  const ErrorReport other_width = of(problem, {.expression = "v", .element = "double"});
  EXPECT_EQ(other_width.code, ErrorCode::value);
  EXPECT_THAT(other_width.got, HasSubstr("`double` of 8 bytes"));
  EXPECT_EQ(of(problem, {.expression = "v", .element = "flaot"}).code, ErrorCode::value);
  for (const std::string expression : {"", " ", "v) + (v", "v; v", "(v", "#define"}) {
    EXPECT_EQ(of(problem, {.expression = expression}).code, ErrorCode::value) << expression;
    // Wrapping must not hide it.
    EXPECT_EQ(
        of({.permutation = maps::gray(10), .element_bytes = 4, .batch = 1000}, {.expression = expression})
            .code,
        ErrorCode::value)
        << expression;
  }
}

// --- with_map

TEST(WithMap, IsRefusedByTheCpuEngine) {
  const ExecutablePlan on_cpu =
      plan({.permutation = maps::gray(10), .element_bytes = 4}, {.engine = Engine::cpu});
  EXPECT_EQ(on_cpu.map(), "");
  const ErrorReport report = report_of([&] { static_cast<void>(on_cpu.with_map("v * 2 + x")); });
  EXPECT_EQ(report.code, ErrorCode::unsupported);
  EXPECT_EQ(report.operation, "map `v * 2 + x`");
  EXPECT_THAT(report.got, HasSubstr("engine cpu"));
  EXPECT_THAT(report.wanted, HasSubstr("engine cuda"));
}

TEST(EmittedExecutorWithoutAGpu, SaysWhy) {
  if (status().available) GTEST_SKIP() << "a GPU is here";
  const emit::Source source = emit::emit(maps::gray(10));
  const std::string reason = status().reason;
  const std::vector<std::function<void()>> calls{
      [&] { EmittedExecutor{source}; },
      [&] { MappedExecutor({.permutation = maps::gray(10), .element_bytes = 4}, {.expression = "v"}); }};
  for (const auto& call : calls) {
    const ErrorReport report = report_of(call);
    EXPECT_EQ(report.code, ErrorCode::device);
    EXPECT_THAT(report.remedy, HasSubstr(reason));
  }
}

}  // namespace emitted_executor_test
}  // namespace faro::cuda

// Kernels with arithmetic as NVRTC gets them, and compiled kernels that are kept between processes.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <vector>

#include "engines/cuda/host/compiled_cache.hpp"
#include "engines/cuda/value_program.hpp"
#include "kernels/program_text.hpp"

namespace faro::value_source_test {

namespace fs = std::filesystem;

class ValueSources : public ::testing::Test {
 protected:
  void SetUp() override {
    const cuda::NvrtcStatus status = cuda::nvrtc_status();
    if (!status.available) GTEST_SKIP() << status.reason;
  }
};

template <typename Kernel>
void expect_compiles(const Kernel& kernel) {
  SCOPED_TRACE(cuda::type_text(kernel));
  EXPECT_EQ(cuda::compile_text(cuda::kernel_source(cuda::type_text(kernel)), 9, 0).code.substr(1, 3), "ELF");
}

// Groups of many arrays, with factors and without.
TEST_F(ValueSources, GroupsCompile) {
  const auto compiles = [](const cuda::ValueKernel& kernel) {
    const auto source = cuda::kernel_source(cuda::group_type_text(kernel));
    EXPECT_EQ(cuda::compile_text(source, 9, 0).code.substr(1, 3), "ELF") << cuda::type_text(kernel);
  };
  compiles({.from = Number::f32, .to = Number::bf16, .direct = true, .in = 4});
  compiles({.from = Number::bf16,
            .to = Number::f8_e4m3fn,
            .flags = kernels::ProgramStep::scale | kernels::ProgramStep::saturate,
            .in = 8,
            .out = 16,
            .rounds_first = true});
  compiles({.from = Number::f32, .to = Number::bf16, .in = 4, .out = 8, .copied = true});
}

// Each type from and to, each function of real and of complex numbers, each flag, order and vector.
TEST_F(ValueSources, EveryKindCompiles) {
  for (int n = 0; n < kNumbers; ++n) {
    const auto from = static_cast<Number>(n);
    const auto to = static_cast<Number>((n * 7 + 3) % kNumbers);
    const Number computed = computed_in({.from = from, .to = to});
    expect_compiles(cuda::ValueKernel{.from = from, .to = to, .computed = computed, .direct = n % 2 == 0});
  }
  for (int f = 0; f < kFunctions; ++f) {
    const auto function = static_cast<Function>(f);
    expect_compiles(cuda::ValueKernel{.function = function, .flags = kernels::ProgramStep::scale});
    if (function == Function::relu || function == Function::gelu) continue;
    expect_compiles(cuda::ValueKernel{
        .from = Number::c128, .to = Number::c64, .computed = Number::c128, .function = function});
  }
  for (const auto interleaved : {kernels::Interleaved::input, kernels::Interleaved::output}) {
    expect_compiles(cuda::ValueKernel{.from = Number::u8,
                                      .to = Number::f16,
                                      .direct = true,
                                      .columns = 3,
                                      .interleaved = interleaved,
                                      .in = 8});
  }
  expect_compiles(cuda::ValueKernel{.from = Number::i16,
                                    .to = Number::u8,
                                    .addend = Number::bf16,
                                    .flags = 127,
                                    .in = 8,
                                    .out = 8,
                                    .loads = kernels::ValueOrder::along_runs,
                                    .stores = kernels::ValueOrder::by_steps});
}

// Copied boxes, with each kind of factors and something added.
TEST_F(ValueSources, CopiedBoxesCompile) {
  for (const auto factors :
       {kernels::ValueFactorsOf::all, kernels::ValueFactorsOf::rows, kernels::ValueFactorsOf::runs}) {
    for (const bool aligned : {false, true}) {
      expect_compiles(cuda::ValueKernel{.from = Number::bf16,
                                        .to = Number::f8_e4m3fn,
                                        .flags = kernels::ProgramStep::scale,
                                        .in = 8,
                                        .out = 16,
                                        .copied = true,
                                        .aligned = aligned,
                                        .factors = factors});
    }
    expect_compiles(cuda::ValueKernel{.from = Number::u8,
                                      .to = Number::f64,
                                      .computed = Number::f64,
                                      .addend = Number::f16,
                                      .flags = kernels::ProgramStep::scale | kernels::ProgramStep::offset,
                                      .in = 4,
                                      .out = 2,
                                      .loads = kernels::ValueOrder::by_steps,
                                      .stores = kernels::ValueOrder::by_steps,
                                      .copied = true,
                                      .factors = factors});
  }
}

// Every step of an index array, changed as it is read and as it is written; and maps that are worked out.
TEST_F(ValueSources, StepsCompile) {
  using namespace detail;
  const auto steps_of = [](int bytes) {
    const IndexUnit single{bytes, true};
    const IndexUnit several{bytes, false};
    return std::vector<KernelId>{DirectKernel{bytes, 4, Way::forwards, DirectKind::vectors},
                                 DirectKernel{bytes, 8, Way::backwards, DirectKind::one},
                                 LevelKernel{single, Way::forwards, 0},
                                 LevelKernel{several, Way::backwards, 3},
                                 LevelKernel{single, Way::forwards, LevelKernel::kInGlobal},
                                 ChunkKernel{single, Way::backwards, ChunkPlace::large},
                                 ChunkKernel{several, Way::forwards, ChunkPlace::in_global},
                                 ColumnsKernel{bytes, Way::forwards, false},
                                 ColumnsKernel{bytes, Way::backwards, true},
                                 WindowKernel{bytes, false, true, false},
                                 WindowKernel{bytes, true, false, true},
                                 RunsKernel{bytes}};
  };
  const auto compiles = [](const std::string& type) {
    SCOPED_TRACE(type);
    EXPECT_EQ(cuda::compile_text(cuda::kernel_source(type), 9, 0).code.substr(1, 3), "ELF");
  };
  Arithmetic added{.from = Number::u8, .to = Number::f32, .offset = {{1, 2}, 0}};
  added.shape = {2, 8};
  added.addend = Addend{.number = Number::f16};
  for (const KernelId& id : steps_of(1))
    compiles(cuda::step_type_text(added, false, {.id = id, .params = {}}).value());
  for (const KernelId& id : steps_of(8)) {
    compiles(cuda::step_type_text({.from = Number::c128, .to = Number::c64}, true, {.id = id, .params = {}})
                 .value());
  }
  for (const char* const map :
       {"MoveModularTiles<1, std::uint32_t, false>", "MoveModularTiles<1, std::uint64_t, false>",
        "MoveComputedParts<faro::kernels::HilbertParts<0>, 1>",
        "MoveComputedParts<faro::kernels::HealpixParts, 1>"})
    compiles(cuda::map_type_text(added, false, map));
  EXPECT_FALSE(cuda::step_type_text(added, false, {.id = CyclicKernel{}, .params = {}}));
}

// Rows that are walked, of vectors, and elements of several arrays.
TEST_F(ValueSources, RowsCompile) {
  const std::string program =
      kernels::program_text(Arithmetic{.from = Number::f32, .to = Number::bf16, .scale = {{2.0}, {}}});
  for (const bool takes : {true, false}) {
    for (const int numbers : {1, 8}) {
      expect_compiles(
          cuda::RowValueKernel{.program = program, .takes = takes, .numbers = numbers, .along_axes = takes});
    }
    expect_compiles(cuda::RowValueKernel{.program = program, .takes = takes, .numbers = 1, .arrays = 4});
  }
  for (const char* const sum : {"OwnSum<unsigned short>", "WideSum<faro::kernels::BrainHalf, float>",
                                "CompensatedSum<faro::kernels::BrainHalf, float>"}) {
    const std::string stored = sum[0] == 'O' ? "unsigned short" : "faro::kernels::BrainHalf";
    const std::string type = "faro::kernels::SumRows<faro::kernels::" + std::string(sum) +
                             ", 8, faro::kernels::ChangedRows<" + program + ", " + stored + ", 8, true>>";
    SCOPED_TRACE(type);
    EXPECT_EQ(cuda::compile_text(cuda::kernel_source(type), 9, 0).code.substr(1, 3), "ELF");
  }
}

// Affine maps of some types, aligned and not.
TEST_F(ValueSources, TilesCompile) {
  for (const std::uint64_t alignment : {16, 8}) {
    for (const Arithmetic& of :
         {Arithmetic{.from = Number::f32, .to = Number::bf16, .scale = {{0.5}, {}}},
          Arithmetic{.from = Number::u8, .to = Number::f64},
          Arithmetic{.from = Number::f32, .to = Number::bf16, .scale = {{0.5, 2}, 0}, .shape = {2, 1 << 20}},
          Arithmetic{.from = Number::f32, .to = Number::f16, .addend = Addend{.number = Number::c64}},
          Arithmetic{.from = Number::c64, .to = Number::c64, .function = Function::conjugate}}) {
      const auto plan = faro::detail::make_value_tile_plan(maps::bit_reversal(20), 2, of);
      ASSERT_TRUE(plan.has_value());
      const auto tiles =
          faro::detail::make_value_tiles(*plan, {.in = alignment, .out = 16, .addend = alignment});
      const std::string type = cuda::tile_type_text(of, tiles);
      SCOPED_TRACE(type);
      EXPECT_EQ(cuda::compile_text(cuda::kernel_source(type), 9, 0).code.substr(1, 3), "ELF");
    }
  }
}

// Each format, wide type and way, by the widest vectors and the narrowest.
TEST_F(ValueSources, ScaledBlocksCompile) {
  int i = 0;
  for (int format = 0; format < 4; ++format) {
    for (const Number wide : {Number::f32, Number::f16, Number::bf16}) {
      for (const bool back : {false, true}) {
        const auto of = static_cast<BlockFormat>(format);
        const int least = bits_of(of) == 4 ? 2 : 1;
        const bool narrow = ++i % 2 == 0;
        const int most = static_cast<int>(16 / bytes_of(wide));
        expect_compiles(cuda::BlockKernel{.wide = wide,
                                          .format = of,
                                          .back = back,
                                          .in = back ? (narrow ? least : 16) : (narrow ? 1 : most),
                                          .out = back ? (narrow ? 1 : most) : (narrow ? least : 16),
                                          .loads = static_cast<kernels::ValueOrder>(i % 3)});
      }
    }
  }
}

// Tiles of blocks: each format, wide type, way, and what lies together on either side, with the widest
// vectors.
TEST_F(ValueSources, TilesOfBlocksCompile) {
  constexpr Number kWides[] = {Number::f32, Number::f16, Number::bf16};
  for (int i = 0; i < 12; ++i) {
    const auto format = static_cast<BlockFormat>(i % 4);
    const auto block = static_cast<int>(block_of(format));
    const bool back = i / 4 % 2 == 0;
    const Number wide = kWides[i % 3];
    const int most = 256 / block / static_cast<int>(bytes_of(wide));
    const bool wide_along = i % 2 == 0;
    expect_compiles(cuda::BlockTileKernel{.wide = wide,
                                          .format = format,
                                          .back = back,
                                          .part = back && wide_along ? 4 : block,
                                          .vector = back && wide_along ? 16 : most,
                                          .wide_along = wide_along,
                                          .data_along = i / 2 % 2 == 0});
  }
}

class KeptKernels : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("faro-kept-" + std::to_string(::getpid()));
    fs::remove_all(folder_);
    if (const char* const before = std::getenv("FARO_CACHE")) before_ = before;
    ::setenv("FARO_CACHE", folder_.c_str(), 1);
  }
  void TearDown() override {
    if (before_.empty()) {
      ::unsetenv("FARO_CACHE");
    } else {
      ::setenv("FARO_CACHE", before_.c_str(), 1);
    }
    fs::remove_all(folder_);
  }
  fs::path only_file() const { return fs::directory_iterator(folder_ / "kernels")->path(); }

  fs::path folder_;
  std::string before_;
};

TEST_F(KeptKernels, ComeBackAsTheyWere) {
  const std::string code(
      "\x7f"
      "ELF\0 5 code",
      12);
  EXPECT_FALSE(cuda::kept_kernel("key"));
  cuda::keep_kernel("key", {.code = code, .lowered = {{"f<1>", "_Z1f"}, {"", "x"}}});
  const auto kept = cuda::kept_kernel("key");
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->code, code);
  EXPECT_EQ(kept->lowered.at("f<1>"), "_Z1f");
  EXPECT_EQ(kept->lowered.size(), 2U);
  EXPECT_FALSE(cuda::kept_kernel("kez"));
  struct stat is {};
  ASSERT_EQ(::stat(only_file().c_str(), &is), 0);
  EXPECT_EQ(is.st_mode & 0777, 0600U);
}

TEST_F(KeptKernels, DamagedFilesAreNotTaken) {
  cuda::keep_kernel("key", {.code = "abcdef", .lowered = {{"f", "g"}}});
  std::ifstream file(only_file(), std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const auto put = [&](const std::string& text) {
    std::ofstream(only_file(), std::ios::binary | std::ios::trunc) << text;
    return cuda::kept_kernel("key").has_value();
  };
  EXPECT_TRUE(put(whole));
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string changed = whole;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    EXPECT_FALSE(put(changed)) << "byte " << i;
    EXPECT_FALSE(put(whole.substr(0, i))) << "cut at " << i;
  }
  EXPECT_FALSE(put(whole + "1"));
}

TEST_F(KeptKernels, FoldersOfOthersAreLeftAlone) {
  cuda::keep_kernel("key", {.code = "abc"});
  ASSERT_EQ(::chmod((folder_ / "kernels").c_str(), 0777), 0);
  EXPECT_FALSE(cuda::kept_kernel("key"));
  cuda::keep_kernel("other", {.code = "abc"});
  ASSERT_EQ(::chmod((folder_ / "kernels").c_str(), 0700), 0);
  EXPECT_TRUE(cuda::kept_kernel("key"));
  EXPECT_FALSE(cuda::kept_kernel("other"));
}

}  // namespace faro::value_source_test

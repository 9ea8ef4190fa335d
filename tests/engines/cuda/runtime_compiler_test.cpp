// The run-time compiler without a GPU: texts that compile and texts that do not, with NVRTC's own words; the
// cache of modules on values of its own. tests/gpu/gpu_emitted_test.cpp runs what was compiled.
#include "faro/engines/runtime_compiler.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "engines/cuda/host/module_cache.hpp"
#include "faro/engines/cuda.hpp"
#include "faro/error.hpp"
#include "refusal.hpp"

namespace faro::cuda {
namespace runtime_compiler_test {

using ::testing::HasSubstr;
using ::testing::Not;

class RuntimeCompiler : public ::testing::Test {
 protected:
  void SetUp() override {
    const NvrtcStatus status = nvrtc_status();
    if (!status.available) GTEST_SKIP() << status.reason;
  }
};

const RuntimeSource kScale{
    .text = R"(#include <cstdint>
#include "scale.hpp"
template <int factor> __global__ void scale(const std::uint32_t* in, uint32_t* out) {
  out[threadIdx.x] = factor * OFFSET + scaled(in[threadIdx.x]);
}
extern "C" __global__ void plain(const uint32_t* in, std::uint32_t* out) { out[threadIdx.x] = in[threadIdx.x]; }
)",
    .file_name = "scale.cu",
    .headers = {{"scale.hpp",
                 "#pragma once\n__device__ inline unsigned scaled(unsigned v) { return 2 * v; }\n"}},
    .options = {"-DOFFSET=3"},
    .name_expressions = {"scale<4>", "scale<(1 << 3)>"}};

ErrorReport refusal(const RuntimeSource& source, int major = 9, int minor = 0) {
  SCOPED_TRACE(source.text);
  return test::report_of([&] { static_cast<void>(compile_text(source, major, minor)); });
}

TEST_F(RuntimeCompiler, CompilesTextHeadersOptionsAndTemplates) {
  const CompiledText compiled = compile_text(kScale, 9, 0);
  EXPECT_EQ(compiled.code.substr(0, 4),
            "\x7f"
            "ELF");  // a cubin
  ASSERT_EQ(compiled.lowered.size(), 2U);
  EXPECT_EQ(compiled.lowered.at("scale<4>"), "_Z5scaleILi4EEvPKjPj");
  EXPECT_EQ(compiled.lowered.at("scale<(1 << 3)>"), "_Z5scaleILi8EEvPKjPj");
  EXPECT_THAT(compiled.code, HasSubstr("_Z5scaleILi8EEvPKjPj"));
  EXPECT_THAT(compiled.code, HasSubstr("plain"));
}

TEST_F(RuntimeCompiler, CompilesForEveryArchitectureOfTheEngine) {
  const RuntimeSource source{.text = "extern \"C\" __global__ void k(int* p) { *p = 1; }"};
  for (const auto& [major, minor] : {std::pair(8, 0), std::pair(8, 9), std::pair(9, 0), std::pair(10, 0)}) {
    EXPECT_EQ(compile_text(source, major, minor).code.substr(1, 3), "ELF") << major << "." << minor;
  }
  // One that it cannot know yet is given PTX, which its driver compiles.
  EXPECT_THAT(compile_text(source, 99, 0).code, HasSubstr(".visible .entry k("));
}

TEST_F(RuntimeCompiler, BringsTheTypesOfTheStandardHeaders) {
  for (const std::string header : {"<cstdint>", "<stdint.h>", "<cstddef>", "<stddef.h>"}) {
    EXPECT_NO_THROW(compile_text({.text = "#include " + header + "\n"}, 9, 0)) << header;
  }
  const std::string sizes = R"(#include <cstddef>
#include <cstdint>
#include <stdint.h>
static_assert(sizeof(int8_t) == 1 && sizeof(uint16_t) == 2 && sizeof(std::int32_t) == 4 && sizeof(uint64_t) == 8);
static_assert(int8_t(-1) < 0 && std::uint8_t(-1) > 0 && sizeof(std::size_t) == 8 && sizeof(std::byte) == 1);
)";
  EXPECT_NO_THROW(compile_text({.text = sizes}, 9, 0));
  // A header of the caller's own of that name is taken instead.
  EXPECT_NO_THROW(compile_text({.text = "#include <cstdint>\nstatic_assert(own == 1);\n",
                                .headers = {{"cstdint", "constexpr int own = 1;\n"}}},
                               9, 0));
}

TEST_F(RuntimeCompiler, HandsOverTheCompilersFirstErrorAndItsLog) {
  const ErrorReport report =
      refusal({.text = "extern \"C\" __global__ void k(int* p) {\n  *p = w + 1;\n  *p = u;\n}\n",
               .file_name = "map.cu"});
  EXPECT_EQ(report.code, ErrorCode::value);
  EXPECT_EQ(report.got, "map.cu(2): error: identifier \"w\" is undefined");
  EXPECT_THAT(report.remedy, HasSubstr("*p = w + 1;"));
  EXPECT_THAT(report.remedy, HasSubstr("map.cu(3): error: identifier \"u\" is undefined"));
  EXPECT_THAT(report.remedy, HasSubstr("2 errors detected"));
  EXPECT_THAT(std::string(Error(report).what()), Not(HasSubstr("\n")));
}

TEST_F(RuntimeCompiler, WarningsAreNoErrors) {
  EXPECT_NO_THROW(
      compile_text({.text = "extern \"C\" __global__ void k(int* p) { int unused; *p = 1; }"}, 9, 0));
}

TEST_F(RuntimeCompiler, RefusesWhatItCannotCompile) {
  EXPECT_THAT(refusal({.text = "#include <vector>\n"}).got, HasSubstr("\"vector\""));
  EXPECT_EQ(refusal({.text = "", .options = {"--no-such-option"}}).code, ErrorCode::value);
  EXPECT_THAT(refusal({.text = "", .options = {"--no-such-option"}}).remedy, HasSubstr("no-such-option"));
  EXPECT_EQ(refusal({.text = "template <int> void f();", .name_expressions = {"g<1>"}}).code,
            ErrorCode::value);
  EXPECT_EQ(refusal({.text = ""}, 2, 0).code, ErrorCode::device);
}

TEST_F(RuntimeCompiler, ManyThreadsAtOnce) {
  std::atomic<int> right = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([i, &right] {
      const std::string name = "kernel_" + std::to_string(i);
      const RuntimeSource source{.text = "extern \"C\" __global__ void " + name + "(int* p) { *p = 1; }"};
      if (compile_text(source, 9, 0).code.find(name) != std::string::npos) ++right;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 4);
}

TEST(RuntimeSourceKey, TellsSourcesApart) {
  RuntimeSource source = kScale;
  const std::string key = source.key();
  EXPECT_EQ(key, kScale.key());
  const auto differs = [&](const auto& change) {
    source = kScale;
    change();
    return source.key() != key;
  };
  EXPECT_TRUE(differs([&] { source.text += ' '; }));
  EXPECT_TRUE(differs([&] { source.file_name = "other.cu"; }));
  EXPECT_TRUE(differs([&] { source.headers[0].second += '\n'; }));
  EXPECT_TRUE(differs([&] { source.headers.clear(); }));
  EXPECT_TRUE(differs([&] { source.options = {"-DOFFSET=4"}; }));
  EXPECT_TRUE(differs([&] { std::swap(source.name_expressions[0], source.name_expressions[1]); }));
  EXPECT_TRUE(differs([&] { std::swap(source.options, source.name_expressions); }));
}

// Found by its environment in a process of its own, since a library is looked for once.
TEST(RuntimeCompilerDeathTest, SaysThatNvrtcIsMissing) {
  ::testing::GTEST_FLAG(death_test_style) = "threadsafe";
  const auto compile_without = [] {
    setenv("FARO_NVRTC", "/nowhere/libnvrtc.so", 1);
    try {
      static_cast<void>(compile_text({.text = ""}, 9, 0));
    } catch (const Error& error) {
      std::fprintf(stderr, "%d %s", static_cast<int>(error.code() == ErrorCode::device), error.what());
      std::exit(7);
    }
  };
  EXPECT_EXIT(compile_without(), ::testing::ExitedWithCode(7),
              "1 compile for the device: got NVRTC not found: FARO_NVRTC names /nowhere");
}

TEST(RuntimeModules, NeedADevice) {
  if (status().available) GTEST_SKIP() << "a GPU is here: gpu_test runs what is compiled";
  test::expect_refused(ErrorCode::device, "cuda: ", [&] { static_cast<void>(compile(kScale, 0)); });
}

// --- the cache

struct Counted {
  explicit Counted(int& alive) : alive_(alive) { ++alive_; }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  ~Counted() { --alive_; }

 private:
  int& alive_;
};

TEST(ModuleCacheTest, KeepsTheMostRecentlyUsed) {
  int alive = 0;
  int made = 0;
  ModuleCache<Counted> cache(2);
  const auto get = [&](const std::string& key) {
    return cache.get(key, [&] {
      ++made;
      return std::make_shared<const Counted>(alive);
    });
  };
  get("A");
  get("B");
  EXPECT_EQ(made, 2);
  get("A");
  EXPECT_EQ(made, 2);
  get("C");  // forgets B
  EXPECT_EQ(made, 3);
  EXPECT_EQ(cache.size(), 2U);
  EXPECT_EQ(alive, 2);
  get("A");
  EXPECT_EQ(made, 3);
  get("B");
  EXPECT_EQ(made, 4);
}

TEST(ModuleCacheTest, WhoHoldsAValueKeepsItAlive) {
  int alive = 0;
  ModuleCache<Counted> cache(64);
  const auto make = [&] { return std::make_shared<const Counted>(alive); };
  const auto held = cache.get("held", make);
  for (int i = 0; i < 1000; ++i) {
    cache.get(std::to_string(i), make);
    ASSERT_LE(cache.size(), 64U);
  }
  EXPECT_EQ(alive, 65);
  EXPECT_NE(cache.get("held", make), held);  // forgotten, so made again
}

TEST(ModuleCacheTest, FailuresAreNotKept) {
  int alive = 0;  // outlives the cache
  int calls = 0;
  ModuleCache<Counted> cache(2);
  const auto fail = [&]() -> std::shared_ptr<const Counted> {
    ++calls;
    throw Error({.code = ErrorCode::value, .operation = "make", .got = "a", .wanted = "b", .remedy = ""});
  };
  EXPECT_THROW(cache.get("A", fail), Error);
  EXPECT_THROW(cache.get("A", fail), Error);
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(cache.size(), 0U);
  EXPECT_NE(cache.get("A", [&] { return std::make_shared<const Counted>(alive); }), nullptr);
}

TEST(ModuleCacheTest, ThreadsThatAskForOneKeyWaitForOneOfThem) {
  struct Value {};
  ModuleCache<Value> cache(4);
  std::atomic<int> made = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 100; ++k) {
        const auto value = cache.get(std::to_string(k % 4), [&] {
          ++made;
          std::this_thread::yield();
          return std::make_shared<const Value>();
        });
        EXPECT_NE(value, nullptr);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(made, 4);
}

}  // namespace runtime_compiler_test
}  // namespace faro::cuda

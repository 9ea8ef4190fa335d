// Emitted texts and their compilers: nvcc takes every rung and launcher as they are, the portable form
// compiles without a warning and runs on its own.
// Sanitized: never, the same few lines, tables or texts.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "emitted/emitted_check.hpp"
#include "faro/permutation/affine.hpp"
#include "text_search.hpp"

namespace faro::testing {
namespace emit_compile_test {

using emit::Language;
using emit::Options;
using emit::Rung;

constexpr Rung kRungs[] = {Rung::naive, Rung::tile, Rung::banks, Rung::iters, Rung::two_pass, Rung::one_pass};

bool takes_any_map(Rung rung) {
  return rung == Rung::naive || rung == Rung::two_pass || rung == Rung::one_pass;
}

std::string write(const ScratchDirectory& scratch, const std::string& name, const std::string& text) {
  const std::filesystem::path path = scratch.path() / name;
  std::ofstream(path) << text;
  return "'" + path.string() + "'";
}

// Runs a compiler, whose words are the failure's.
bool compiles(const ScratchDirectory& scratch, const std::string& command) {
  try {
    const std::string said = run_command(command, scratch.path() / "log");
    EXPECT_EQ(said, "") << command;
    return true;
  } catch (const std::exception& error) {
    ADD_FAILURE() << error.what();
    return false;
  }
}

// --- nvcc

#if defined(FARO_TEST_NVCC)
const std::string kNvcc = std::string("'") + FARO_TEST_NVCC + "'";
#else
const std::string kNvcc;
#endif
constexpr const char* kNoNvcc = "this build has no CUDA compiler";

TEST(EmitCompile, NvccTakesEveryRung) {
  if (kNvcc.empty()) GTEST_SKIP() << kNoNvcc;
  std::string all;
  int number = 0;
  const auto add = [&](const Affine& map, Rung rung, const std::string& element,
                       const std::string& function) {
    Options options;
    options.rung = rung;
    options.element = element;
    options.name = "k" + std::to_string(number++);
    options.map = function;
    all += emit::emit(map, options).text + "\n";
  };
  for (const Rung rung : kRungs) {
    for (const int n : {15, 34}) {
      if (n > 32 && rung == Rung::naive) continue;
      const Affine map = takes_any_map(rung) ? maps::random_bmmc(n, 1) : maps::random_bpc(n, 1);
      for (const char* element : {"uint8_t", "float", "double2"}) {
        if (n > 32 && std::string(element) != "double2") continue;
        add(map, rung, element, "");
      }
    }
    add(maps::bit_reversal(20), rung, "uint32_t", "v * 3 + (x ^ y)");
    add(maps::random_bp(20, 3), rung, "__half", "__hadd(v, __float2half(1.0f))");
    add(Affine(0), takes_any_map(rung) ? rung : Rung::naive, "float2", "make_float2(v.y, x)");
  }
  const ScratchDirectory scratch;
  const std::string file = write(scratch, "all.cu", all);
  compiles(scratch, kNvcc + " -Werror all-warnings -arch=sm_90 -c " + file + " -o '" +
                        (scratch.path() / "all.o").string() + "'");
}

// Calls each launcher: what it refuses on any machine and, where there is a GPU, what it does.
constexpr const char* kMain = R"(
#include <cstdint>
#include <cstdio>
#include <vector>

struct Program {
  cudaError_t (*launch)(const void*, void*, void*, cudaStream_t);
  size_t workspace_bytes;
};

int main() {
  const Program programs[] = {PROGRAMS};
  for (const Program& p : programs) {
    std::printf("%zu\n", p.workspace_bytes);
    if (p.launch(nullptr, nullptr, nullptr, nullptr) != cudaErrorInvalidValue) return 1;
  }
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) return 0;
  const uint32_t count = 1u << BITS;
  std::vector<uint32_t> in(count), out(count);
  for (uint32_t x = 0; x < count; ++x) in[x] = x;
  uint32_t *device_in, *device_out, *workspace;
  if (cudaMalloc(&device_in, 4 * count) || cudaMalloc(&device_out, 4 * count) || cudaMalloc(&workspace, 4 * count)) return 2;
  if (cudaMemcpy(device_in, in.data(), 4 * count, cudaMemcpyDefault)) return 3;
  for (const Program& p : programs) {
    if (p.launch(reinterpret_cast<char*>(device_in) + 1, device_out, workspace, nullptr) != cudaErrorInvalidValue) return 4;
    if (p.workspace_bytes && p.launch(device_in, device_out, nullptr, nullptr) != cudaErrorInvalidValue) return 5;
    if (cudaMemset(device_out, 0xa5, 4 * count)) return 6;
    if (p.launch(device_in, device_out, workspace, nullptr)) return 7;
    if (cudaDeviceSynchronize() || cudaMemcpy(out.data(), device_out, 4 * count, cudaMemcpyDefault)) return 8;
    for (uint32_t x = 0; x < count; ++x) {
      uint32_t y = 0;
      for (int i = 0; i < BITS; ++i) y |= (x >> i & 1u) << (BITS - 1 - i);
      if (out[y] != x) return 9;
    }
  }
  std::puts("on a GPU");
  return 0;
}
)";

using test::replaced;

TEST(EmitCompile, LaunchersAreWholePrograms) {
  if (kNvcc.empty()) GTEST_SKIP() << kNoNvcc;
  constexpr int bits = 18;
  std::string all;
  std::string programs;
  std::string expected;
  for (const Rung rung : kRungs) {
    Options options;
    options.rung = rung;
    options.name = std::string("launched_") + std::to_string(static_cast<int>(rung));
    options.launcher = true;
    const emit::Source source = emit::emit(maps::bit_reversal(bits), options);
    all += source.text + "\n";
    programs += "{" + options.name + "_launch, " + options.name + "_workspace_bytes()}, ";
    expected += std::to_string(source.workspace_bytes) + "\n";
  }
  all += replaced(replaced(kMain, "PROGRAMS", programs), "BITS", std::to_string(bits));
  const ScratchDirectory scratch;
  const std::string file = write(scratch, "program.cu", all);
  const std::string program = "'" + (scratch.path() / "program").string() + "'";
  if (!compiles(scratch, kNvcc + " -Werror all-warnings -arch=sm_90 " + file + " -o " + program)) return;
  std::string said;
  ASSERT_NO_THROW(said = run_command(program, scratch.path() / "said"));
  EXPECT_EQ(said.substr(0, expected.size()), expected);
}

// --- the portable form

TEST(EmitCompile, PortableFormIsCleanAndPermutes) {
  struct Portable {
    EmittedCase asked;
    std::uint64_t width;
  };
  const auto plus_x = [](std::byte* bytes, std::uint64_t x, std::uint64_t y) {
    std::uint32_t v = 0;
    std::memcpy(&v, bytes, 4);
    v = static_cast<std::uint32_t>(v + 5 * x + y);
    std::memcpy(bytes, &v, 4);
  };
  std::vector<Portable> list;
  std::string all;
  std::uint64_t seed = 40;
  const auto add = [&](EmittedCase c) {
    c.options.language = Language::cpp;
    c.options.name = "portable" + std::to_string(list.size());
    const emit::Source source = emit::emit(c.map, c.options);
    EXPECT_TRUE(source.kernels.empty());
    all += source.text + "\n";
    list.push_back({.asked = c, .width = source.element_bytes});
  };
  for (const char* element : {"uint8_t", "int16_t", "float", "uint64_t", "double"}) {
    for (const int n : {0, 1, 3, 8, 14}) {
      EmittedCase c{.map = n % 2 == 0 ? maps::random_bmmc(n, ++seed) : maps::random_bpc(n, ++seed)};
      c.options.element = element;
      add(c);
    }
  }
  for (const int n : {2, 12}) {
    EmittedCase c{.map = maps::random_bmmc(n, ++seed), .options = {}, .function = plus_x};
    c.options.map = "v + 5 * static_cast<uint32_t>(x) + static_cast<uint32_t>(y)";
    add(c);
  }
  add({.map = maps::bit_reversal(16)});
  add({.map = maps::transpose(128, 64)});

  const ScratchDirectory scratch;
  const std::string file = write(scratch, "portable.cpp", all);
  const std::filesystem::path library = scratch.path() / "portable.so";
  if (!compiles(scratch,
                "'" FARO_TEST_CXX "'"
                " -std=c++17 -O1 -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror -fPIC -shared " +
                    file + " -o '" + library.string() + "'")) {
    return;
  }
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(handle, nullptr) << dlerror();
  std::mt19937_64 random(5);
  for (const Portable& p : list) {
    SCOPED_TRACE(describe(p.asked));
    const std::uint64_t count = std::uint64_t{1} << p.asked.map.bits();
    std::vector<std::byte> in(count * p.width);
    for (std::byte& b : in) b = static_cast<std::byte>(random());
    const std::vector<std::byte> kept = in;
    std::vector<std::byte> out(in.size() + 128, std::byte{0xa5});
    using Function = void (*)(const void*, void*);
    auto* function = reinterpret_cast<Function>(dlsym(handle, p.asked.options.name.c_str()));
    ASSERT_NE(function, nullptr);
    function(in.data(), out.data() + 64);
    EXPECT_EQ(in, kept);
    for (std::size_t i = 0; i < 64; ++i) {
      ASSERT_TRUE(out[i] == std::byte{0xa5} && out[out.size() - 1 - i] == std::byte{0xa5})
          << "outside the output";
    }
    for (std::uint64_t x = 0; x < count; ++x) {
      std::byte v[16];
      std::memcpy(v, &in[x * p.width], p.width);
      const std::uint64_t y = p.asked.map(x);
      if (p.asked.function) p.asked.function(v, x, y);
      ASSERT_EQ(std::memcmp(v, &out[64 + y * p.width], p.width), 0)
          << "in[" << x << "] is not at out[" << y << "]";
    }
  }
  dlclose(handle);
}

}  // namespace emit_compile_test
}  // namespace faro::testing

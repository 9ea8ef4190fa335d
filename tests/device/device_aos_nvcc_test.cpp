// Arrays of structures, compiled by nvcc as a kernel's author would: nothing in local memory for any size of
// struct, the shuffles that the header promises, and the words of its refusals.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <utility>

#include "emitted/emitted_library.hpp"
#include "faro/device/aos.hpp"
#include "text_search.hpp"

namespace faro::testing {
namespace device_aos_nvcc_test {

#if defined(FARO_TEST_NVCC)
const std::string kNvcc = std::string("'") + FARO_TEST_NVCC + "' -std=c++20 -Werror all-warnings";
#else
const std::string kNvcc;
#endif
constexpr const char* kNoNvcc = "this build has no CUDA compiler";

const std::string kInclude = " -I'" + (std::filesystem::path(FARO_SOURCE_DIR) / "include").string() + "'";

// Kernels by name: what they do, words of a struct, promised alignment.
constexpr const char* kKernels = R"(
#include "faro/device/aos.hpp"

namespace aos = faro::device::aos;
using Word = unsigned;

template <int words>
struct Struct {
  Word word[words];
};

__device__ unsigned long long thread() { return blockIdx.x * 256ULL + threadIdx.x; }

#define STEP(name, words, alignment)                                                                    \
  extern "C" __global__ void step_##name(Struct<words>* array, unsigned long long count) {              \
    auto value = aos::load<Struct<words>, alignment>(array, thread(), count);                           \
    value.word[0] += value.word[words - 1];                                                             \
    aos::store<Struct<words>, alignment>(array, thread(), value, count);                                \
  }
#define GATHER(name, words, alignment, Index)                                                           \
  extern "C" __global__ void gather_##name(Struct<words>* array, const Index* indices, bool wanted) {   \
    const Index index = indices[thread()];                                                              \
    auto value = aos::gather<Struct<words>, alignment>(array, index, wanted);                           \
    value.word[0] += value.word[words - 1];                                                             \
    aos::scatter<Struct<words>, alignment>(array, index, value, wanted);                                \
  }
#define PLANES(name, words, alignment)                                                                  \
  extern "C" __global__ void planes_##name(Struct<words>* array, Word* planes, unsigned long long n) {  \
    aos::to_planes<Struct<words>, alignment>(array, planes, n, thread(), n);                            \
    aos::from_planes<Struct<words>, alignment>(planes + words * n, array + n, n, thread());             \
  }

STEP(1, 1, 4) STEP(2, 2, 4) STEP(3, 3, 4) STEP(4, 4, 4) STEP(5, 5, 4) STEP(6, 6, 4) STEP(8, 8, 4) STEP(12, 12, 4)
STEP(16, 16, 4) STEP(32, 32, 4) STEP(4_16, 4, 16) STEP(12_16, 12, 16)
GATHER(3, 3, 4, unsigned) GATHER(5_long, 5, 4, unsigned long long) GATHER(16_16, 16, 16, unsigned)
PLANES(3, 3, 4) PLANES(8, 8, 4) PLANES(24_16, 24, 16)

struct Mixed {
  double position;
  float mass;
  short kind;
  char flag[2];
};
extern "C" __global__ void plain_calls(Mixed* array, int shift) {
  Mixed value = aos::load(array, thread());
  value.mass += static_cast<float>(value.kind) + static_cast<float>(value.position) + value.flag[1];
  aos::store(array, thread() + 32, value);
  aos::scatter(array, shift, aos::gather<Mixed>(array, threadIdx.x));
}
)";

// The texts of the kernels in PTX, by name.
std::map<std::string, std::string> kernels_of(const std::string& ptx) {
  std::map<std::string, std::string> kernels;
  std::string name;
  std::istringstream lines(ptx);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t at = line.find(".entry ");
    if (at != std::string::npos) name = line.substr(at + 7, line.find('(') - at - 7);
    if (!name.empty()) kernels[name] += line + "\n";
  }
  return kernels;
}

using test::occurrences;

TEST(DeviceAosNvcc, NothingIsInLocalMemory) {
  if (kNvcc.empty()) GTEST_SKIP() << kNoNvcc;
  const ScratchDirectory scratch;
  const auto path = [&](const std::string& name) { return "'" + (scratch.path() / name).string() + "'"; };
  std::ofstream(scratch.path() / "aos.cu") << kKernels;
  run_command(kNvcc + kInclude + " -arch=compute_80 -ptx -o " + path("aos.ptx") + " " + path("aos.cu"),
              scratch.path() / "log");
  const std::string ptx = read_text(scratch.path() / "aos.ptx");
  EXPECT_EQ(ptx.find(".local"), std::string::npos);
  const auto kernels = kernels_of(ptx);
  ASSERT_EQ(kernels.size(), 19U);

  // A shuffle a word and way, none for a struct of one unit; of indices one, of eight bytes two, an access
  // and way.
  const std::map<std::string, int> shuffles{{"step_1", 0},        {"step_2", 4},
                                            {"step_3", 6},        {"step_12", 24},
                                            {"step_32", 64},      {"step_4_16", 0},
                                            {"step_4", 8},        {"step_12_16", 24},
                                            {"gather_3", 6 + 6},  {"gather_5_long", 10 + 20},
                                            {"gather_16_16", 40}, {"planes_3", 0},
                                            {"planes_8", 0},      {"planes_24_16", 0}};
  for (const auto& [name, expected] : shuffles) {
    ASSERT_TRUE(kernels.contains(name)) << name;
    EXPECT_EQ(occurrences(kernels.at(name), "shfl.sync"), expected) << name;
  }
  EXPECT_GE(occurrences(kernels.at("step_12_16"), ".v4.u32"), 6);

  for (const std::string arch : {"sm_80", "sm_90"}) {
    std::string command = kNvcc + " -Xptxas -v -cubin -o " + path("aos.cubin") + " " + path("aos.ptx");
    command += " -arch=";
    command += arch;
    const std::string said = run_command(command, scratch.path() / "log");
    EXPECT_EQ(occurrences(said, " 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads"), 19)
        << said;
    EXPECT_EQ(occurrences(said, "bytes stack frame"), 19) << said;
  }
}

// The command that prints a cubin's machine code, of nvcc's toolkit or of PATH; empty where there is none.
std::string disassembler() {
#if defined(FARO_TEST_NVCC)
  const std::filesystem::path beside_nvcc = std::filesystem::path(FARO_TEST_NVCC).parent_path();
  for (const auto& [tool, option] : {std::pair{"nvdisasm", " -c "}, std::pair{"cuobjdump", " -sass "}}) {
    if (exists(beside_nvcc / tool)) return "'" + (beside_nvcc / tool).string() + "'" + option;
    if (std::system(("command -v " + std::string(tool) + " > /dev/null").c_str()) == 0)
      return tool + std::string(option);
  }
#endif
  return "";
}

// An array indexed at run time, which has to be in local memory: what the test below must see.
constexpr const char* kIndexed = R"(
extern "C" __global__ void indexed(unsigned* words, int first) {
  unsigned local[64];
  for (int i = 0; i < 64; ++i) local[i] = words[i];
  for (int i = 0; i < 64; ++i) words[i] = local[(first * i) & 63];
}
)";

TEST(DeviceAosNvcc, NothingOfTheMachineCodeAccessesLocalMemory) {
  if (kNvcc.empty()) GTEST_SKIP() << kNoNvcc;
  const std::string disassemble = disassembler();
  if (disassemble.empty()) GTEST_SKIP() << "neither nvdisasm nor cuobjdump is beside nvcc or in PATH";
  const ScratchDirectory scratch;
  const auto path = [&](const std::string& name) { return "'" + (scratch.path() / name).string() + "'"; };
  std::ofstream(scratch.path() / "aos.cu") << kKernels;
  std::ofstream(scratch.path() / "indexed.cu") << kIndexed;
  const std::regex local("\\b(LDL|STL)\\b");
  for (const std::string arch : {"sm_80", "sm_90"}) {
    const auto machine_code = [&](const std::string& name) {
      run_command(kNvcc + kInclude + " -arch=" + arch + " -cubin -o " + path("cubin") + " " + path(name),
                  scratch.path() / "log");
      return run_command(disassemble + path("cubin"), scratch.path() / "log");
    };
    const std::string code = machine_code("aos.cu");
    EXPECT_GT(occurrences(code, "SHFL"), 200) << "is this the machine code?";
    std::smatch found;
    EXPECT_FALSE(std::regex_search(code, found, local)) << arch << ": " << found.str();
    EXPECT_TRUE(std::regex_search(machine_code("indexed.cu"), local)) << arch;
  }
}

// The kernels of docs/guide/aos.md, where the page is still where it was.
TEST(DeviceAosNvcc, TheDocumentedKernels) {
  if (kNvcc.empty()) GTEST_SKIP() << kNoNvcc;
  const auto page = std::filesystem::path(FARO_SOURCE_DIR) / "docs" / "guide" / "aos.md";
  const std::string text = read_text(page);
  const std::string fence = "```cuda\n";
  const std::size_t begin = text.find(fence);
  ASSERT_NE(begin, std::string::npos) << page;
  const std::size_t end = text.find("```", begin + fence.size());
  const ScratchDirectory scratch;
  std::ofstream(scratch.path() / "page.cu") << text.substr(begin + fence.size(), end - begin - fence.size());
  run_command(kNvcc + kInclude + " -arch=sm_90 -ptx -o '" + (scratch.path() / "page.ptx").string() + "' '" +
                  (scratch.path() / "page.cu").string() + "'",
              scratch.path() / "log");
  const auto kernels = kernels_of(read_text(scratch.path() / "page.ptx"));
  EXPECT_EQ(kernels.size(), 3U);
}

constexpr const char* kRefused = R"(
#include "faro/device/aos.hpp"

struct Odd { char byte[6]; };
struct Huge { unsigned word[33]; };
struct Bytes { char byte[8]; };
struct Empty {};
struct Owner { unsigned word[2]; __device__ ~Owner() {} };

template <typename T>
__device__ void touch(T* array) { faro::device::aos::scatter(array, 0, faro::device::aos::gather(array, 1)); }
__global__ void refused(Odd* odd, Huge* huge, Bytes* bytes, Empty* empty, Owner* owner) {
  touch(odd);
  touch(huge);
  touch(bytes);
  touch(empty);
  touch(owner);
}
__global__ void accepted(Bytes* bytes) { faro::device::aos::load<Bytes, 4>(bytes, threadIdx.x); }
)";

TEST(DeviceAosNvcc, RefusesInWords) {
  if (kNvcc.empty()) GTEST_SKIP() << kNoNvcc;
  const ScratchDirectory scratch;
  std::ofstream(scratch.path() / "refused.cu") << kRefused;
  std::string said;
  try {
    run_command(kNvcc + kInclude + " -arch=sm_90 -ptx -o /dev/null '" +
                    (scratch.path() / "refused.cu").string() + "'",
                scratch.path() / "log");
  } catch (const std::exception&) {
    said = read_text(scratch.path() / "log");
  }
  for (const std::string words : {"must be a multiple of the 4-byte word", "1 to 32 words",
                                  "an empty struct has none", "must be trivially copyable", "load<T, 4>"}) {
    EXPECT_NE(said.find(words), std::string::npos) << words << ", in:\n" << said;
  }
}

}  // namespace device_aos_nvcc_test
}  // namespace faro::testing

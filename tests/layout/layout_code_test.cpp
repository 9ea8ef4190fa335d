// The code that `faro layout --emit` prints: compiled by the C++ compiler, and by nvcc where there is one,
// run for every element, and compared with the layout. And what nvcc makes of layout/shared.hpp: no local
// memory.
//
// The C++ compiler is $CXX, or c++.
// Sanitized: never, the same few lines, tables or texts.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "faro/layout/adviser.hpp"

namespace faro::layout {
namespace layout_code_test {

namespace fs = std::filesystem;

std::string cxx() {
  const char* const given = std::getenv("CXX");
  return given != nullptr && *given != '\0' ? given : "c++";
}

// nvcc's path; nothing where there is none.
std::string nvcc() {
  for (const std::string candidate : {"nvcc", "/usr/local/cuda/bin/nvcc"}) {
    if (std::system((candidate + " --version >/dev/null 2>&1").c_str()) == 0) return candidate;
  }
  return {};
}

class LayoutCode : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "faro-code-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    directory_ = pattern;
  }
  void TearDown() override { fs::remove_all(directory_); }

  // Runs a command in the test's directory; gives what it printed, and fails the test where it failed.
  std::string run(const std::string& command) const {
    const std::string line = "cd '" + directory_.string() + "' && (" + command + ") >printed 2>&1";
    const int status = std::system(line.c_str());
    std::ifstream file(directory_ / "printed");
    const std::string printed{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    EXPECT_EQ(status, 0) << command << "\n" << printed;
    return printed;
  }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(directory_ / name) << text;
  }

  fs::path directory_;
};

// Placements of every kind, and of every shape of RAP.
std::vector<Placement> placements() {
  std::vector<Placement> all;
  const auto add = [&](std::uint64_t rows, std::uint64_t columns, std::uint64_t bytes,
                       const std::string& accesses) {
    AdviceRequest request{
        .array = make_shared_array(rows, columns, bytes), .accesses = {}, .seed = all.size()};
    for (const std::string& access : split_accesses(accesses)) {
      request.accesses.push_back(parse_access(request.array, access));
    }
    for (const Candidate& candidate : advise(request).candidates) all.push_back(candidate.placement);
  };
  add(32, 32, 4, "row, column");
  add(64, 64, 2, "row(8), column(8)");
  add(32, 32, 4, "row, column, diagonal");
  add(64, 64, 8, "row, column");
  add(64, 32, 16, "row, column");
  add(48, 40, 4, "row, column");
  add(20, 30, 2, "row, column");
  add(33, 7, 1, "row, column");
  add(128, 128, 1, "row(16), column(16)");
  add(1700, 32, 4, "row, column");
  add(600, 64, 2, "row(8), column(8)");
  add(1, 1, 1, "row");
  return all;
}

// One program that prints every address of every placement, a line each.
std::string program_for(const std::vector<Placement>& all) {
  std::string program = "#include <cstdio>\n";
  std::string calls;
  for (std::size_t k = 0; k < all.size(); ++k) {
    const std::string space = "layout_" + std::to_string(k);
    program += "namespace " + space + " {\n" + all[k].device_code() + "}\n";
    calls += "  std::printf(\"%u\\n\", " + space + "::shared_elements);\n";
    calls += "  for (unsigned i = 0; i < " + std::to_string(all[k].array.rows) +
             "; ++i)\n    for (unsigned j = 0; j < " + std::to_string(all[k].array.columns) +
             "; ++j) std::printf(\"%u\\n\", " + space + "::shared_index(i, j));\n";
  }
  return program + "int main() {\n" + calls + "}\n";
}

void expect_addresses(const std::vector<Placement>& all, const std::string& file) {
  std::ifstream printed(file);
  std::set<std::string> kinds;
  for (const Placement& placement : all) {
    SCOPED_TRACE(placement.device_code());
    kinds.insert(placement.kind == PlacementKind::rap || placement.kind == PlacementKind::raw
                     ? placement.name()
                     : std::to_string(static_cast<int>(placement.kind)));
    Index value = 0;
    ASSERT_TRUE(printed >> value);
    ASSERT_EQ(value, placement.size());
    for (Index i = 0; i < placement.array.rows; ++i) {
      for (Index j = 0; j < placement.array.columns; ++j) {
        ASSERT_TRUE(printed >> value);
        ASSERT_EQ(value, placement(i, j)) << i << ", " << j;
      }
    }
  }
  std::string rest;
  EXPECT_FALSE(printed >> rest);
  EXPECT_EQ(kinds, (std::set<std::string>{"1", "2", "3", "3P", "4P", "RAP", "RAW"}))
      << "every kind was compiled";
}

TEST_F(LayoutCode, CompiledByCxxIsTheLayout) {
  const std::vector<Placement> all = placements();
  write("code.cpp", program_for(all));
  run(cxx() +
      " -std=c++17 -O1 -Wall -Wextra -Wshadow -Wconversion -Werror -D__host__= -D__device__= code.cpp -o "
      "code");
  run("./code >addresses");
  expect_addresses(all, (directory_ / "addresses").string());
}

TEST_F(LayoutCode, CompiledByNvccIsTheLayout) {
  if (nvcc().empty()) GTEST_SKIP() << "no nvcc";
  const std::vector<Placement> all = placements();
  write("code.cu", program_for(all));
  run(nvcc() + " -std=c++17 -Werror all-warnings code.cu -o code");
  run("./code >addresses");
  expect_addresses(all, (directory_ / "addresses").string());
}

// ptxas tells of every kernel: "0 bytes stack frame, 0 bytes spill stores, …".
void expect_no_local_memory(const std::string& told, std::size_t kernels) {
  std::size_t frames = 0;
  for (std::size_t at = told.find("bytes stack frame"); at != std::string::npos;
       at = told.find("bytes stack frame", at + 1)) {
    EXPECT_EQ(told.substr(at - 3, 3), " 0 ") << told;
    ++frames;
  }
  EXPECT_EQ(frames, kernels) << told;
}

TEST_F(LayoutCode, EmittedCodeUsesNoLocalMemory) {
  if (nvcc().empty()) GTEST_SKIP() << "no nvcc";
  const std::vector<Placement> all = placements();
  std::string program;
  for (std::size_t k = 0; k < all.size(); ++k) {
    program += "namespace layout_" + std::to_string(k) + " {\n" + all[k].device_code() +
               "__global__ void kernel(unsigned* out) { out[threadIdx.x] = shared_index(threadIdx.y, "
               "threadIdx.x); }\n}\n";
  }
  write("code.cu", program);
  expect_no_local_memory(run(nvcc() + " -std=c++17 -arch=sm_90 -Xptxas -v -cubin code.cu -o code.cubin"),
                         all.size());
}

TEST_F(LayoutCode, HeaderUsesNoLocalMemory) {
  if (nvcc().empty()) GTEST_SKIP() << "no nvcc";
  write("header.cu", R"(#include "faro/layout/shared.hpp"
using namespace faro::layout;
template <typename Layout>
__global__ void two(Layout at, const float* in, float* out) {
  __shared__ float tile[1056];
  tile[at(threadIdx.y, threadIdx.x)] = in[32 * threadIdx.y + threadIdx.x];
  __syncthreads();
  out[32 * threadIdx.y + threadIdx.x] = tile[at(threadIdx.x, threadIdx.y)];
}
template <typename Layout>
__global__ void four(Layout at, float* out, unsigned i, unsigned j) {
  out[at(i, j, threadIdx.y, threadIdx.x)] = 1;
}
__global__ void linear(Xor at, unsigned* out) { out[threadIdx.x] = at(threadIdx.x); }
__global__ void from_memory(const Rap<32>* layout, float* out) {  // not in the constants of the launch
  const Rap<32> at = *layout;
  for (unsigned i = 0; i < 32; ++i) out[at(i, threadIdx.x)] = 1;
}
template __global__ void two(Raw<32>, const float*, float*);
template __global__ void two(Padded<32>, const float*, float*);
template __global__ void two(Ras<32>, const float*, float*);
template __global__ void two(Rap<32>, const float*, float*);
template __global__ void two(Rap<16, 32>, const float*, float*);
template __global__ void two(Rap<24>, const float*, float*);
template __global__ void two(Rap<256>, const float*, float*);
template __global__ void four(Raw4<32>, float*, unsigned, unsigned);
template __global__ void four(Ras4<32>, float*, unsigned, unsigned);
template __global__ void four(Rap1P<32>, float*, unsigned, unsigned);
template __global__ void four(RapR1P<32>, float*, unsigned, unsigned);
template __global__ void four(Rap3P<32>, float*, unsigned, unsigned);
template __global__ void four(RapW2P<32>, float*, unsigned, unsigned);
template __global__ void four(Rap1PW2R<32>, float*, unsigned, unsigned);
)");
  const std::string include = (fs::path(FARO_SOURCE_DIR) / "include").string();
  expect_no_local_memory(
      run(nvcc() + " -std=c++17 -arch=sm_90 -I'" + include + "' -Xptxas -v -cubin header.cu -o header.cubin"),
      16);
}

TEST_F(LayoutCode, HeaderIsCxx17WithoutWarnings) {
  write("header.cpp",
        "#include \"faro/layout/shared.hpp\"\n"
        "constexpr faro::layout::Rap<32> kRap = faro::layout::Rap<32>::random(1);\n"
        "static_assert(kRap(3, 4) / 32 == 3, \"\");\n"
        "int main() { std::vector<std::uint8_t> t; return faro::layout::RapW2P<4>::random(1, t)(0, 0, 0, 0) "
        "/ 4; }\n");
  const std::string include = (fs::path(FARO_SOURCE_DIR) / "include").string();
  run(cxx() + " -std=c++17 -Wall -Wextra -Wshadow -Wconversion -Werror -I'" + include +
      "' header.cpp -o header && ./header");
}

}  // namespace layout_code_test
}  // namespace faro::layout

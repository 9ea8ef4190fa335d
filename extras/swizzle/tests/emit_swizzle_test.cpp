// Kernels of completed sketches on the CPU, thread by thread with waits at shuffles and barriers: they leave
// what the interpreter and the specification say.
// Sanitized: never, the same few lines, tables or texts.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

#define FARO_WARP_ON_CPU_HOST
#include "emitted/warp_on_cpu.hpp"
#include "faro/error.hpp"
#include "refusal.hpp"
#include "swizzle_arrays_support.hpp"
#include "swizzle_kernels_support.hpp"

namespace faro::testing {
namespace emit_swizzle_test {

using namespace swizzle;

template <typename T>
std::string type_name() {
  if (std::is_same_v<T, float>) return "float";
  return sizeof(T) == 4 ? "uint32_t" : "uint64_t";
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

template <typename T>
std::string first_difference(const std::vector<T>& got, const std::vector<T>& wanted) {
  for (std::size_t k = 0; k < wanted.size(); ++k)
    if (!(got[k] == wanted[k]))
      return "[" + std::to_string(k) + "]: got " + std::to_string(got[k]) + ", wanted " +
             std::to_string(wanted[k]);
  return "";
}

/// Runs the kernel in both orders and holds it to interpreter and oracle.
template <typename T>
void check_run(const WarpLibrary& library, const SwizzleKernel& kernel, const EmittedKernel& emitted) {
  SCOPED_TRACE(emitted.name + "\n" + emitted.text);
  const auto inputs = swizzle_inputs<T>(kernel, !std::is_floating_point_v<T>);
  const auto expected = swizzle_expected<T>(kernel, inputs);
  const auto& arrays = kernel.program.arrays();
  if (kernel.specified) {
    const std::vector<std::span<const T>> in(inputs.begin(), inputs.end());
    for (std::size_t k = 0; k < arrays.size(); ++k) {
      if (arrays[k].kind != ArrayKind::output) continue;
      for (std::int64_t i = 0; i < arrays[k].size; ++i) {
        const ValueId wanted = kernel.specification.wanted({static_cast<int>(k)}, i);
        ASSERT_EQ(expected[k][static_cast<std::size_t>(i)],
                  kernel.specification.values().number<T>(wanted, in));
      }
    }
  }
  for (const Order order : {Order::forward, Order::backward}) {
    std::vector<std::vector<T>> buffers;
    std::vector<void*> arguments;
    for (std::size_t k = 0; k < arrays.size(); ++k) {
      if (arrays[k].kind == ArrayKind::input) {
        buffers.push_back(inputs[k]);
      } else {
        buffers.emplace_back(expected[k].size() + 2 * kSwizzleGuard, T{kSwizzlePoison});
      }
    }
    for (std::size_t k = 0; k < arrays.size(); ++k) {
      if (arrays[k].kind == ArrayKind::shared) continue;
      arguments.push_back(buffers[k].data() + (arrays[k].kind == ArrayKind::output ? kSwizzleGuard : 0));
    }
    library.run(emitted.name, {.blocks = emitted.blocks, .threads = emitted.threads}, arguments, order);
    for (std::size_t k = 0; k < arrays.size(); ++k) {
      if (arrays[k].kind == ArrayKind::input) {
        EXPECT_EQ(first_difference(buffers[k], inputs[k]), "");
      }
      if (arrays[k].kind != ArrayKind::output) continue;
      std::vector<T> wanted(kSwizzleGuard, T{kSwizzlePoison});
      wanted.insert(wanted.end(), expected[k].begin(), expected[k].end());
      wanted.resize(wanted.size() + kSwizzleGuard, T{kSwizzlePoison});
      EXPECT_EQ(first_difference(buffers[k], wanted), "") << "order " << static_cast<int>(order);
    }
  }
}

template <typename T>
std::vector<EmittedKernel> emit_all(const std::vector<SwizzleKernel>& kernels) {
  std::vector<EmittedKernel> all;
  for (const SwizzleKernel& kernel : kernels) {
    if (std::is_floating_point_v<T> && kernel.integers) {
      all.emplace_back();
      continue;
    }
    all.push_back(swizzle::emit(kernel.program, kernel.valuation,
                                {.name = kernel.name + "_" + type_name<T>(),
                                 .element_type = type_name<T>(),
                                 .title = "Test of " + kernel.name}));
  }
  return all;
}

template <typename T>
void check_all(const WarpLibrary& library, const std::vector<SwizzleKernel>& kernels,
               const std::vector<EmittedKernel>& emitted) {
  for (std::size_t k = 0; k < kernels.size(); ++k)
    if (!emitted[k].text.empty()) check_run<T>(library, kernels[k], emitted[k]);
}

TEST(EmitSwizzle, KernelsLeaveWhatTheInterpreterSays) {
  const std::vector<SwizzleKernel> kernels = swizzle_kernels();
  const auto words = emit_all<std::uint32_t>(kernels);
  const auto wide = emit_all<std::uint64_t>(kernels);
  const auto floats = emit_all<float>(kernels);
  WarpLibrary library;
  for (const auto* all : {&words, &wide, &floats})
    for (const EmittedKernel& kernel : *all) library.add(kernel.text);
  library.build();
  check_all<std::uint32_t>(library, kernels, words);
  check_all<std::uint64_t>(library, kernels, wide);
  check_all<float>(library, kernels, floats);
}

// --- device functions

// The lines of the head that begin with `word`, joined where they were wrapped.
std::vector<std::string> told(const std::string& text, const std::string& word) {
  std::vector<std::string> lines;
  std::istringstream head(text.substr(0, text.find("#include")));
  bool goes_on = false;
  for (std::string line; std::getline(head, line);) {
    if (goes_on && line.starts_with("//   ")) {
      lines.back() += line.substr(4);
      continue;
    }
    goes_on = line.starts_with("// " + word + ": ");
    if (goes_on) lines.push_back(line.substr(word.size() + 5));
  }
  return lines;
}

// "x[i] = I[4 * i + t], i below 4, where t < 3" as the loop that it is.
std::string loop_of(std::string line) {
  std::string condition;
  if (const std::size_t where = line.find(", where "); where != std::string::npos) {
    condition = "if (" + line.substr(where + 8) + ") ";
    line.resize(where);
  }
  std::string loops;
  for (std::size_t below = line.rfind(" below "); below != std::string::npos; below = line.rfind(" below ")) {
    const std::size_t name = line.rfind(", ", below);
    const std::string counter = line.substr(name + 2, below - name - 2);
    loops = "for (int " + counter + " = 0; " + counter + " < " + line.substr(below + 7) + "; ++" + counter +
            ") " + loops;
    line.resize(name);
  }
  return "  " + loops + condition + line + ";\n";
}

// A kernel that calls the function: its comments say what to load and to store.
std::string around(const SwizzleKernel& kernel, const EmittedKernel& function) {
  std::string text = function.text + "extern \"C\" __global__ void around_" + function.name + "(";
  bool is_first = true;
  for (const auto& array : kernel.program.arrays()) {
    text += std::string(is_first ? "" : ", ") + (array.kind == ArrayKind::input ? "const " : "") +
            "uint32_t* " + array.name;
    is_first = false;
  }
  text +=
      ") {\n  [[maybe_unused]] const int t = static_cast<int>(threadIdx.x % 32);\n"
      "  [[maybe_unused]] const int warp = static_cast<int>(threadIdx.x / 32);\n"
      "  [[maybe_unused]] const int block = static_cast<int>(blockIdx.x);\n";
  // "void NAME([[maybe_unused]] int t, uint32_t (&x)[4], uint32_t& y) {"
  std::string call;
  std::istringstream parameters(function.text.substr(
      function.text.find("int t, ") + 7, function.text.find(") {\n") - function.text.find("int t, ") - 7));
  for (std::string parameter; std::getline(parameters, parameter, ',');) {
    const std::size_t name = parameter.find('&') + 1;
    const bool is_array = parameter.find('(') != std::string::npos;
    std::string plain = parameter.substr(name);
    plain.erase(std::remove(plain.begin(), plain.end(), ')'), plain.end());
    plain.erase(std::remove(plain.begin(), plain.end(), ' '), plain.end());
    text += "  uint32_t " + plain + (is_array ? " = {};\n" : " = 0;\n");
    call += ", " + plain.substr(0, plain.find('['));
  }
  for (const std::string& line : told(function.text, "before")) text += loop_of(line);
  text += "  " + function.name + "(t" + call + ");\n";
  for (const std::string& line : told(function.text, "after")) text += loop_of(line);
  return text + "}\n";
}

TEST(EmitSwizzle, DeviceFunctionsBetweenTheirLoadsAndStoresAreTheKernel) {
  std::vector<SwizzleKernel> kernels = swizzle_kernels();
  for (const std::int64_t words : {3, 4, 6}) {
    kernels.push_back(crc_kernel(words, 32));
    kernels.push_back(rcr_kernel(words, 32));
  }
  WarpLibrary library;
  std::vector<EmittedKernel> emitted;
  std::vector<const SwizzleKernel*> taken;
  std::set<std::string> names;
  for (const SwizzleKernel& kernel : kernels) {
    if (kernel.program.launch().warp != 32 || !names.insert(kernel.name).second) continue;
    try {
      EmittedKernel function = swizzle::emit(kernel.program, kernel.valuation,
                                             {.name = kernel.name + "_between",
                                              .element_type = "uint32_t",
                                              .title = "",
                                              .device_function = true});
      EXPECT_FALSE(has(function.text, "__global__")) << function.text;
      EXPECT_TRUE(has(function.text, "static __device__ __forceinline__ void " + kernel.name + "_between("));
      function.text = around(kernel, function);
      function.name = "around_" + function.name;
      library.add(function.text);
      emitted.push_back(function);
      taken.push_back(&kernel);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::unsupported) << kernel.name << ": " << error.what();
    }
  }
  EXPECT_GE(taken.size(), 8U);
  for (const std::string name : {"crc", "rcr"}) {
    EXPECT_TRUE(std::any_of(taken.begin(), taken.end(), [&](const SwizzleKernel* kernel) {
      return has(kernel->name, name);
    })) << name;
  }
  library.build();
  for (std::size_t k = 0; k < taken.size(); ++k) check_run<std::uint32_t>(library, *taken[k], emitted[k]);
}

TEST(EmitSwizzle, DeviceFunctionsThatThereAreNot) {
  const auto refused = [](const SwizzleKernel& kernel, const EmissionOptions& options) {
    return test::report_of([&] { swizzle::emit(kernel.program, kernel.valuation, options); });
  };
  EXPECT_EQ(refused(transpose_kernel(), {.name = "f", .device_function = true}).code, ErrorCode::unsupported);
  EXPECT_TRUE(
      has(refused(crc_kernel(3, 32), {.name = "f", .batch = 2, .device_function = true}).got, "batch"));
}

// Problem p has the kernel's inputs, each array turned by p.
void check_batch(const WarpLibrary& library, const SwizzleKernel& kernel, const EmittedKernel& emitted,
                 std::uint32_t problems, Order order) {
  SCOPED_TRACE(std::to_string(problems) + " problems\n" + emitted.text);
  using T = std::uint32_t;
  const auto& arrays = kernel.program.arrays();
  std::vector<std::vector<T>> buffers(arrays.size());
  std::vector<std::vector<T>> wanted(arrays.size());
  const auto guard = [&](std::vector<T>& values) {
    values.insert(values.end(), kSwizzleGuard, kSwizzlePoison);
  };
  for (auto& values : wanted) guard(values);
  for (std::uint32_t problem = 0; problem < problems; ++problem) {
    auto inputs = swizzle_inputs<T>(kernel, true);
    for (auto& values : inputs)
      if (!values.empty())
        std::rotate(values.begin(), values.begin() + problem % static_cast<std::uint32_t>(values.size()),
                    values.end());
    const auto expected = swizzle_expected<T>(kernel, inputs);
    for (std::size_t k = 0; k < arrays.size(); ++k) {
      buffers[k].insert(buffers[k].end(), inputs[k].begin(), inputs[k].end());
      wanted[k].insert(wanted[k].end(), expected[k].begin(), expected[k].end());
    }
  }
  for (auto& values : wanted) guard(values);
  std::vector<void*> arguments;
  for (std::size_t k = 0; k < arrays.size(); ++k) {
    if (arrays[k].kind == ArrayKind::shared) continue;
    const bool output = arrays[k].kind == ArrayKind::output;
    if (output) buffers[k].assign(wanted[k].size(), kSwizzlePoison);
    arguments.push_back(buffers[k].data() + (output ? kSwizzleGuard : 0));
  }
  arguments.push_back(reinterpret_cast<void*>(std::uintptr_t{problems}));
  const unsigned rounds = (problems + emitted.batch - 1) / emitted.batch;
  library.run(emitted.name, {.blocks = emitted.blocks * rounds, .threads = emitted.threads}, arguments,
              order);
  for (std::size_t k = 0; k < arrays.size(); ++k) {
    if (arrays[k].kind != ArrayKind::output) continue;
    EXPECT_EQ(first_difference(buffers[k], wanted[k]), "");
  }
}

TEST(EmitSwizzle, BatchesLeaveWhatEachProblemWouldLeave) {
  struct Case {
    SwizzleKernel kernel;
    std::vector<std::uint32_t> batches;
  };
  const std::vector<Case> table{{stencil_kernel(32, 2, false), {1, 3}},  // 2 blocks a problem
                                {stencil_kernel(8, 3, true), {1, 3}},    // 24 threads: in part of a warp
                                {conv_2d_kernel(), {1, 2, 5}},           // 16 threads
                                {poly_64_kernel(32), {1, 4}},
                                {poly_64_kernel(4), {1, 7}},
                                {rcr_kernel(6, 64), {1, 2}},
                                {rcr_kernel(10, 20), {3}},
                                {crc_kernel(6, 8), {5}},
                                {transpose_kernel(), {1}},
                                {odd_kernel(), {1}}};
  WarpLibrary library;
  std::vector<std::vector<EmittedKernel>> emitted;
  for (const Case& c : table) {
    auto& kernels = emitted.emplace_back();
    for (const std::uint32_t batch : c.batches) {
      kernels.push_back(swizzle::emit(c.kernel.program, c.kernel.valuation,
                                      {.name = c.kernel.name + "_by_" + std::to_string(batch),
                                       .element_type = "uint32_t",
                                       .title = "",
                                       .batch = batch}));
      EXPECT_EQ(kernels.back().batch, batch);
      library.add(kernels.back().text);
    }
  }
  library.build();
  for (std::size_t c = 0; c < table.size(); ++c)
    for (const EmittedKernel& kernel : emitted[c])
      for (const std::uint32_t problems : {0U, 1U, 2U, 5U, 8U})
        for (const Order order : {Order::forward, Order::backward})
          check_batch(library, table[c].kernel, kernel, problems, order);
}

struct ImageSize {
  unsigned width, height;
};

// Image [height + taps - 1][width + columns - 1], weights [taps][columns], or of a mean none.
std::vector<std::uint32_t> convolved(const std::vector<std::uint32_t>& image,
                                     const std::vector<std::uint32_t>& weights, const ImageSize& size,
                                     unsigned rows, unsigned columns) {
  std::vector<std::uint32_t> out;
  for (std::size_t y = 0; y < size.height; ++y)
    for (std::size_t x = 0; x < size.width; ++x) {
      std::uint32_t sum = 0;
      for (std::size_t ky = 0; ky < rows; ++ky)
        for (std::size_t kx = 0; kx < columns; ++kx)
          sum += (weights.empty() ? 1 : weights[ky * columns + kx]) *
                 image[(y + ky) * (size.width + columns - 1) + x + kx];
      out.push_back(weights.empty() ? sum / columns : sum);
    }
  return out;
}

struct ImageKernel {
  std::string example;
  std::int64_t words, warp;
  std::uint32_t batch;
  unsigned rows, columns;  // of the weights
  bool weighted;
  EmittedKernel emitted;
};

// Allocated to the element, so that a read outside is an error where addresses are checked.
void check_image(const WarpLibrary& library, const ImageKernel& kernel, const ImageSize& size, Order order) {
  SCOPED_TRACE(std::to_string(size.width) + " x " + std::to_string(size.height) + "\n" + kernel.emitted.text);
  std::vector<std::uint32_t> image((size.height + kernel.rows - 1) * (size.width + kernel.columns - 1));
  std::vector<std::uint32_t> weights(kernel.weighted ? kernel.rows * kernel.columns : 0);
  for (std::size_t k = 0; k < image.size(); ++k) image[k] = static_cast<std::uint32_t>(1 + k * k % 1009);
  for (std::size_t k = 0; k < weights.size(); ++k) weights[k] = static_cast<std::uint32_t>(3 + 7 * k);
  const auto inner = convolved(image, weights, size, kernel.rows, kernel.columns);
  std::vector<std::uint32_t> wanted(kSwizzleGuard, kSwizzlePoison);
  wanted.insert(wanted.end(), inner.begin(), inner.end());
  wanted.resize(wanted.size() + kSwizzleGuard, kSwizzlePoison);
  std::vector<std::uint32_t> out(wanted.size(), kSwizzlePoison);

  const Example example = make_example(kernel.example, {.struct_words = kernel.words, .warp = kernel.warp});
  const auto rows = static_cast<unsigned>(example.tiling->rows);
  const auto columns = static_cast<unsigned>(example.tiling->columns);
  const unsigned tiles = (size.height + rows - 1) / rows * ((size.width + columns - 1) / columns);
  std::vector<void*> arguments{image.data()};
  if (kernel.weighted) arguments.push_back(weights.data());
  arguments.push_back(out.data() + kSwizzleGuard);
  for (const unsigned scalar : {size.width, size.height})
    arguments.push_back(reinterpret_cast<void*>(std::uintptr_t{scalar}));
  const EmittedKernel& emitted = kernel.emitted;
  library.run(
      emitted.name,
      {.blocks = emitted.blocks * ((tiles + emitted.batch - 1) / emitted.batch), .threads = emitted.threads},
      arguments, order);
  EXPECT_EQ(first_difference(out, wanted), "");
}

TEST(EmitSwizzle, TilesOfAnImageAreTheImage) {
  std::vector<ImageKernel> kernels{
      {"conv-2d", 7, 32, 0, 7, 7, true, {}},    {"conv-2d", 7, 32, 3, 7, 7, true, {}},
      {"conv-2d", 3, 32, 1, 3, 3, true, {}},    {"conv-2d", 3, 16, 3, 3, 3, true, {}},
      {"conv-1d", 0, 32, 1, 1, 3, true, {}},    {"conv-1d", 0, 8, 3, 1, 3, true, {}},
      {"stencil-1d", 0, 32, 2, 1, 3, false, {}}};
  WarpLibrary library;
  for (ImageKernel& kernel : kernels) {
    const Example example = make_example(kernel.example, {.struct_words = kernel.words, .warp = kernel.warp});
    ASSERT_TRUE(example.tiling.has_value());
    kernel.emitted = swizzle::emit(example.sketch, example.known.front().valuation,
                                   {.name = "image_" + std::to_string(&kernel - kernels.data()),
                                    .batch = kernel.batch,
                                    .tiling = example.tiling});
    EXPECT_EQ(kernel.emitted.batch, std::max(kernel.batch, 1U));
    library.add(kernel.emitted.text);
  }
  library.build();
  for (const ImageKernel& kernel : kernels)
    for (const ImageSize& size : std::vector<ImageSize>{
             {1, 1}, {7, 3}, {8, 4}, {9, 5}, {31, 9}, {40, 1}, {1, 13}, {126, 2}, {257, 3}})
      for (const Order order : {Order::forward, Order::backward}) check_image(library, kernel, size, order);
}

// The harness must see what it is for.
TEST(EmitSwizzle, TheHarnessSeesRacesAndMissingLanes) {
  WarpLibrary library;
  library.add(R"(
extern "C" void race(unsigned* out) {
  out[0] = threadIdx.x;
}
extern "C" void stray(unsigned* out) {
  if (threadIdx.x < 31) out[0] = __shfl_sync(0xffffffffu, threadIdx.x, 0, 32);
}
extern "C" void unmasked(unsigned* out) { out[0] = __shfl_sync(1u, threadIdx.x, 0, 32); }
extern "C" void broken_barrier(unsigned* out) {
  if (threadIdx.x != 3) __syncthreads();
  out[0] = 1;
}
extern "C" void turned(unsigned* out) {
  unsigned x = 100 + threadIdx.x;
  for (int k = 0; k < 3; ++k) x = __shfl_sync(0xffffffffu, x, static_cast<int>(threadIdx.x) - 1, 8);
  __syncthreads();
  out[32 * blockIdx.x + threadIdx.x] = x;
})");
  library.build();
  std::vector<unsigned> out(64);
  unsigned last[2] = {};
  for (const Order order : {Order::forward, Order::backward}) {
    library.run("race", {.blocks = 1, .threads = 32}, {out.data()}, order);
    last[static_cast<int>(order)] = out[0];
    EXPECT_THROW(library.run("stray", {.blocks = 1, .threads = 32}, {out.data()}, order), std::runtime_error);
    EXPECT_THROW(library.run("unmasked", {.blocks = 1, .threads = 32}, {out.data()}, order),
                 std::runtime_error);
    EXPECT_THROW(library.run("broken_barrier", {.blocks = 1, .threads = 32}, {out.data()}, order),
                 std::runtime_error);
    library.run("turned", {.blocks = 2, .threads = 32}, {out.data()}, order);
    for (unsigned t = 0; t < 64; ++t) EXPECT_EQ(out[t], 100 + (t % 32 / 8) * 8 + (t + 5) % 8) << t;
  }
  EXPECT_NE(last[0], last[1]);
}

}  // namespace emit_swizzle_test
}  // namespace faro::testing

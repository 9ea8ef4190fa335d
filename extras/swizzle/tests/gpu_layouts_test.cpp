// Conversions of layouts on a GPU, compiled at run time: every one against the layouts' definitions, products
// of tensor cores through converted fragments, and cycles beside shared memory with padded rows.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "faro/engines/nvrtc.hpp"
#include "faro/engines/runtime_compiler.hpp"
#include "gpu/gpu_support.hpp"
#include "swizzle_exchange_kernels.hpp"

namespace faro::testing {
namespace {

namespace ex = faro::exchange;

class GpuLayouts : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped()) return;
    const cuda::NvrtcStatus compiler = cuda::nvrtc_status();
    if (!compiler.available) GTEST_SKIP() << compiler.reason;
    int device = 0;
    int major = 0;
    check_cuda(cudaGetDevice(&device), "cudaGetDevice");
    check_cuda(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device),
               "cudaDeviceGetAttribute");
    if (major < 9) GTEST_SKIP() << "stmatrix needs capability 9.0";
  }
};

std::string function_of(const ex::EmittedConversion& code) { return replaced(code.text, "#pragma once", ""); }

template <typename T>
cuda::DeviceArray uploaded(const std::vector<T>& host) {
  cuda::DeviceArray device(host.size() * sizeof(T));
  device.upload(host.data());
  return device;
}

void launch(const cuda::RuntimeKernel& kernel, int threads, std::vector<std::byte*> pointers) {
  std::vector<void*> arguments;
  for (std::byte*& pointer : pointers) arguments.push_back(&pointer);
  kernel.launch(1, threads, 1, 0, arguments.data(), {});
  check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}

TEST_F(GpuLayouts, EveryConversion) {
  const std::vector<EmittedExchange> all = emitted_exchanges();
  std::string text;
  for (const EmittedExchange& e : all) text += exchange_kernel(e) + "\n";
  const auto module = cuda::compile({.text = text}, cuda::kCurrentDevice);
  for (const EmittedExchange& e : all) {
    const ex::Conversion& c = e.conversion;
    const auto data = random_bytes(c.from, c.element, 9);
    const auto from = exchanged_words(c, true, data);
    const auto wanted = exchanged_words(c, false, data);
    const std::uint32_t filled = c.is_store() ? ~0U : filled_bits(c.to, c.element);
    const cuda::RuntimeKernel kernel = module->kernel("run_" + e.code.name);
    EXPECT_EQ(kernel.local_bytes(), 0U) << e.code.text;
    const cuda::DeviceArray in = uploaded(from);
    std::vector<std::uint32_t> got(wanted.size() + 2, 0xdeadbeef);
    const cuda::DeviceArray out = uploaded(got);
    launch(kernel, 32 << c.warp_bits, {in.data(), out.data() + sizeof(std::uint32_t)});
    out.download(got.data());
    EXPECT_EQ(got.front(), 0xdeadbeef);
    EXPECT_EQ(got.back(), 0xdeadbeef);
    for (std::size_t i = 0; i < wanted.size(); ++i)
      ASSERT_EQ(got[i + 1] & filled, wanted[i]) << i << "\n" << e.code.text;
  }
}

ex::EmittedConversion converted(const char* from, const char* to, int element, const char* name,
                                ex::Way way = ex::Way::registers) {
  const ex::Conversion c =
      ex::convert(ex::parse_layout(from, element), ex::parse_layout(to, element), {.element = element});
  return ex::emit_conversion(c, {.name = name, .command = "", .way = way});
}

// What registers of a warp hold of a matrix of small numbers.
std::vector<std::uint32_t> fragments_of(const char* layout, int element,
                                        const std::vector<std::uint8_t>& bytes) {
  const ex::Layout parsed = ex::parse_layout(layout, element);
  const int words = element / 8 << parsed.registers.size() >> 2;
  return held_registers(parsed, element, words, 0, bytes);
}

std::vector<int> small_numbers(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<int> numbers(count);
  for (int& x : numbers) x = static_cast<int>(random() % 9) - 4;
  return numbers;
}

template <typename T>
std::vector<std::uint8_t> bytes_of(const std::vector<T>& values) {
  std::vector<std::uint8_t> bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

std::vector<float> product(const std::vector<int>& a, const std::vector<int>& b, std::size_t m, std::size_t k,
                           std::size_t n) {
  std::vector<float> c(m * n, 0);
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t l = 0; l < k; ++l) c[i * n + j] += static_cast<float>(a[i * k + l] * b[l * n + j]);
  return c;
}

// An accumulator of tf32, converted, is the operand of the next product.
TEST_F(GpuLayouts, ProductOfAConvertedAccumulator) {
  std::string text;
  for (const auto& [name, way] :
       {std::pair("registers", ex::Way::registers), std::pair("through_shared", ex::Way::shared)})
    text +=
        function_of(converted("mma.m16n8.C", "mma.m16n8k8.A", 32, name, way)) +
        "extern \"C\" __global__ void product_" + name +
        "(const uint32_t* accumulator, const uint32_t* b, float* d) {\n" +
        (way == ex::Way::shared ? "  __shared__ uint4 shared[32];\n" : "") +
        "  const uint32_t lane = threadIdx.x;\n  uint32_t in[4];\n"
        "  uint32_t a[4];\n  for (int i = 0; i < 4; ++i) in[i] = accumulator[4 * lane + i];\n  " +
        name + "(in, a, lane" + (way == ex::Way::shared ? ", reinterpret_cast<char*>(shared)" : "") +
        ");\n  float c[4] = {0, 0, 0, 0};\n"
        "  asm volatile(\"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, "
        "%7}, {%8, %9}, {%0, %1, %2, %3};\" : \"+f\"(c[0]), \"+f\"(c[1]), \"+f\"(c[2]), \"+f\"(c[3]) : "
        "\"r\"(a[0]), \"r\"(a[1]), \"r\"(a[2]), \"r\"(a[3]), \"r\"(b[2 * lane]), \"r\"(b[2 * lane + 1]));\n"
        "  for (int i = 0; i < 4; ++i) d[4 * lane + i] = c[i];\n}\n";
  const auto module = cuda::compile({.text = text}, cuda::kCurrentDevice);
  const std::vector<int> a = small_numbers(std::size_t{16} * 8, 1);
  const std::vector<int> b = small_numbers(std::size_t{8} * 8, 2);
  const std::vector<float> floats_a(a.begin(), a.end());
  const std::vector<float> floats_b(b.begin(), b.end());
  const auto in = uploaded(fragments_of("mma.m16n8.C", 32, bytes_of(floats_a)));
  const auto operand = uploaded(fragments_of("mma.m16n8k8.B", 32, bytes_of(floats_b)));
  const auto wanted = fragments_of("mma.m16n8.C", 32, bytes_of(product(a, b, 16, 8, 8)));
  for (const char* name : {"product_registers", "product_through_shared"}) {
    std::vector<std::uint32_t> got(wanted.size(), 0xdeadbeef);
    const auto out = uploaded(got);
    const cuda::RuntimeKernel kernel = module->kernel(name);
    EXPECT_EQ(kernel.local_bytes(), 0U);
    launch(kernel, 32, {in.data(), operand.data(), out.data()});
    out.download(got.data());
    EXPECT_EQ(got, wanted) << name;
  }
}

// IEEE halves of small integers.
std::uint16_t half_of(int number) {
  if (number == 0) return 0;
  const unsigned magnitude = static_cast<unsigned>(std::abs(number));
  const auto exponent = static_cast<unsigned>(f2::trailing_bit(std::bit_floor(magnitude)));
  const unsigned fraction = (magnitude << (10 - exponent)) & 0x3ffU;
  return static_cast<std::uint16_t>((number < 0 ? 0x8000U : 0U) | (exponent + 15) << 10U | fraction);
}

std::vector<std::uint32_t> tile_of(const char* layout, const std::vector<int>& numbers) {
  std::vector<std::uint16_t> halves;
  for (const int x : numbers) halves.push_back(half_of(x));
  const auto bytes = held_bytes(ex::parse_layout(layout, 16), 16, bytes_of(halves));
  std::vector<std::uint32_t> words(bytes.size() / 4);
  std::memcpy(words.data(), bytes.data(), bytes.size());
  return words;
}

// Tiles of halves as TMA leaves them in shared memory, loaded, multiplied, and stored as TMA takes them.
TEST_F(GpuLayouts, ProductOfSwizzledTiles) {
  std::string text = function_of(converted("tma.64B(32x32)", "mma.m16n8k16.A[32x32]", 16, "load_a"));
  text += function_of(converted("tma.64B(32x32)", "mma.m16n8k16.B[32x32]", 16, "load_b"));
  text += function_of(converted("mma.m16n8.C[32x32]", "tma.128B(32x32)", 32, "store_c"));
  text += R"(
extern "C" __global__ void product(const uint32_t* a, const uint32_t* b, uint32_t* d) {
  __shared__ __align__(1024) uint32_t tiles[3][1024];
  const uint32_t lane = threadIdx.x;
  for (int i = lane; i < 512; i += 32) { tiles[0][i] = a[i]; tiles[1][i] = b[i]; }
  __syncwarp();
  uint32_t x[16], y[16], z[32];
  load_a(reinterpret_cast<const char*>(tiles[0]), x, lane);
  load_b(reinterpret_cast<const char*>(tiles[1]), y, lane);
#pragma unroll
  for (int i = 0; i < 32; ++i) z[i] = 0;
#pragma unroll
  for (int m = 0; m < 2; ++m)
#pragma unroll
    for (int n = 0; n < 4; ++n)
#pragma unroll
      for (int k = 0; k < 2; ++k) {
        uint32_t* c = z + 16 * m + 4 * n;
        const uint32_t* p = x + 8 * m + 4 * k;
        const uint32_t* q = y + 8 * k + 2 * n;
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
            : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3]) : "r"(p[0]), "r"(p[1]), "r"(p[2]), "r"(p[3]), "r"(q[0]), "r"(q[1]));
      }
  store_c(z, reinterpret_cast<char*>(tiles[2]), lane);
  __syncwarp();
  for (int i = lane; i < 1024; i += 32) d[i] = tiles[2][i];
}
)";
  const auto module = cuda::compile({.text = text}, cuda::kCurrentDevice);
  constexpr std::size_t kSide = 32;
  const std::vector<int> a = small_numbers(kSide * kSide, 3);
  const std::vector<int> b = small_numbers(kSide * kSide, 4);
  const auto in = uploaded(tile_of("tma.64B(32x32)", a));
  const auto operand = uploaded(tile_of("tma.64B(32x32)", b));
  const auto wanted =
      held_bytes(ex::parse_layout("tma.128B(32x32)", 32), 32, bytes_of(product(a, b, kSide, kSide, kSide)));
  std::vector<std::uint8_t> got(wanted.size(), 0xff);
  const auto out = uploaded(got);
  const cuda::RuntimeKernel kernel = module->kernel("product");
  EXPECT_EQ(kernel.local_bytes(), 0U);
  launch(kernel, 32, {in.data(), operand.data(), out.data()});
  out.download(got.data());
  EXPECT_EQ(got, wanted);
}

// --- cycles

constexpr ExchangePair kTimed[] = {
    {"mma.m16n8.C", "mma.m16n8k8.A", 32},
    {"mma.m16n8k8.A", "mma.m16n8.C", 32},
    {"mma.m16n8.C[16x16]", "mma.m16n8k8.A[16x16]", 32},
    {"mma.m16n8.C[16x16]", "mma.m16n8k16.A", 16},
    {"mma.m16n8.C[16x32]", "mma.m16n8k32.A", 8},
    {"mma.m16n8.C", "mma.m16n8k16.B", 16},
    {"ldmatrix.x2", "ldmatrix.x2.trans", 16},
    {"ldmatrix.x4", "ldmatrix.x4.trans", 16},
    {"mma.m16n8.C[16x16]", "trans(mma.m16n8.C)[16x16]", 16},
    {"mma.m16n8.C[16x16]", "blocked(1x4, 8x4, 1x1)[16x16]", 32},
    {"mma.m16n8.C[16x32]", "blocked(1x8, 8x4, 1x1)[16x32]", 16},
    {"mma.m16n8k16.A", "contiguous(8)", 16},
    {"mma.m16n8k32.A", "contiguous(16)", 8},
    {"strided(4)", "contiguous(4)", 32},
    {"strided(8)", "contiguous(8)", 32},
    {"strided(8)", "contiguous(8)", 16},
    {"strided(16)", "contiguous(16)", 8},
    {"strided(4)", "contiguous(4)", 64},
    {"blocked(1x4, 8x4, 1x1)", "blocked(4x1, 2x16, 1x1)", 16},
    {"tcgen05.16x256b.x1", "tcgen05.16x128b.x2", 32},
};

// What is usual without a plan: rows of the tile with 16 bytes between them, and of each side the widest
// access whose elements are neighbours in a row. Columns are bits of elements, so that addresses are sums.
class PaddedRows {
 public:
  explicit PaddedRows(const ex::Conversion& c)
      : c_(c), bytes_(c.element / 8), row_bits_(c.to.axes.back().bits) {
    if (c.from.axes.size() != c.to.axes.size()) row_bits_ = c.from.axes.back().bits;
  }

  int shared_bytes() const { return (1 << (c_.from.element_bits() - row_bits_)) * pitch(); }

  std::string function(const std::string& name) const {
    std::string text = "__device__ __forceinline__ void " + name + "(const uint32_t (&in)[" +
                       std::to_string(c_.words_from) + "], uint32_t (&out)[" + std::to_string(c_.words_to) +
                       "], uint32_t lane, char* shared) {\n";
    text += side(c_.from, true) + "  __syncwarp();\n";
    text += "#pragma unroll\n  for (uint32_t& word : out) word = 0;\n";
    return text + side(c_.to, false) + "  __syncwarp();\n}\n";
  }

 private:
  int pitch() const { return (bytes_ << row_bits_) + 16; }

  int address(f2::Word element) const {
    return static_cast<int>(element >> row_bits_) * pitch() +
           static_cast<int>(element & f2::low_mask(row_bits_)) * bytes_;
  }

  std::string side(const ex::Layout& layout, bool is_store) const {
    int run = 0;
    while (bytes_ << run < 16 && run < static_cast<int>(layout.registers.size()) && run < row_bits_ &&
           layout.registers[static_cast<std::size_t>(run)] == f2::unit(run))
      ++run;
    const int wide = bytes_ << run;
    const std::string at = is_store ? "to" : "from";
    std::string text = "  char* const " + at + " = shared";
    for (std::size_t j = 0; j < layout.lanes.size(); ++j)
      text +=
          " + (lane >> " + std::to_string(j) + " & 1u) * " + std::to_string(address(layout.lanes[j])) + "u";
    text += ";\n";
    for (f2::Word r = 0; r < f2::unit(static_cast<int>(layout.registers.size())); r += f2::unit(run)) {
      const int byte = static_cast<int>(r) * bytes_;
      const std::string where = at + " + " + std::to_string(address(layout.element(r, 0)));
      text += access(where, byte, wide, is_store);
    }
    return text;
  }

  static std::string access(const std::string& where, int byte, int wide, bool is_store) {
    const std::string word = "[" + std::to_string(byte / 4) + "]";
    const std::string shift = std::to_string(8 * (byte % 4));
    if (wide < 4) {
      const std::string type = wide == 1 ? "uint8_t" : "uint16_t";
      const std::string memory = "*reinterpret_cast<" + type + "*>(" + where + ")";
      if (is_store) return "  " + memory + " = static_cast<" + type + ">(in" + word + " >> " + shift + ");\n";
      return "  out" + word + " |= static_cast<uint32_t>(" + memory + ") << " + shift + ";\n";
    }
    const std::string type = wide == 4 ? "uint1" : wide == 8 ? "uint2" : "uint4";
    std::string values;
    std::string text =
        is_store ? "" : "  { const " + type + " v = *reinterpret_cast<" + type + "*>(" + where + ");";
    for (int i = 0; i < wide / 4; ++i) {
      const std::string one = "[" + std::to_string(byte / 4 + i) + "]";
      values += (i == 0 ? "in" : ", in") + one;
      text += is_store ? "" : " out" + one + " = v." + std::string(1, "xyzw"[i]) + ";";
    }
    if (!is_store) return text + " }\n";
    return "  *reinterpret_cast<" + type + "*>(" + where + ") = make_" + type + "(" + values + ");\n";
  }

  const ex::Conversion& c_;
  int bytes_;
  int row_bits_;
};

constexpr int kWarps = 16;
constexpr int kTurns = 512;  // of two conversions each

// One block's conversions in a chain; gives what the first warp has in the end, and the cycles of the block.
std::string timed_kernel(const std::string& function, const std::string& name, const ex::Conversion& c,
                         int shared_bytes) {
  const std::string words = std::to_string(c.words_from);
  const std::string call = shared_bytes == 0 ? "lane" : "lane, mine";
  std::string text = function + "extern \"C\" __global__ void __launch_bounds__(512) time_" + name +
                     "(const uint32_t* from, uint32_t* to, long long* cycles) {\n"
                     "  const uint32_t lane = threadIdx.x % 32;\n";
  if (shared_bytes > 0)
    text += "  __shared__ __align__(16) char shared[" + std::to_string(kWarps * shared_bytes) +
            "];\n  char* const mine = shared + threadIdx.x / 32 * " + std::to_string(shared_bytes) + ";\n";
  text += "  uint32_t x[" + words + "], y[" + words + "];\n#pragma unroll\n  for (int i = 0; i < " + words +
          "; ++i) x[i] = from[" + words +
          " * lane + i];\n  __syncthreads();\n"
          "  const long long begin = clock64();\n#pragma unroll 1\n  for (int turn = 0; turn < " +
          std::to_string(kTurns) + "; ++turn) {\n    " + name + "(x, y, " + call + ");\n    " + name +
          "(y, x, " + call + ");\n  }\n  __syncthreads();\n  const long long end = clock64();\n" + name +
          "(x, y, " + call +
          ");\n  if (threadIdx.x == 0) *cycles = end - begin;\n  if (threadIdx.x < 32)\n#pragma unroll\n"
          "    for (int i = 0; i < " +
          words + "; ++i) to[" + words + " * lane + i] = y[i];\n}\n";
  return text;
}

// The registers after so many conversions.
std::vector<std::uint32_t> after(const ex::Conversion& c, std::vector<std::uint32_t> registers, int times) {
  for (int i = 0; i < times; ++i) registers = c.program.run(registers);
  return registers;
}

TEST_F(GpuLayouts, CyclesOfTwentyPairs) {
  std::printf(
      "| from | to | bits | shuffles | cycles by shuffles | through shared memory | padded rows | padded / "
      "best |\n"
      "|---|---|---|---|---|---|---|---|\n");
  int slower = 0;
  for (const ExchangePair& p : kTimed) {
    const ex::Conversion c = ex::convert(ex::parse_layout(p.from, p.element),
                                         ex::parse_layout(p.to, p.element), {.element = p.element});
    const PaddedRows padded(c);
    const auto code = [&](const char* name, ex::Way way) {
      return function_of(ex::emit_conversion(c, {.name = name, .command = "", .way = way}));
    };
    std::string text = timed_kernel(code("by_shuffles", ex::Way::registers), "by_shuffles", c, 0);
    text += timed_kernel(code("by_shared", ex::Way::shared), "by_shared", c, c.shared->bytes);
    text += timed_kernel(padded.function("padded"), "padded", c, padded.shared_bytes());
    const auto module = cuda::compile({.text = text}, cuda::kCurrentDevice);
    const auto data = random_bytes(c.from, c.element, 5);
    const auto from = held_registers(c.from, c.element, c.words_from, 0, data);
    const auto wanted = after(c, from, 2 * kTurns + 1);
    const auto in = uploaded(from);
    std::vector<double> cycles;
    for (const char* name : {"time_by_shuffles", "time_by_shared", "time_padded"}) {
      const cuda::RuntimeKernel kernel = module->kernel(name);
      EXPECT_EQ(kernel.local_bytes(), 0U) << name << " " << p.from;
      std::vector<std::uint32_t> got(wanted.size());
      const auto out = uploaded(got);
      std::vector<long long> told{0};
      const auto counter = uploaded(told);
      std::vector<long long> runs;
      for (int run = 0; run < 7; ++run) {
        launch(kernel, 32 * kWarps, {in.data(), out.data(), counter.data()});
        counter.download(told.data());
        runs.push_back(told[0]);
      }
      out.download(got.data());
      ASSERT_EQ(got, wanted) << name << " " << p.from << " " << p.to;
      std::sort(runs.begin(), runs.end());
      cycles.push_back(static_cast<double>(runs[3]) / (2.0 * kTurns * kWarps));
    }
    const double best = std::min(cycles[0], cycles[1]);
    slower += best > cycles[2] ? 1 : 0;
    std::printf("| `%s` | `%s` | %d | %d | %.1f | %.1f | %.1f | %.2f |\n", p.from, p.to, p.element,
                c.program.counts().shuffles, cycles[0], cycles[1], cycles[2],
                cycles[2] / std::max(best, 0.01));
  }
  std::printf(
      "cycles of a multiprocessor for one warp's conversion, %d warps; slower than padded rows: %d of 20\n",
      kWarps, slower);
}

}  // namespace
}  // namespace faro::testing

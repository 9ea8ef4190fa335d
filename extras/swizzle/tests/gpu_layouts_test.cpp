// Conversions of layouts on a GPU, compiled at run time: every one against the layouts' definitions, and
// products of tensor cores through converted fragments. bench/layout_peers times them.
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace faro::testing

// What elementwise functions say to a GPU's compiler compiles, without a GPU: every function on every element
// that it takes, and a network's kernel around one.
#include <gtest/gtest.h>

#include <string>

#include "faro/engines/nvrtc.hpp"
#include "faro/error.hpp"
#include "network/elementwise.hpp"
#include "network/kernel_source.hpp"
#include "network/launches.hpp"
#include "network/text.hpp"

namespace faro::network {
namespace cuda_network_source_test {

class CudaNetworkSource : public ::testing::Test {
 protected:
  void SetUp() override {
    const cuda::NvrtcStatus status = cuda::nvrtc_status();
    if (!status.available) GTEST_SKIP() << status.reason;
  }
};

TEST_F(CudaNetworkSource, EveryFunctionCompiles) {
  struct Row {
    Scalar scalar;
    const char* type;
  };
  std::size_t compiled = 0;
  for (const Row& row : {Row{Scalar::i32, "std::int32_t"},
                         {Scalar::u32, "std::uint32_t"},
                         {Scalar::i64, "std::int64_t"},
                         {Scalar::u64, "std::uint64_t"},
                         {Scalar::f32, "float"},
                         {Scalar::f64, "double"},
                         {Scalar::c64, "Complex<float>"},
                         {Scalar::c128, "Complex<double>"}}) {
    std::string text =
        "#include <cstdint>\ntemplate <typename Real> struct Complex { Real re; Real im; };\n"
        "extern \"C\" __global__ void all(" +
        std::string(row.type) + "* in) {\n  auto& a = *in;\n";
    for (const std::string& name : elementwise_names()) {
      const bool alone = name == "negate" || name == "absolute" || name == "conjugate" || name == "not";
      for (const char* const constant : {" 5", " -3", " 0x7fffffff", " 0.1"}) {
        const Operator op = operators::each(alone ? name : name + constant);
        try {
          check_fits(op, {.scalar = row.scalar});
        } catch (const Error&) {
          continue;
        }
        text += "  { " + elementwise_statements(op, {.scalar = row.scalar}) + " }\n";
        ++compiled;
      }
    }
    EXPECT_NO_THROW(cuda::compile_text({.text = text + "}\n"}, 9, 0)) << text;
  }
  EXPECT_GT(compiled, 150U);
}

TEST_F(CudaNetworkSource, ANetworksKernelCompiles) {
  for (const char* const text : {"each(multiply 0.5)", R"(each(own "a = a * a + 1;"))"}) {
    const Program program = parse_program(text, 12);
    const Plan plan({.program = program, .element = {.scalar = Scalar::f32}}, {}, Engine::cuda);
    const KernelSource source =
        kernel_source(program.op(), plan.problem().element, kernel_shape(plan, Access::vectors),
                      {.codes = {}, .others = true}, plan.array_bytes());
    EXPECT_NO_THROW(cuda::compile_text(
        {.text = source.text, .headers = source.headers, .options = {"-default-device"}}, 9, 0))
        << source.text;
  }
}

}  // namespace cuda_network_source_test
}  // namespace faro::network

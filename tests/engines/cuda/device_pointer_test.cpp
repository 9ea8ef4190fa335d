// Device pointers given to the CPU engine, in a process that has a CUDA driver: a stand-in, which calls
// addresses with the top bit set a device's, and with the next one set managed.
#include "engines/cuda/host/device_pointer.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "faro/error.hpp"
#include "faro/faro.hpp"

namespace faro::testing {
namespace device_pointer_test {

const void* address(std::uint64_t value) { return reinterpret_cast<const void*>(value); }
const void* const kDevice = address(std::uint64_t{1} << 63);
const void* const kManaged = address(std::uint64_t{3} << 62);

std::string refusal(const ExecutablePlan& plan, const void* in, const void* out) {
  try {
    plan.run(in, const_cast<void*>(out), plan.plan().array_bytes());
    return "";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::value);
    return error.what();
  }
}

TEST(DevicePointer, IsAskedForOnlyWhereADriverIsLoaded) {
  const int local = 0;
  EXPECT_FALSE(cuda::is_device_memory(kDevice)) << "nobody to ask";
  EXPECT_FALSE(cuda::is_device_memory(kDevice));

  ASSERT_NE(dlopen(FARO_STAND_IN_DRIVER, RTLD_NOW | RTLD_LOCAL), nullptr) << dlerror();
  EXPECT_TRUE(cuda::is_device_memory(kDevice)) << "loaded since";
  EXPECT_TRUE(cuda::is_device_memory(kDevice));
  EXPECT_FALSE(cuda::is_device_memory(kManaged));
  EXPECT_FALSE(cuda::is_device_memory(&local));
  EXPECT_FALSE(cuda::is_device_memory(nullptr));

  const ExecutablePlan plan = faro::plan({.permutation = maps::bit_reversal(6), .element_bytes = 4});
  std::vector<std::uint32_t> in(64, 1);
  std::vector<std::uint32_t> out(64, 2);
  EXPECT_NE(refusal(plan, kDevice, out.data()).find("a device pointer as the input"), std::string::npos);
  EXPECT_NE(refusal(plan, in.data(), kDevice).find("a device pointer as the output"), std::string::npos);
  EXPECT_EQ(out, std::vector<std::uint32_t>(64, 2));
  EXPECT_EQ(refusal(plan, in.data(), out.data()), "");
  EXPECT_EQ(out, in);
}

}  // namespace device_pointer_test
}  // namespace faro::testing

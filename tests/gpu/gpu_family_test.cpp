// Families of shapes on a GPU: drawn ones with guard zones and unaligned arrays, extents of the host and of
// the device's memory, a captured graph that is replayed with others, and refusals.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "family_support.hpp"
#include "faro/family.hpp"
#include "gpu/gpu_rows_support.hpp"
#include "refusal.hpp"

namespace faro::testing {
namespace gpu_family_test {

using namespace family_test;
using namespace gpu_rows;
using test::report_of;

class GpuFamily : public GpuTest {};

const PlanOptions kOnGpu{.engine = Engine::cuda};
constexpr std::uint64_t kGuard = 256;

std::vector<std::uint8_t> noise(std::uint64_t bytes, unsigned seed) {
  std::vector<std::uint8_t> made(bytes);
  std::mt19937 random(seed);
  std::generate(made.begin(), made.end(), [&] { return static_cast<std::uint8_t>(random()); });
  return made;
}

// Arrays on the device, `skew` bytes past an aligned address, the output poisoned and between guard zones.
struct Arrays {
  std::vector<std::uint8_t> from;
  cuda::DeviceArray in;
  cuda::DeviceArray out;
  std::uint64_t skew;

  Arrays(std::uint64_t bytes, std::uint64_t past, std::uint64_t room = 0)
      : from(noise(bytes + past, static_cast<unsigned>(bytes))),
        in(from.size() + 1),  // whose end is the device's, too
        out(std::max(bytes, room) + 2 * kGuard + past),
        skew(past) {
    if (!from.empty()) in.upload(from.data(), from.size());
    poison();
  }
  void poison() { out.upload(std::vector<std::uint8_t>(out.size(), 0xa5).data()); }
  const std::byte* input() const { return in.data() + skew; }
  std::byte* output() const { return out.data() + kGuard + skew; }

  void expect_moved(const FamilyCase& call) const {
    std::vector<std::uint8_t> got(out.size());
    check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    out.download(got.data());
    std::vector<std::uint8_t> wanted(out.size(), 0xa5);
    const std::vector<std::uint8_t> moved = family_test::moved(call, from.data() + skew);
    std::copy(moved.begin(), moved.end(), wanted.begin() + static_cast<std::ptrdiff_t>(kGuard + skew));
    EXPECT_TRUE(got == wanted) << call.text() << ", skew " << skew;
  }
};

// Extents in the device's memory, of 4 or 8 bytes.
struct Extents {
  cuda::DeviceArray array{256};
  int bytes;

  Extents(const std::vector<std::uint64_t>& extents, int width) : bytes(width) { set(extents); }
  void set(const std::vector<std::uint64_t>& extents) {
    const std::vector<std::int64_t> wide(extents.begin(), extents.end());
    const std::vector<std::int32_t> narrow(extents.begin(), extents.end());
    if (extents.empty()) return;
    if (bytes == 8) {
      array.upload(wide.data(), wide.size() * 8);
    } else {
      array.upload(narrow.data(), narrow.size() * 4);
    }
  }
  DeviceExtents get() const { return {.data = array.data(), .bytes = bytes}; }
};

TEST_F(GpuFamily, MovesDrawnFamilies) {
  std::mt19937 random(48);
  for (int n = 0; n < 400; ++n) {
    FamilyCase call = drawn_family(random, n % 8 == 0 ? 1'000'000 : 20'000);
    const ShapeFamily family(call.map, kOnGpu);
    const std::uint64_t width = call.map.element_bytes;
    for (int again = 0; again < 3; ++again) {
      Arrays arrays(call.bytes(), random() % 2 == 0 ? 0 : width & (~width + 1) & 15);
      for (int times = 0; times < 2; ++times) {  // the second time by what is kept
        arrays.poison();
        family.run(call.free(), arrays.input(), arrays.output());
        arrays.expect_moved(call);
      }
      Arrays other(call.bytes(), arrays.skew);
      const Extents extents(call.free(), random() % 2 == 0 ? 4 : 8);
      family.run_on_device(extents.get(), other.input(), other.output());
      other.expect_moved(call);
      for (std::size_t a = 0; a < call.extents.size(); ++a) {
        const std::uint64_t most = std::min<std::uint64_t>(call.map.extents[a].most, 60);
        const std::uint64_t drawn[] = {0, 1, most, random() % (most + 1)};
        if (call.map.extents[a].is_free) call.extents[a] = drawn[random() % 8 < 3 ? random() % 3 : 3];
      }
    }
  }
}

// By kernels of ordinary plans: rows that stay, planes, and what is copied; and by large boxes.
TEST_F(GpuFamily, MovesLargeArrays) {
  for (const FamilyCase& call :
       {family_case(2, {2047, 8, 128}, {1, 0, 2}, 1), family_case(4, {3001, 2003}, {1, 0}, 3),
        family_case(2, {4, 1500, 1100}, {0, 2, 1}, 7), family_case(1, {3000, 2111}, {1, 0}, 3),
        family_case(4, {70, 300, 600}, {1, 0, 2}, 3), family_case(8, {50, 61, 37, 43}, {3, 2, 1, 0}, 15),
        family_case(2, {16, 64, 57, 56}, {0, 2, 3, 1}, 13), family_case(12, {777, 1001}, {1, 0}, 3),
        family_case(4, {5000, 1000}, {0, 1}, 1), family_case(16, {900, 1010}, {1, 0}, 3)}) {
    const ShapeFamily family(call.map, kOnGpu);
    Arrays arrays(call.bytes(), 0);
    Arrays unaligned(call.bytes(), call.map.element_bytes);
    for (int times = 0; times < 3; ++times) {  // new, planned, kept
      arrays.poison();
      family.run(call.free(), arrays.input(), arrays.output());
      arrays.expect_moved(call);
      if (times == 0) continue;
      unaligned.poison();
      family.run(call.free(), unaligned.input(), unaligned.output());
      unaligned.expect_moved(call);
    }
    const Arrays other(call.bytes(), 0);
    family.run_on_device(Extents(call.free(), 8).get(), other.input(), other.output());
    other.expect_moved(call);
  }
}

TEST_F(GpuFamily, IsPlannedAtOnceWhereItIsCaptured) {
  const FamilyCase call = family_case(8, {20, 31, 37, 43}, {3, 2, 1, 0}, 15);
  const ShapeFamily family(call.map, kOnGpu);
  Arrays arrays(call.bytes(), 0);
  const OwnStream stream;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t ready = nullptr;
  check_cuda(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeThreadLocal),
             "cudaStreamBeginCapture");
  family.run(call.free(), arrays.input(), arrays.output(), stream);
  check_cuda(cudaStreamEndCapture(stream.get(), &graph), "cudaStreamEndCapture");
  check_cuda(cudaGraphInstantiate(&ready, graph, 0), "cudaGraphInstantiate");
  for (int times = 0; times < 2; ++times) {
    arrays.poison();
    check_cuda(cudaGraphLaunch(ready, stream.get()), "cudaGraphLaunch");
    stream.wait();
    arrays.expect_moved(call);
  }
  check_cuda(cudaGraphExecDestroy(ready), "cudaGraphExecDestroy");
  check_cuda(cudaGraphDestroy(graph), "cudaGraphDestroy");
}

TEST_F(GpuFamily, IsReplayedWithOtherExtents) {
  FamilyCase call = family_case(2, {100, 8, 64}, {1, 0, 2}, 1);
  call.map.extents[0] = up_to(300);
  const ShapeFamily family(call.map, kOnGpu);
  Arrays arrays(300 * 8 * 64 * 2, 0);
  Extents extents({100}, 4);
  const OwnStream stream;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t ready = nullptr;
  check_cuda(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeThreadLocal),
             "cudaStreamBeginCapture");
  family.run_on_device(extents.get(), arrays.input(), arrays.output(), stream);
  check_cuda(cudaStreamEndCapture(stream.get(), &graph), "cudaStreamEndCapture");
  check_cuda(cudaGraphInstantiate(&ready, graph, 0), "cudaGraphInstantiate");
  for (const std::uint64_t tokens : {100U, 1U, 0U, 300U, 37U}) {
    arrays.poison();
    extents.set({tokens});
    check_cuda(cudaGraphLaunch(ready, stream.get()), "cudaGraphLaunch");
    call.extents[0] = tokens;
    stream.wait();
    arrays.expect_moved(call);
  }
  // Past the most, and below 0, nothing is moved.
  for (const std::int32_t wrong : {301, -1}) {
    arrays.poison();
    extents.array.upload(&wrong, 4);
    check_cuda(cudaGraphLaunch(ready, stream.get()), "cudaGraphLaunch");
    call.extents[0] = 0;
    stream.wait();
    arrays.expect_moved(call);
  }
  check_cuda(cudaGraphExecDestroy(ready), "cudaGraphExecDestroy");
  check_cuda(cudaGraphDestroy(graph), "cudaGraphDestroy");
}

TEST_F(GpuFamily, MovesStridedArrays) {
  const ShapeFamily family({.extents = {up_to(500), exactly(6)},
                            .order = {1, 0},
                            .in_strides = {-8, 1},
                            .out_strides = {512, 1},
                            .element_bytes = 2},
                           kOnGpu);
  for (const std::uint64_t rows : {1U, 77U, 500U}) {
    std::vector<std::uint16_t> in(500 * 8);
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<std::uint16_t>(i);
    std::vector<std::uint16_t> wanted(6 * 512, 9999);
    cuda::DeviceArray from(in.size() * 2);
    from.upload(in.data());
    for (const bool on_device : {false, true}) {
      std::vector<std::uint16_t> out(6 * 512, 9999);
      cuda::DeviceArray to(out.size() * 2);
      to.upload(out.data());
      for (std::uint64_t r = 0; r < rows; ++r) {
        for (std::uint64_t c = 0; c < 6; ++c) wanted[c * 512 + r] = in[(rows - 1 - r) * 8 + c];
      }
      if (on_device) {
        family.run_on_device(Extents({rows}, 8).get(), from.data(), to.data());
        check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
      } else {
        family.run({{rows}}, from.data(), to.data());
      }
      to.download(out.data());
      EXPECT_TRUE(out == wanted) << rows;
    }
  }
}

TEST_F(GpuFamily, RefusesWhatItCannotReach) {
  const ShapeFamily family({.extents = {up_to(10), exactly(4)}, .order = {1, 0}, .element_bytes = 4}, kOnGpu);
  std::vector<std::uint32_t> host(40);
  const cuda::DeviceArray array(512);
  const Extents extents({5}, 8);
  EXPECT_EQ(report_of([&] { family.run({{5}}, host.data(), array.data()); }).code, ErrorCode::value);
  EXPECT_EQ(report_of([&] { family.run({{5}}, array.data() + 1, array.data() + 256); }).code,
            ErrorCode::value);
  EXPECT_EQ(report_of([&] { family.run({{5}}, array.data(), array.data() + 16); }).code, ErrorCode::value);
  EXPECT_EQ(report_of([&] { family.run({{11}}, array.data(), array.data() + 256); }).got,
            "an extent of 11 for axis 0");
  const auto on_device = [&](const DeviceExtents& given) {
    return report_of([&] { family.run_on_device(given, array.data(), array.data() + 256); });
  };
  EXPECT_EQ(on_device({.data = host.data()}).code, ErrorCode::value);
  EXPECT_EQ(on_device({.data = extents.array.data() + 4}).code, ErrorCode::value);
  EXPECT_EQ(on_device({.data = nullptr}).got, "null extents");
  EXPECT_EQ(on_device({.data = extents.array.data(), .bytes = 2}).got, "extents of 2 bytes");
}

}  // namespace gpu_family_test
}  // namespace faro::testing

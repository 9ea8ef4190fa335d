// The permutations in shared memory on a GPU: every way of the published kernel, and the kernel for many
// arrays with every element, index width and size of team.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "cuda/shared_permutation.hpp"
#include "faro/error.hpp"
#include "gpu/gpu_support.hpp"
#include "refusal.hpp"
#include "shared_schedule_support.hpp"

namespace faro::testing {
namespace {

using kernels::PermuteWay;

class GpuSharedPermutation : public GpuTest {};

TEST_F(GpuSharedPermutation, PublishedKernelInEveryWay) {
  constexpr std::uint32_t blocks = 300;
  const Bytes in = random_bytes(std::size_t{blocks} * 4096, 1);
  cuda::DeviceArray from(in.size());
  cuda::DeviceArray to(in.size());
  from.upload(in.data());
  const OwnStream stream;
  for (const auto& [name, list] : named_lists(1024, 32)) {
    for (const PermuteWay way : {PermuteWay::copy, PermuteWay::d_designated, PermuteWay::s_designated,
                                 PermuteWay::conflict_free, PermuteWay::packed, PermuteWay::held}) {
      SCOPED_TRACE(name + ", way " + std::to_string(static_cast<int>(way)));
      const Bytes expected = permuted(in, way == PermuteWay::copy ? identity_list(1024) : list, 4);
      const cuda::SharedPermutationBench bench(list, way);
      for (const std::uint32_t repeats : {1U, 2U, 5U}) {
        Bytes out(in.size());
        to.upload(out.data());
        bench.run(from.data(), to.data(), blocks, repeats, stream);
        stream.wait();
        to.download(out.data());
        ASSERT_TRUE(out == expected) << repeats << " repeats";
      }
    }
  }
}

// `offset`: elements by which both arrays miss an address that is aligned to 256 bytes.
void expect_permutes(const List& list, int element_bytes, std::uint64_t arrays, std::size_t offset) {
  SCOPED_TRACE("n " + std::to_string(list.size()) + ", " + std::to_string(element_bytes) + " bytes, " +
               std::to_string(arrays) + " arrays, offset " + std::to_string(offset));
  const auto width = static_cast<std::size_t>(element_bytes);
  const std::size_t guard = 256 + offset * width;
  const Bytes in = random_bytes(list.size() * width * arrays, arrays);
  Bytes padded(guard + in.size() + 256, std::byte{0x5a});
  std::memcpy(&padded[guard], in.data(), in.size());
  cuda::DeviceArray from(padded.size());
  cuda::DeviceArray to(padded.size());
  from.upload(padded.data());
  std::fill(padded.begin(), padded.end(), std::byte{0xa5});
  to.upload(padded.data());
  const cuda::SharedPermuter permuter(list, element_bytes);
  const OwnStream stream;
  permuter.run(from.data() + guard, to.data() + guard, arrays, stream);
  stream.wait();
  const Bytes expected = permuted(in, list, width);
  std::memcpy(&padded[guard], expected.data(), expected.size());
  Bytes out(padded.size());
  to.download(out.data());
  EXPECT_TRUE(out == padded);
}

// More than the device has room for at once, but for the longest.
std::uint64_t many_arrays(std::uint32_t n) {
  if (n <= 33) return 20'000;
  return n <= 257 ? 5000 : 700;
}

TEST_F(GpuSharedPermutation, ManyArraysOfAnyElement) {
  for (const int bytes : {1, 2, 4, 8, 12, 16}) {
    for (const std::uint32_t n : {1U, 2U, 31U, 33U, 100U, 256U, 257U, 1000U, 1024U, 1025U, 3000U}) {
      const List list = n % 2 == 0 ? random_list(n, n) : adversarial_list(n, 32);
      for (const std::uint64_t arrays : {std::uint64_t{1}, std::uint64_t{9}, many_arrays(n)}) {
        expect_permutes(list, bytes, arrays, n % 3);
      }
    }
  }
  for (const auto& [name, list] : named_lists(1024, 32)) expect_permutes(list, 4, 3500, 0);
  expect_permutes(random_list(15'000, 1), 4, 400, 0);  // a whole block of 1024 threads
  expect_permutes(random_list(15'001, 1), 4, 3, 1);
  expect_permutes(random_list(5000, 1), 16, 7, 0);
}

using test::code_of;

TEST_F(GpuSharedPermutation, Refuses) {
  EXPECT_EQ(code_of([] { cuda::SharedPermutationBench(identity_list(512), PermuteWay::copy); }),
            ErrorCode::value);
  EXPECT_EQ(code_of([] { cuda::SharedPermuter(List{}, 4); }), ErrorCode::value);
  EXPECT_EQ(code_of([] { cuda::SharedPermuter(List{0, 0}, 4); }), ErrorCode::value);
  EXPECT_EQ(code_of([] { cuda::SharedPermuter(identity_list(4), 5); }), ErrorCode::unsupported);
  EXPECT_EQ(code_of([] { cuda::SharedPermuter(identity_list(1 << 20), 4); }), ErrorCode::unsupported);
  const cuda::SharedPermuter permuter(identity_list(64), 8);
  cuda::DeviceArray array(4096);
  EXPECT_EQ(code_of([&] { permuter.run(array.data() + 4, array.data() + 2048, 1); }), ErrorCode::value);
  EXPECT_EQ(code_of([&] { permuter.run(nullptr, array.data(), 1); }), ErrorCode::value);
  Bytes host(4096);
  EXPECT_EQ(code_of([&] { permuter.run(host.data(), array.data(), 1); }), ErrorCode::value);
  permuter.run(nullptr, nullptr, 0);  // nothing to do
}

}  // namespace
}  // namespace faro::testing

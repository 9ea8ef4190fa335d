// The harness that runs emitted text on the CPU, held to kernels written by hand: what it runs, what it
// counts, what it refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "emitted/emitted_run.hpp"
#include "faro/error.hpp"
#include "faro/permutation/affine.hpp"
#include "text_search.hpp"

namespace faro::testing {
namespace emit_run_harness_test {

using ::testing::HasSubstr;

// A 32 x 32 transpose of 4-byte elements in one block; FARO_PITCH is the tile's row.
constexpr const char* kTranspose = R"(
using NAME_element = uint32_t;
extern "C" __global__ void __launch_bounds__(1024) NAME(const NAME_element* __restrict__ in, NAME_element* __restrict__ out) {
  __shared__ NAME_element tile[32 * PITCH];
  tile[PITCH * threadIdx.y + threadIdx.x] = in[32 * threadIdx.y + threadIdx.x];
  __syncthreads();
  out[32 * threadIdx.y + threadIdx.x] = tile[PITCH * threadIdx.x + threadIdx.y];
}
)";

constexpr const char* kVectors = R"(
#include <cstdint>
using NAME_element = unsigned char;
struct alignas(16) NAME_vector { NAME_element at[16]; };
static __device__ NAME_element NAME_map(NAME_element v, unsigned x, unsigned y) { return v * 3 + x - y; }
extern "C" __global__ void NAME(const NAME_element* in, NAME_element* out) {
  extern __shared__ __align__(16) unsigned char NAME_bytes[];
  NAME_element* tile = reinterpret_cast<NAME_element*>(NAME_bytes);
  const unsigned thread = threadIdx.x;
  NAME_vector v = reinterpret_cast<const NAME_vector*>(in)[thread];
  for (unsigned k = 0; k < 16; ++k) v.at[k] = NAME_map(v.at[k], 16 * thread + k, k);
  reinterpret_cast<NAME_vector*>(tile)[thread ^ 1] = v;
  __syncthreads();
  NAME_vector w;
  for (unsigned k = 0; k < 16; ++k) w.at[k] = tile[16 * thread + (k ^ 1)];
  __syncthreads();
  reinterpret_cast<NAME_vector*>(out)[thread] = w;
}
)";

// One warp; BODY uses `t`, in, out and tile.
constexpr const char* kBody = R"(
using NAME_element = uint32_t;
extern "C" __global__ void NAME(const NAME_element* in, NAME_element* out) {
  __shared__ NAME_element tile[32];
  const unsigned t = threadIdx.x;
  BODY
}
)";

using test::replaced;

emit::Source source_of(const std::string& text, const std::string& name, int threads_x, int threads_y,
                       std::uint64_t static_bytes, std::uint64_t dynamic_bytes = 0) {
  emit::Source source;
  source.text = replaced(text, "NAME", name);
  emit::Kernel kernel;
  kernel.name = name;
  kernel.blocks = 1;
  kernel.threads_x = threads_x;
  kernel.threads_y = threads_y;
  kernel.shared_bytes = static_bytes + dynamic_bytes;
  kernel.dynamic_shared_bytes = dynamic_bytes;
  source.kernels.push_back(kernel);
  return source;
}

std::vector<std::byte> counting_bytes(std::size_t count) {
  std::vector<std::byte> bytes(count);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>(i * 7 + i / 256);
  return bytes;
}

struct Ran {
  std::vector<std::byte> in;
  std::vector<std::byte> out;
  machine::AccessCounts counts;
  std::vector<TracedAccess> trace;
};

Ran run(const emit::Source& source, std::size_t bytes) {
  EmittedLibrary library;
  library.add(source.kernels[0].name, source);
  library.build();
  Ran ran{.in = counting_bytes(bytes), .out = std::vector<std::byte>(bytes), .counts = {}, .trace = {}};
  ran.counts = run_counted(library, source.kernels[0], ran.in, ran.out, &ran.trace);
  return ran;
}

TEST(EmittedHarness, CountsATranspose) {
  for (const int pitch : {32, 33}) {
    const std::string text = replaced(kTranspose, "PITCH", std::to_string(pitch));
    const Ran ran = run(source_of(text, "transpose", 32, 32, 128U * static_cast<std::uint64_t>(pitch)), 4096);
    const Affine map = maps::transpose(32, 32);
    for (std::size_t x = 0; x < 1024; ++x) {
      ASSERT_EQ(std::memcmp(&ran.in[4 * x], &ran.out[4 * map(x)], 4), 0) << x;
    }
    EXPECT_EQ(ran.counts.global_loads,
              (machine::GlobalCounts{.requests = 32, .bytes = 4096, .sectors = 128, .lines = 32}));
    EXPECT_EQ(ran.counts.global_stores, ran.counts.global_loads);
    EXPECT_EQ(ran.counts.shared_stores.max_congestion(), 1);
    EXPECT_EQ(ran.counts.shared_loads.max_congestion(), pitch == 32 ? 32 : 1);
    EXPECT_EQ(ran.counts.shared_loads.requests, 32U);
    // The trace has every access once: the first phase of all threads, then the second.
    ASSERT_EQ(ran.trace.size(), 4096U);
    EXPECT_EQ(
        ran.trace[3],
        (TracedAccess{
            .kind = TracedAccess::Kind::shared_store, .bytes = 4, .block = 0, .thread = 1, .offset = 4}));
    EXPECT_EQ(ran.trace[2050], (TracedAccess{.kind = TracedAccess::Kind::shared_load,
                                             .bytes = 4,
                                             .block = 0,
                                             .thread = 1,
                                             .offset = static_cast<std::uint64_t>(4 * pitch)}));
  }
}

TEST(EmittedHarness, CountsVectorsAsOneAccess) {
  const Ran ran = run(source_of(kVectors, "vectors", 64, 1, 0, 1024), 1024);
  for (std::size_t i = 0; i < 1024; ++i) {
    const std::size_t x = i ^ 17;
    const auto expected = static_cast<std::byte>(std::to_integer<unsigned>(ran.in[x]) * 3 + x - x % 16);
    ASSERT_EQ(ran.out[i], expected) << i;
  }
  EXPECT_EQ(ran.counts.global_loads,
            (machine::GlobalCounts{.requests = 2, .bytes = 1024, .sectors = 32, .lines = 8}));
  EXPECT_EQ(ran.counts.global_stores, ran.counts.global_loads);
  EXPECT_EQ(ran.counts.shared_stores.requests, 2U);
  EXPECT_EQ(ran.counts.shared_stores.wavefronts, 8U);
  EXPECT_EQ(ran.counts.shared_loads.requests, 32U);
  EXPECT_EQ(ran.counts.shared_loads.max_congestion(), 4);  // a byte of every fourth word
}

// --- what it must find

struct Fault {
  const char* body;
  const char* complaint;
};
constexpr Fault kFaults[] = {
    {"out[t] = in[t];", ""},
    {"tile[t] = in[t]; __syncthreads(); out[t] = tile[t ^ 1];", ""},
    {"out[t] = in[t + 1];", "global load out of bounds"},
    {"out[t - 1] = in[t];", "global store out of bounds"},
    {"out[t & 30] = in[t];", "second store"},
    {"if (t != 3) out[t] = in[t];", "not stored"},
    {"out[t] = out[t ^ 1];", "load from an output"},
    {"const_cast<NAME_element*>(in)[t] = in[t];", "store to the input"},
    {"tile[t] = in[t]; out[t] = tile[t ^ 1];", "never stored"},
    {"tile[t] = in[t]; out[t] = tile[t / 2];", "races"},
    {"tile[t] = in[t]; __syncthreads(); out[t] = tile[t + 1];", "shared load out of bounds"},
    {"tile[t / 2] = in[t];", "two threads store"},
    {"if (t != 5) __syncthreads(); out[t] = in[t];", "1 threads miss a barrier"},
    {"if (t < 16) out[t] = in[t]; else tile[t] = in[0];", "disagree"},
    // Thread 16 stores what thread 0 has loaded since the last barrier.
    {"tile[t] = in[t]; __syncthreads(); out[t] = tile[t | 16]; if (t >= 16) tile[t] = in[t];",
     "another thread loads"},
};

TEST(EmittedHarness, FindsWhatAKernelMustNotDo) {
  EmittedLibrary library;
  std::vector<emit::Source> sources;
  for (const Fault& fault : kFaults) {
    const std::string name = "body" + std::to_string(sources.size());
    sources.push_back(source_of(replaced(kBody, "BODY", fault.body), name, 32, 1, 128));
    library.add(name, sources.back());
  }
  library.build();
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const std::vector<std::byte> in = counting_bytes(128);
    std::vector<std::byte> out(128);
    std::string got;
    try {
      run_counted(library, sources[i].kernels[0], in, out);
    } catch (const std::exception& error) {
      got = error.what();
    }
    EXPECT_EQ(got.empty(), *kFaults[i].complaint == '\0') << kFaults[i].body;
    EXPECT_THAT(got, HasSubstr(kFaults[i].complaint)) << kFaults[i].body;
  }
}

TEST(EmittedHarness, RefusesTextWithoutItsElementLine) {
  EmittedLibrary library;
  emit::Source source = source_of(kTranspose, "t", 32, 32, 4096);
  EXPECT_THROW(library.add("other", source), std::runtime_error);
  library.add_text("this is no text");
  try {
    library.build();
    FAIL() << "it was compiled";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("error:"));
  }
}

// --- the machines of time

// Sixteen warps of 32 on a DMM: the transpose's second phase is the one with congestion 32.
TEST(EmittedHarness, RunsUnderTheMemoryMachine) {
  const auto time_of = [](int pitch) {
    const emit::Source source =
        source_of(replaced(kTranspose, "PITCH", std::to_string(pitch)), "transpose", 32, 32, 4224);
    EmittedLibrary library;
    library.add("transpose", source);
    library.build();
    machine::MemoryMachine memory(
        {.kind = machine::MachineKind::hmm, .width = 32, .latency = 100, .threads = 1024});
    std::vector<std::byte> in = counting_bytes(4096);
    std::vector<std::byte> out(4096);
    memory.add_buffer(in);
    memory.add_buffer(out);
    EmittedKernel<machine::MemoryMachine> kernel(library, source.kernels[0], 4096);
    const auto phase = [&](std::uint64_t number) {
      return [&kernel, number](auto& m, std::uint64_t block, std::uint32_t thread) {
        kernel.run_phase(m, number, block, thread);
      };
    };
    memory.run({.blocks = 1, .threads = 1024, .shared_bytes = 4224}, phase(0), phase(1));
    return memory.report().time;
  };
  EXPECT_GT(time_of(32), time_of(33));
}

}  // namespace emit_run_harness_test
}  // namespace faro::testing

// The transposes in shared memory: right results on every memory machine, for every order, layout and
// element; congestion as the counting memory sees it; and what is wrong with the kernel as printed.
// Sanitized: never, the same few lines, tables or texts.
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "faro/machine/counting_memory.hpp"
#include "faro/machine/memory_machine.hpp"
#include "kernels/shared_transpose.hpp"
#include "reproduce/address_recorder.hpp"

namespace faro::kernels {
namespace shared_transpose_kernel_test {

constexpr std::uint32_t kW = 32;
constexpr std::uint64_t kMatrices = 2;

template <int element_bytes>
std::vector<std::byte> random_matrices(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::byte> bytes(kMatrices * kW * kW * static_cast<std::size_t>(element_bytes));
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

template <int element_bytes>
std::vector<std::byte> transposed(const std::vector<std::byte>& in) {
  constexpr auto bytes = static_cast<std::size_t>(element_bytes);
  std::vector<std::byte> out(in.size());
  for (std::size_t m = 0; m < kMatrices; ++m) {
    for (std::size_t i = 0; i < kW; ++i) {
      for (std::size_t j = 0; j < kW; ++j) {
        std::memcpy(&out[((m * kW + j) * kW + i) * bytes], &in[((m * kW + i) * kW + j) * bytes], bytes);
      }
    }
  }
  return out;
}

template <typename Layout>
Layout make(std::uint64_t seed) {
  if constexpr (Layout::kRandomNumbers == 0) {
    return Layout{};
  } else {
    return Layout::random(seed);
  }
}

template <TransposeOrder order, int element_bytes, typename Machine, typename Launch, typename Layout>
void run(Machine& machine, const Launch& launch, const Layout& layout) {
  machine.run(
      launch,
      [&](auto& memory, std::uint64_t block, std::uint32_t thread) {
        fill_shared<kW, element_bytes>(memory, layout, block, thread);
      },
      [&](auto& memory, std::uint64_t /*block*/, std::uint32_t thread) {
        transpose_shared<order, kW, element_bytes>(memory, layout, thread);
      },
      [&](auto& memory, std::uint64_t block, std::uint32_t thread) {
        drain_shared<kW, element_bytes>(memory, layout, block, thread);
      });
}

template <TransposeOrder order, int element_bytes, typename Layout>
struct Case {
  static constexpr auto kSharedBytes = transpose_shared_bytes<Layout, kW, element_bytes>();

  static std::vector<std::byte> on_machine(machine::MachineKind kind, const std::vector<std::byte>& in,
                                           const Layout& layout) {
    std::vector<std::byte> from = in;
    std::vector<std::byte> out(in.size());
    machine::MemoryMachine machine({.kind = kind, .width = kW, .latency = 3, .threads = kW * kW});
    machine.add_buffer(from);
    machine.add_buffer(out);
    run<order, element_bytes>(
        machine,
        machine::MemoryMachine::Launch{.blocks = kMatrices, .threads = kW * kW, .shared_bytes = kSharedBytes},
        layout);
    return out;
  }

  struct Counted {
    std::vector<std::byte> out;
    machine::AccessCounts counts;
  };
  static Counted counted(const std::vector<std::byte>& in, const Layout& layout) {
    std::vector<std::byte> out(in.size());
    machine::CountingMemory memory({.shared_bytes = kSharedBytes});
    memory.add_input(in);
    memory.add_output(out);
    run<order, element_bytes>(
        memory, machine::CountingMemory::Launch{.blocks = kMatrices, .threads = kW * kW}, layout);
    EXPECT_TRUE(memory.output_complete());
    return {out, memory.counts()};
  }

  static void expect_transposes(const std::string& what) {
    SCOPED_TRACE(what + ", " + Layout::kName + ", " + std::to_string(element_bytes) + " bytes");
    for (const std::uint64_t seed : {1U, 2U}) {
      const auto layout = make<Layout>(seed);
      const auto in = random_matrices<element_bytes>(seed);
      const auto expected = transposed<element_bytes>(in);
      EXPECT_TRUE(counted(in, layout).out == expected);
      for (const auto kind :
           {machine::MachineKind::dmm, machine::MachineKind::umm, machine::MachineKind::hmm}) {
        EXPECT_TRUE(on_machine(kind, in, layout) == expected);
      }
    }
  }
};

template <int element_bytes, typename Layout>
void expect_every_order_transposes() {
  Case<TransposeOrder::crsw, element_bytes, Layout>::expect_transposes("CRSW");
  Case<TransposeOrder::srcw, element_bytes, Layout>::expect_transposes("SRCW");
  Case<TransposeOrder::drdw, element_bytes, Layout>::expect_transposes("DRDW");
}

TEST(SharedTranspose, IsRightOnEveryMachine) {
  expect_every_order_transposes<4, layout::Raw<kW>>();
  expect_every_order_transposes<4, layout::Ras<kW>>();
  expect_every_order_transposes<4, layout::Rap<kW>>();
  expect_every_order_transposes<4, layout::Padded<kW>>();
  expect_every_order_transposes<8, layout::Raw<kW>>();
  expect_every_order_transposes<8, layout::Ras<kW>>();
  expect_every_order_transposes<8, layout::Rap<kW>>();
}

// As printed it transposes the storage: right in natural order, wrong under RAP, where address (c, i) gets
// what was at (i, c).
TEST(SharedTranspose, AsPrintedTransposesTheStorage) {
  constexpr auto printed = TransposeOrder::crsw_as_printed;
  Case<printed, 4, layout::Raw<kW>>::expect_transposes("CRSW as printed");

  using Rap = layout::Rap<kW>;
  const auto in = random_matrices<4>(5);
  const Rap layout = Rap::random(5);
  EXPECT_FALSE((Case<printed, 4, Rap>::counted(in, layout).out == transposed<4>(in)));
  for (std::uint32_t thread = 0; thread < kW * kW; ++thread) {
    const std::uint32_t source = transpose_source<printed, kW>(layout, thread);
    const std::uint32_t target = transpose_target<printed, kW>(layout, thread);
    ASSERT_EQ(target / kW, source % kW);
    ASSERT_EQ(target % kW, source / kW);
  }
}

struct Turns {
  int loads;
  int stores;
};

template <TransposeOrder order, int element_bytes, typename Layout>
Turns most_turns() {
  const auto layout = make<Layout>(7);
  const auto counts = Case<order, element_bytes, Layout>::counted(random_matrices<element_bytes>(7), layout);
  return {counts.counts.shared_loads.max_congestion(), counts.counts.shared_stores.max_congestion()};
}

template <TransposeOrder order, int element_bytes, typename Layout>
void expect_turns(int loads, int stores) {
  const Turns turns = most_turns<order, element_bytes, Layout>();
  EXPECT_EQ(turns.loads, loads) << Layout::kName << " order " << static_cast<int>(order);
  EXPECT_EQ(turns.stores, stores) << Layout::kName << " order " << static_cast<int>(order);
}

// Filling and draining go by rows, one turn in every layout here, so the most is the transpose's.
TEST(SharedTranspose, CongestionAsCountedOnAGpu) {
  using Raw = layout::Raw<kW>;
  using Rap = layout::Rap<kW>;
  expect_turns<TransposeOrder::crsw, 4, Raw>(1, 32);
  expect_turns<TransposeOrder::srcw, 4, Raw>(32, 1);
  expect_turns<TransposeOrder::drdw, 4, Raw>(1, 1);
  expect_turns<TransposeOrder::crsw, 4, Rap>(1, 1);
  expect_turns<TransposeOrder::srcw, 4, Rap>(1, 1);
  expect_turns<TransposeOrder::crsw_as_printed, 4, Rap>(1, 32);
  // Elements of 8 bytes go by half warps: 16 lanes of a column share a pair of banks.
  expect_turns<TransposeOrder::crsw, 8, Raw>(1, 16);
  expect_turns<TransposeOrder::srcw, 8, Raw>(16, 1);
}

// The recorder that the tables are made with sees what the counting memory sees: the wavefronts of both
// sides, whatever the layout.
template <TransposeOrder order, typename Layout>
void expect_recorder_agrees() {
  const auto layout = make<Layout>(11);
  const auto counts = Case<order, 4, Layout>::counted(random_matrices<4>(11), layout).counts;
  reproduce::AddressRecorder recorder;
  machine::TurnCounter counter(kW);
  std::uint64_t reads = kW;  // of draining
  std::uint64_t writes = kW;
  for (std::uint32_t warp = 0; warp < kW; ++warp) {
    recorder.clear();
    for (std::uint32_t lane = 0; lane < kW; ++lane) {
      transpose_shared<order, kW, 4>(recorder, layout, warp * kW + lane);
    }
    reads += counter.by_bank(recorder.reads());
    writes += counter.by_bank(recorder.writes());
  }
  EXPECT_EQ(counts.shared_loads.wavefronts, kMatrices * reads) << Layout::kName;
  EXPECT_EQ(counts.shared_stores.wavefronts, kMatrices * writes) << Layout::kName;
}

TEST(SharedTranspose, RecorderSeesWhatTheCountingMemorySees) {
  expect_recorder_agrees<TransposeOrder::crsw, layout::Ras<kW>>();
  expect_recorder_agrees<TransposeOrder::srcw, layout::Ras<kW>>();
  expect_recorder_agrees<TransposeOrder::drdw, layout::Ras<kW>>();
  expect_recorder_agrees<TransposeOrder::drdw, layout::Rap<kW>>();
  expect_recorder_agrees<TransposeOrder::crsw, layout::Raw<kW>>();
  expect_recorder_agrees<TransposeOrder::crsw_as_printed, layout::Rap<kW>>();
}

TEST(SharedTranspose, RepeatsWithABarrierAfterEach) {
  reproduce::AddressRecorder recorder;
  int barriers = 0;
  repeat_transpose<TransposeOrder::crsw, kW, 4>(recorder, layout::Raw<kW>{}, 3, 33, [&] { ++barriers; });
  EXPECT_EQ(barriers, 3);
  EXPECT_EQ(std::vector(recorder.reads().begin(), recorder.reads().end()),
            (std::vector<std::uint64_t>{33, 33, 33}));
}

}  // namespace shared_transpose_kernel_test
}  // namespace faro::kernels

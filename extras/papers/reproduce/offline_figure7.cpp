// Figure 7 of the offline permutation paper: the time of a permutation by more and more blocks.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "faro/machine/memory_machine.hpp"
#include "kernels/shared_permutation_params.hpp"
#include "reproduce/offline_times.hpp"
#include "reproduce/tables.hpp"

namespace faro::reproduce {
namespace {

constexpr std::uint64_t kPaperMultiprocessors = 8;  // of the paper's GPU
constexpr std::size_t kBitReversal = 4;
constexpr std::array<PermuteWay, 4> kWays{PermuteWay::copy, PermuteWay::d_designated,
                                          PermuteWay::s_designated, PermuteWay::conflict_free};
constexpr const char* kRelative = "time / one block's";

// What the text says of so many blocks a multiprocessor; the curves have no numbers.
std::string paper_words(double blocks_each) {
  return blocks_each <= 1 ? "almost the same" : "almost proportional";
}

// --- in the model: a hierarchical memory machine of 8 DMMs, on each of which one block runs at a time

template <PermuteWay way>
std::uint64_t machine_time(std::span<const std::uint32_t> permutation, std::uint64_t blocks,
                           std::uint64_t permutes) {
  static constexpr kernels::PermuteShape shape =
      kernels::permute_shape(way, kOfflineElements, kOfflineElements);
  std::vector<std::uint32_t> lists = kernels::permutation_lists(permutation, way);
  std::vector<std::uint32_t> in(kOfflineElements * blocks);
  std::vector<std::uint32_t> out(in.size());
  machine::MemoryMachine machine({.kind = machine::MachineKind::hmm,
                                  .width = kOfflineWidth,
                                  .latency = 100,
                                  .threads = kPaperMultiprocessors * shape.threads,
                                  .dmms = kPaperMultiprocessors,
                                  .shared_latency = 20});
  machine.add_buffer(std::as_writable_bytes(std::span(in)));
  machine.add_buffer(std::as_writable_bytes(std::span(out)));
  machine.add_buffer(std::as_writable_bytes(std::span(lists)));
  const auto fill = [](auto& memory, std::uint64_t block, std::uint32_t thread) {
    kernels::fill_permutation<shape>(memory, block, thread);
  };
  const auto permute = [](auto& memory, std::uint64_t /*block*/, std::uint32_t thread) {
    kernels::permute<way, shape>(memory, device::HeldMoves<1>{}, thread);
  };
  const machine::MemoryMachine::Launch launch{
      .blocks = blocks, .threads = shape.threads, .shared_bytes = shape.shared_bytes()};
  if (permutes == 1) {
    machine.run(launch, fill, permute);
  } else {
    machine.run(launch, fill, permute, permute);
  }
  return machine.report().time;
}

// The kernel of one permutation of every block's array.
template <PermuteWay way>
std::uint64_t permute_time(std::span<const std::uint32_t> permutation, std::uint64_t blocks) {
  return machine_time<way>(permutation, blocks, 2) - machine_time<way>(permutation, blocks, 1);
}

template <PermuteWay way>
void add_model(Table& table, const OfflinePermutation& permutation) {
  const std::uint64_t one = permute_time<way>(permutation.list, 1);
  for (const std::uint64_t blocks : {8U, 16U, 64U}) {
    const std::uint64_t time = permute_time<way>(permutation.list, blocks);
    Row row = of_model(
        exact_row(fmt::format("HMM of 8 DMMs: {}, {}, {} blocks", name_of(way), permutation.name, blocks),
                  kRelative, blocks / kPaperMultiprocessors, time / one, "ratio"));
    row.paper = paper_words(static_cast<double>(blocks) / kPaperMultiprocessors);
    if (time % one != 0) {
      row.here = static_cast<double>(time) / static_cast<double>(one);
      row.agrees = false;
    }
    table.rows.push_back(row);
  }
}

// --- on a GPU

// Half a block a multiprocessor, and one to eight.
struct BlockNumber {
  double each;
  std::string text;
};

std::vector<BlockNumber> numbers_of_blocks() {
  std::vector<BlockNumber> numbers{{.each = 0.5, .text = "1/2"}};
  for (int each = 1; each <= 8; ++each) {
    numbers.push_back({.each = static_cast<double>(each), .text = std::to_string(each)});
  }
  return numbers;
}

void add_measured(Table& table, const OfflinePermutation& permutation,
                  const std::optional<OfflineDevice>& device) {
  const std::vector<BlockNumber> numbers = numbers_of_blocks();
  std::vector<double> ns;
  if (device) {
    std::vector<OfflineContestant> contestants;
    for (const PermuteWay way : kWays) {
      contestants.push_back({.way = way, .permutation = permutation.list, .blocks = 1});
      for (const BlockNumber& number : numbers) {
        const auto blocks = static_cast<std::uint32_t>(number.each * device->multiprocessors);
        contestants.push_back({.way = way, .permutation = permutation.list, .blocks = std::max(1U, blocks)});
      }
    }
    ns = offline_times_ns(contestants);
  }
  const char* const criterion = device ? kOtherHardware : kNeedsGpu;
  for (std::size_t w = 0; w < kWays.size(); ++w) {
    const std::string what = fmt::format("{}, {}", name_of(kWays[w]), permutation.name);
    const double* const times = device ? &ns[w * (1 + numbers.size())] : nullptr;
    table.rows.push_back({.subject = what + ", one block",
                          .quantity = "time",
                          .here = device ? Value(times[0]) : Value(),
                          .unit = "ns",
                          .criterion = criterion});
    for (std::size_t k = 0; k < numbers.size(); ++k) {
      table.rows.push_back({.subject = fmt::format("{}, {} blocks a multiprocessor", what, numbers[k].text),
                            .quantity = kRelative,
                            .paper = paper_words(numbers[k].each),
                            .model = std::max(1.0, numbers[k].each),
                            .here = device ? Value(times[1 + k] / times[0]) : Value(),
                            .unit = "ratio",
                            .criterion = criterion});
    }
  }
}

}  // namespace

Table offline_figure7(const Options& options) {
  Table table;
  const auto permutations = offline_permutations(options.seed);
  const OfflinePermutation& reversal = permutations[kBitReversal];
  add_model<PermuteWay::copy>(table, reversal);
  add_model<PermuteWay::d_designated>(table, reversal);
  add_model<PermuteWay::s_designated>(table, reversal);
  add_model<PermuteWay::conflict_free>(table, reversal);
  const std::optional<OfflineDevice> device = offline_device();
  add_measured(table, reversal, device);
  add_measured(table, permutations[kRandomPermutation], device);
  table.notes = {
      "the paper's curves have no numbers; its text says almost the same up to 8 blocks, one for each of its "
      "multiprocessors, and almost proportional to k for 8 k blocks",
      "each block permutes an array of 1024 elements of 4 bytes in its shared memory, by 1024 threads",
      device
          ? fmt::format("measured on {}: {} multiprocessors, each of which runs {} of these blocks side by "
                        "side, so that waiting of one is hidden by the other",
                        device->name, device->multiprocessors, device->blocks_each)
          : std::string("no times: here is no GPU to measure on")};
  return table;
}

}  // namespace faro::reproduce

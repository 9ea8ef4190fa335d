#include <atomic>

#include "faro/packed.hpp"
#include "faro/threads.hpp"
#include "oracle.hpp"
#include "thread_team.hpp"

namespace faro {
namespace {

// Bit i of an array, in an order.
bool bit_at(std::span<const std::byte> array, std::uint64_t i, BitOrder order) {
  const std::uint64_t shift = order == BitOrder::low_first ? i % 8 : 7 - i % 8;
  return (static_cast<unsigned>(array[i / 8]) >> shift & 1) != 0;
}

// Of elements within bytes the bits keep their weights, whatever the order; longer ones are rows of bits.
std::uint64_t bit_of_weight(const PackedLayout& layout, std::uint32_t bits, std::uint64_t x,
                            std::uint64_t weight) {
  const std::uint64_t first = packed_position(layout, bits, x);
  return layout.order == BitOrder::low_first ? first + weight : first + bits - 1 - weight;
}

bool is_there(const PackedProblem& problem, std::span<const std::byte> in, std::uint64_t x,
              std::span<const std::byte> out, std::uint64_t y) {
  for (std::uint64_t w = 0; w < problem.element_bits; ++w) {
    const bool from = bit_at(in, bit_of_weight(problem.in, problem.element_bits, x, w), problem.in.order);
    const bool to = bit_at(out, bit_of_weight(problem.out, problem.element_bits, y, w), problem.out.order);
    if (from != to) return false;
  }
  return true;
}

}  // namespace

std::string find_packed_mismatch(const PackedProblem& problem, std::span<const std::byte> in,
                                 std::span<const std::byte> out, int threads) {
  constexpr std::uint64_t kNone = ~std::uint64_t{0};
  const auto* indices = std::get_if<Indexed>(&problem.permutation);
  const Permutation forward =
      indices == nullptr ? problem.permutation : indices->redirected(Direction::scatter);
  const std::uint64_t count = element_count(problem.permutation);
  std::atomic<std::uint64_t> least = kNone;
  detail::share_out_evenly(count * problem.batch, detail::thread_count(threads),
                           [&](std::uint64_t begin, std::uint64_t end) {
                             for (std::uint64_t i = begin; i < end; ++i) {
                               const std::uint64_t array = i - i % count;
                               const std::uint64_t y = array + faro::apply(forward, i % count);
                               if (is_there(problem, in, i, out, y)) continue;
                               std::uint64_t before = least.load();
                               while (i < before && !least.compare_exchange_weak(before, i)) {
                               }
                               return;
                             }
                           });
  if (least == kNone) return {};
  return to_text(Mismatch{.batch_index = least / count,
                          .source = least % count,
                          .destination = faro::apply(forward, least % count)});
}

}  // namespace faro

#include "packed/any_elements.hpp"

#include <algorithm>
#include <vector>

#include "engines/cpu/team.hpp"
#include "faro/error.hpp"
#include "oracle.hpp"
#include "packed/bit_runs.hpp"
#include "rounding.hpp"

namespace faro::packed {
namespace {

constexpr std::uint64_t kElements = 4096;  // of a run

// Elements at `places`, one behind the other from bit 0 of `run` on.
void gather_words(const PackedProblem& problem, const std::byte* in, std::span<const std::uint64_t> places,
                  std::byte* run) {
  const std::uint32_t bits = problem.element_bits;
  const bool is_high = problem.out.order == BitOrder::high_first;
  std::uint64_t at = 0;
  unsigned byte = 0;
  for (const std::uint64_t x : places) {
    const unsigned value = element_at(in, packed_position(problem.in, bits, x), bits, problem.in.order);
    const auto in_byte = static_cast<unsigned>(at % kBitsOfByte);
    byte |= value << (is_high ? 8 - bits - in_byte : in_byte);
    at += bits;
    if (at % kBitsOfByte != 0) continue;
    run[at / kBitsOfByte - 1] = static_cast<std::byte>(byte);
    byte = 0;
  }
  if (at % kBitsOfByte != 0) run[at / kBitsOfByte] = static_cast<std::byte>(byte);
}

// An element below a byte, loaded in one order, in the other.
void turn_element(std::byte* element, std::uint32_t bits, BitOrder to) {
  if (to == BitOrder::low_first) {
    *element >>= kBitsOfByte - bits;
  } else {
    *element <<= kBitsOfByte - bits;
  }
}

// Elements of whole bytes, or that lie across bytes, each a run of its own.
void gather_runs(const PackedProblem& problem, const std::byte* in, std::span<const std::uint64_t> places,
                 std::byte* element, std::byte* run) {
  const std::uint32_t bits = problem.element_bits;
  std::uint64_t at = 0;
  for (const std::uint64_t x : places) {
    load_run(in, packed_position(problem.in, bits, x), bits, problem.in.order, element);
    if (problem.in.order != problem.out.order) turn_element(element, bits, problem.out.order);
    store_run(element, bits, problem.out.order, run, at, false);
    at += bits;
  }
}

void store_elements(const PackedProblem& problem, const std::byte* run, std::uint64_t first,
                    std::uint64_t count, std::byte* out) {
  const std::uint64_t row = problem.out.row_elements == 0 ? ~std::uint64_t{0} : problem.out.row_elements;
  for (std::uint64_t done = 0; done < count;) {
    const std::uint64_t y = first + done;
    const std::uint64_t in_row = std::min(count - done, row - y % row);
    const std::byte* from = run;
    std::vector<std::byte> aligned;
    const std::uint64_t bit = done * problem.element_bits;
    const std::uint64_t bits = in_row * problem.element_bits;
    if (bit != 0) {
      aligned.resize(bytes_of_bits(bits));
      load_run(run, bit, bits, problem.out.order, aligned.data());
      from = aligned.data();
    }
    store_run(from, bits, problem.out.order, out, packed_position(problem.out, problem.element_bits, y),
              false);
    done += in_row;
  }
}

// Whether no element of the input lies across two bytes.
bool lies_in_bytes(const PackedProblem& problem) {
  const std::uint32_t bits = problem.element_bits;
  return kBitsOfByte % bits == 0 && problem.in.first_bit % bits == 0 && problem.in.pitch_bits % bits == 0;
}

void fill_places(const Permutation& back, std::uint64_t first, std::span<std::uint64_t> places) {
  const auto* indices = std::get_if<Indexed>(&back);
  if (indices == nullptr) {
    destinations(back, first, places);
    return;
  }
  for (std::size_t i = 0; i < places.size(); ++i) places[i] = indices->entry(first + i);
}

}  // namespace

Permutation sources(const Permutation& permutation) {
  const auto* indices = std::get_if<Indexed>(&permutation);
  if (indices == nullptr) return inverse(permutation);
  if (!indices->on_host()) {
    fail(ErrorCode::value, "plan packed elements", "an index array on a device", "one of the host");
  }
  // out[i] = in[Q[i]]: read in order, it is where elements come from.
  return indices->redirected(Direction::gather);
}

void move_any(const PackedProblem& problem, const Permutation& back, const std::byte* in, std::byte* out,
              int threads) {
  const std::uint64_t count = element_count(back);
  const std::uint64_t runs = detail::ceil_div(count, kElements);
  cpu::share_out(problem.batch * runs, threads, [&](std::uint64_t begin, std::uint64_t end) {
    std::vector<std::uint64_t> places(kElements);
    const std::uint64_t element_bytes = bytes_of_bits(problem.element_bits) + 1;
    std::vector<std::byte> run(bytes_of_bits(kElements * problem.element_bits) + element_bytes);
    for (std::uint64_t i = begin; i < end; ++i) {
      const std::uint64_t first = i % runs * kElements;
      const std::uint64_t array = i / runs * count;
      const auto some = std::span(places).first(std::min(kElements, count - first));
      fill_places(back, first, some);
      for (std::uint64_t& place : some) place += array;
      if (lies_in_bytes(problem)) {
        gather_words(problem, in, some, run.data());
      } else {
        gather_runs(problem, in, some, run.data() + run.size() - element_bytes, run.data());
      }
      store_elements(problem, run.data(), array + first, some.size(), out);
    }
  });
}

}  // namespace faro::packed

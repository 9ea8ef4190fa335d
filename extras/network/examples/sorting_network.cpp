// A sorting network written as its recurrence, compiled to a few passes over memory, and run: 2^16
// measurements with their numbers are sorted, and the second half of the work is a comparator of our own.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <faro/network/network.hpp>
#include <vector>

namespace {

namespace network = faro::network;
using network::Program;

constexpr int kBits = 16;

struct Measurement {
  float value;
  std::uint32_t number;
};

// The balanced merger: x meets its mirror image, then the halves do the same.
Program column(int n, const network::Operator& op) {
  return n == 1 ? network::pairs(op, 1) : network::parm(3, column(n - 1, op));
}
Program merger(int n, const network::Operator& op) {
  return n == 1 ? column(1, op) : network::two(merger(n - 1, op)) * column(n, op);
}
Program sorter(int n, const network::Operator& op) {
  return n == 1 ? merger(1, op) : merger(n, op) * network::parm(1, sorter(n - 1, op));
}

// Even numbers before odd ones, each ascending.
void evens_first(void* a, void* b, std::uint64_t /*pair*/, int /*bits*/) {
  std::uint32_t first = 0;
  std::uint32_t second = 0;
  std::memcpy(&first, a, sizeof first);
  std::memcpy(&second, b, sizeof second);
  const auto order = [](std::uint32_t x) { return std::uint64_t{x & 1} << 32 | x; };
  if (order(first) <= order(second)) return;
  std::memcpy(a, &second, sizeof second);
  std::memcpy(b, &first, sizeof first);
}

}  // namespace

int main() {
  std::vector<Measurement> measurements(std::size_t{1} << kBits);
  for (std::uint32_t i = 0; i < measurements.size(); ++i) {
    measurements[i] = {.value = static_cast<float>(i * 2654435761U >> 8) - 8e6F, .number = i};
  }
  const auto by_value = network::compile({.program = sorter(kBits, network::operators::min_max()),
                                          .element = {.scalar = network::Scalar::f32, .with_value = true}});
  std::vector<Measurement> sorted(measurements.size());
  by_value.run(std::span<const Measurement>(measurements), std::span(sorted));
  const bool ascending =
      std::is_sorted(sorted.begin(), sorted.end(), [](auto& a, auto& b) { return a.value < b.value; });

  const auto comparator = network::operators::user("evens_first", "", evens_first);
  const auto by_parity =
      network::compile({.program = sorter(kBits, comparator), .element = {.scalar = network::Scalar::u32}});
  std::vector<std::uint32_t> numbers(measurements.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = sorted[i].number;
  std::vector<std::uint32_t> arranged(numbers.size());
  by_parity.run(std::span<const std::uint32_t>(numbers), std::span(arranged));
  bool arranged_well = true;
  for (std::uint32_t i = 0; i < arranged.size(); ++i) {
    const auto half = static_cast<std::uint32_t>(arranged.size() / 2);
    arranged_well = arranged_well && arranged[i] == (i < half ? 2 * i : 2 * (i - half) + 1);
  }

  std::printf("%zu layers in %zu passes over memory: the least value is %.0f, measured as number %u\n",
              by_value.plan().normal_form().layers.size(), by_value.plan().passes().size(),
              static_cast<double>(sorted.front().value), sorted.front().number);
  return ascending && arranged_well ? 0 : 1;
}

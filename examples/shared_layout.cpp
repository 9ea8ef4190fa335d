// Layouts of shared memory in a kernel of one's own: faro/layout/shared.hpp alone, and the same file in
// device code. Here on the CPU, lane by lane: what a warp pays for the rows and columns of a 32 x 32 tile of
// floats.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <faro/layout/shared.hpp>
#include <vector>

namespace {

constexpr std::uint32_t kWarp = 32;

struct Turns {
  std::uint32_t row;
  std::uint32_t column;
};

// The turns that a warp waits for distinct addresses: the most that lie in one bank.
std::uint32_t turns_of_warp(const std::vector<std::uint64_t>& addresses) {
  std::vector<std::uint32_t> of_bank(kWarp);
  for (const std::uint64_t address : addresses) ++of_bank[address % kWarp];
  return *std::max_element(of_bank.begin(), of_bank.end());
}

// The turns that a warp waits for row 5 and for column 5.
template <typename Layout>
Turns turns_of(const Layout& at) {
  std::vector<std::uint64_t> row;
  std::vector<std::uint64_t> column;
  for (std::uint32_t lane = 0; lane < kWarp; ++lane) {
    row.push_back(at(5, lane));
    column.push_back(at(lane, 5));
  }
  return {.row = turns_of_warp(row), .column = turns_of_warp(column)};
}

void tell(const char* name, Turns turns) { std::printf("%-8s %6u %8u\n", name, turns.row, turns.column); }

}  // namespace

int main() {
  constexpr std::uint64_t kSeed = 2014;
  const Turns natural = turns_of(faro::layout::Raw<32>{});
  const Turns turned = turns_of(faro::layout::Rap<32>::random(kSeed));
  std::printf("layout      row   column   turns of a warp\n");
  tell("RAW", natural);
  tell("padded", turns_of(faro::layout::Padded<32>{}));
  tell("RAS", turns_of(faro::layout::Ras<32>::random(kSeed)));
  tell("RAP", turned);
  return natural.column == kWarp && turned.row == 1 && turned.column == 1 ? 0 : 1;
}

#include "programs/matrix_access.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <utility>

#include "faro/error.hpp"
#include "faro/layout/shared.hpp"
#include "faro/machine/congestion.hpp"
#include "faro/suggest.hpp"
#include "programs/cost.hpp"

namespace faro::programs {
namespace {

constexpr std::array<std::string_view, 3> kLayoutNames{"raw", "ras", "rap"};

struct Element {
  std::uint64_t row = 0;
  std::uint64_t column = 0;
};

Element transposed(Element e) { return {.row = e.column, .column = e.row}; }

bool is_transpose(MatrixProgram program) { return program >= MatrixProgram::crsw; }

// What thread i m + j reads, or touches.
Element element_of(MatrixProgram program, std::uint64_t side, std::uint64_t i, std::uint64_t j) {
  switch (program) {
    case MatrixProgram::contiguous:
    case MatrixProgram::crsw:
      return {.row = i, .column = j};
    case MatrixProgram::stride:
    case MatrixProgram::srcw:
      return {.row = j, .column = i};
    case MatrixProgram::diagonal:
    case MatrixProgram::drdw:
      break;
  }
  return {.row = j, .column = (i + j) % side};
}

std::uint64_t stages_of(const machine::MachineOptions& machine, std::span<const std::uint32_t> list) {
  machine::TurnCounter turns(machine.width);
  std::vector<std::uint64_t> words(machine.width);
  std::uint64_t stages = 0;
  for (std::size_t first = 0; first < list.size(); first += words.size()) {
    std::copy_n(list.begin() + static_cast<std::ptrdiff_t>(first), words.size(), words.begin());
    stages += machine.kind == machine::MachineKind::dmm ? turns.by_bank(words) : turns.by_group(words);
  }
  return stages;
}

}  // namespace

std::string_view name(MatrixLayout layout) { return kLayoutNames[static_cast<std::size_t>(layout)]; }

MatrixLayout parse_matrix_layout(std::string_view text) {
  const auto* const found = std::find(kLayoutNames.begin(), kLayoutNames.end(), text);
  if (found == kLayoutNames.end()) {
    fail(ErrorCode::value, "read the layout", "`" + std::string(text) + "`", "raw, ras or rap",
         did_you_mean(text, kLayoutNames));
  }
  return static_cast<MatrixLayout>(found - kLayoutNames.begin());
}

std::vector<std::uint32_t> row_shifts(MatrixLayout layout, std::uint64_t side, std::uint64_t seed) {
  std::vector<std::uint32_t> shifts(side, 0);
  layout::SplitMix64 random{seed};
  if (layout == MatrixLayout::ras) {
    for (std::uint32_t& shift : shifts) shift = random.below(static_cast<layout::Index>(side));
  } else if (layout == MatrixLayout::rap) {
    std::iota(shifts.begin(), shifts.end(), std::uint32_t{0});
    for (std::size_t left = side; left > 1; --left)
      std::swap(shifts[left - 1], shifts[random.below(static_cast<layout::Index>(left))]);
  }
  return shifts;
}

std::vector<std::uint32_t> matrix_places(MatrixLayout layout, std::uint64_t side, std::uint64_t seed) {
  const std::vector<std::uint32_t> shifts = row_shifts(layout, side, seed);
  std::vector<std::uint32_t> places(side * side);
  for (std::uint64_t row = 0; row < side; ++row) {
    for (std::uint64_t column = 0; column < side; ++column)
      places[row * side + column] = static_cast<std::uint32_t>(row * side + (column + shifts[row]) % side);
  }
  return places;
}

MatrixAccess matrix_access(MatrixProgram program, MatrixLayout layout, const machine::MachineOptions& machine,
                           std::uint64_t n, std::uint64_t seed) {
  check_sizes(machine, n);
  const std::uint64_t side = matrix_side(n);
  if (layout != MatrixLayout::raw && side != machine.width) {
    fail(ErrorCode::value, "fit a program to the machine",
         "n = " + std::to_string(n) + " words in the layout " + std::string(name(layout)) + " at width " +
             std::to_string(machine.width),
         "w^2 = " + std::to_string(machine.width * machine.width) + " words: a w x w matrix");
  }
  const std::vector<std::uint32_t> places = matrix_places(layout, side, seed);
  const auto place = [&](Element e) { return places[e.row * side + e.column]; };
  MatrixAccess access;
  access.target.reserve(n);
  for (std::uint64_t x = 0; x < n; ++x) {
    const Element element = element_of(program, side, x / side, x % side);
    if (is_transpose(program)) access.source.push_back(place(element));
    access.target.push_back(place(is_transpose(program) ? transposed(element) : element));
  }
  return access;
}

Cost matrix_access_cost(const machine::MachineOptions& machine, const MatrixAccess& access) {
  check_sizes(machine, access.target.size());
  const Sizes sizes(machine, access.target.size());
  const bool reads = !access.source.empty();
  const std::uint64_t stages = stages_of(machine, access.target) + stages_of(machine, access.source);
  const Units hidden = Units{sizes.hidden} * Units{sizes.rounds};
  return {.time = (Units{stages} + (reads ? hidden + hidden : hidden)).value,
          .text = reads ? "2 (l - 1) n/p + (stages of reads and writes, counted)"
                        : "(l - 1) n/p + (stages, counted)",
          .source = "RAP, sections IV to VI"};
}

}  // namespace faro::programs

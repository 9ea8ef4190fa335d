// Rows whose numbers change on their way (row_vectors.hpp, row_elements.hpp): vectors of as many numbers on
// both sides, each with what is added to it.
//
//     in    k numbers of From   -->   widened, scaled, added to, rounded   -->   k numbers of To    out
//
// Factors go by a number's place in the output. What fills a taken row stands there as it is.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/number_lanes.hpp"
#include "kernels/number_program.hpp"
#include "kernels/row_vectors.hpp"
#include "kernels/value_factors.hpp"

namespace faro::kernels {

/// What a launch needs besides its rows, of every program.
struct RowChanges {
  const void* addend = nullptr;  // lies as the output
  PlacedFactors factors;
};

/// The most bytes that a vector of numbers has, of any type that takes part; of the narrowest at most 16.
inline constexpr int kMostChangedBytes = 32;

/// k numbers, of which a row is a multiple, and all addresses are where those have less than 16 bytes.
template <typename Program, int k, bool kAlongAxes = false>
struct ChangedVectors : RowChanges {
  using From = typename Program::From;
  using To = typename Program::To;
  using Addend = typename Program::Addend;
  using Results = Lanes<To, k>;
  static constexpr int kOutBytes = k * static_cast<int>(sizeof(To));
  static constexpr int kBytes = k * static_cast<int>(sizeof(From) > sizeof(To) ? sizeof(From) : sizeof(To));

  struct Loaded {
    Lanes<From, k> numbers;
    Lanes<Addend, k> others;  // NoAddend: never read
  };

  constexpr Loaded load(const std::byte* in, std::uint64_t from, [[maybe_unused]] std::uint64_t to,
                        std::uint32_t further = 0) const {
    Loaded loaded;
    loaded.numbers = (reinterpret_cast<const Lanes<From, k>*>(in) + from)[further];
    if constexpr (Program::kHasAddend)
      loaded.others = (static_cast<const Lanes<Addend, k>*>(addend) + to)[further];
    return loaded;
  }
  constexpr void store(std::byte* out, std::uint64_t to, const Loaded& loaded,
                       std::uint32_t further = 0) const {
    PlacedProgram<Program, kAlongAxes> program(factors, (to + further) * k);
    Results results;
    FARO_UNROLL
    for (int i = 0; i < k; ++i) results.put(i, program.changed(loaded.numbers.get(i), loaded.others.get(i)));
    (reinterpret_cast<Results*>(out) + to)[further] = results;
  }
  constexpr bool fill(Loaded& /*vector*/, std::byte* out, std::uint64_t to, const std::byte* pattern) const {
    reinterpret_cast<Results*>(out)[to] =
        pattern != nullptr ? *reinterpret_cast<const Results*>(pattern) : Results();
    return false;
  }
};

}  // namespace faro::kernels

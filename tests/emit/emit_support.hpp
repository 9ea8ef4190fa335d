// What the tests of emission share: maps by their text, and the command that a failure prints.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <variant>

#include "emit/kernel_plan.hpp"
#include "faro/emit/emit.hpp"
#include "faro/error.hpp"
#include "faro/permutation/affine.hpp"
#include "faro/permutation/permutation.hpp"

namespace faro::emit {

inline constexpr Rung kRungs[] = {Rung::naive, Rung::tile,     Rung::banks,
                                  Rung::iters, Rung::two_pass, Rung::one_pass};

inline Affine map_of(const std::string& text) { return std::get<Affine>(parse_permutation(text)); }

inline std::string command_of(const Affine& map, const Options& options) {
  std::string text =
      "faro emit '" + to_text(map) + "' --kernel " + name(options.rung) + " --element " + options.element;
  if (options.tile_bits != 0) text += " --n-tile " + std::to_string(options.tile_bits);
  if (options.rung == Rung::iters) text += " --n-iter " + std::to_string(options.iteration_bits);
  return text;
}

inline bool can_do(const Affine& map, const Options& options) {
  try {
    plan_kernels(map, find_element(options), options);
    return true;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::unsupported) << error.what();
    return false;
  }
}

}  // namespace faro::emit

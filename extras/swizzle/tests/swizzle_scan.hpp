// Sums of all lanes up to one's own: what several tests of reductions in trees ask for.
#pragma once

#include <cstdint>

#include "faro/swizzle/specification.hpp"

namespace faro::swizzle {

struct Scan {
  explicit Scan(std::int64_t lanes)
      : in(specification.input("I", lanes)), out(specification.output("O", lanes)) {
    for (std::int64_t i = 0; i < lanes; ++i) {
      auto sum = specification.accumulator({});
      for (std::int64_t k = 0; k <= i; ++k) sum.add({specification.at(in, k)});
      specification.set(out, i, sum);
    }
  }

  Specification specification;
  Array in;
  Array out;
};

}  // namespace faro::swizzle

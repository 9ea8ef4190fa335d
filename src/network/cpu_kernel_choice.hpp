// Which kernel runs an operator on elements of a type, and in what form they are compared.
#pragma once

#include <cstdint>

#include "network/cpu_chunks.hpp"

namespace faro::network::cpu {

struct KernelChoice {
  Kernel kernel = Kernel::scalar;
  Recoding recoding = Recoding::none;
};

/// Requires: check_fits(op, element) passes (unchecked). Users' operators have Kernel::scalar.
KernelChoice kernel_for(const Operator& op, const ElementType& element);

/// Of one lane of the kernel's vectors: 4 or 8.
std::uint64_t lane_bytes(Kernel kernel);

}  // namespace faro::network::cpu

// A conversion through shared memory: where each byte lies, so that neither side meets a bank conflict.
#pragma once

#include "faro/exchange/conversion.hpp"

namespace faro::exchange {

/// Nothing for warps of other than 32 lanes, and where a source byte has more than one taker.
std::optional<SharedExchange> plan_shared(const Conversion& conversion);

/// Byte address of a source or target place. `columns`: store_address or load_address.
f2::Word address_of(const std::vector<f2::Word>& columns, f2::Word place);

/// The places that one access of a lane moves, byte by byte, as registers' bytes of lane 0: `held_bits`
/// in-lane bits of places, accesses of 2^access_bits bytes. Law: their addresses are consecutive and aligned,
/// but for the lane's part.
std::vector<std::vector<f2::Word>> accesses_of(const std::vector<f2::Word>& columns, int held_bits,
                                               int access_bits);

}  // namespace faro::exchange

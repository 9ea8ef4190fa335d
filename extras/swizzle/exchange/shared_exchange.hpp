// A conversion through shared memory: where each byte lies, so that neither side meets a bank conflict that
// any placement for its instructions avoids.
#pragma once

#include "faro/exchange/conversion.hpp"

namespace faro::exchange {

/// Of registers to registers: with a placement of its own. Nothing for warps of other than 32 lanes, and
/// where two registers of a lane take one byte.
std::optional<SharedExchange> plan_shared(const Conversion& conversion, const ConversionOptions& options);

/// Of registers and a layout in memory, in either direction: its addresses are given. `address`: of every bit
/// of the registers' places. Errors: ErrorCode::unsupported for registers of a lane that hold one byte twice.
SharedExchange plan_access(const Conversion& conversion, const std::vector<f2::Word>& address,
                           const ConversionOptions& options);

}  // namespace faro::exchange

// Elements as symbols, for run_symbolic and first_mismatch.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "faro/swizzle/interpret.hpp"

namespace faro::swizzle {

/// Called where a program demands that inputs be present: the registers of the warp, and the addresses.
using PresentHook = std::function<void(const PresentStatement& statement, std::span<const ValueId> registers,
                                       std::span<const std::int64_t> addresses)>;

/// run_symbolic, with an ear for `present`.
std::vector<std::vector<ValueId>> run_symbolic_with(const Program& program, const Valuation& valuation,
                                                    ValueTable& values, const Watcher& watcher,
                                                    const PresentHook& present);

/// Errors: ErrorCode::spec where a hole has no function; those of check(program).
void require_runnable(const Program& program, const Valuation& valuation);

/// Errors: ErrorCode::spec where the program was made for other arrays.
void require_same_arrays(const Specification& specification, const Program& program);

/// By array number: whether what the program stores there is compared with what is wanted. An output that
/// the program never stores, and names in `present`, is only asked to be computable.
std::vector<bool> compared_outputs(const Program& program);

}  // namespace faro::swizzle

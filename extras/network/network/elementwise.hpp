// Elementwise functions with a constant: what `each(add 5)` says, does on a CPU and says to a GPU's compiler.
// One table of functions serves the parser, the checks, the loops and the kernels.
#pragma once

#include <string>
#include <string_view>

#include "faro/network/operator.hpp"

namespace faro::network {

/// Whether elements of `type` have a meaning for `op`, of kind elementwise, and its constant fits them.
/// Errors: ErrorCode::value, naming the function and the type.
void check_elementwise(const Operator& op, const ElementType& type);

/// CUDA C++ statements that replace `a`, a reference to an element of `type`, of a kernel's Complex where it
/// is complex. Requires: check_elementwise passes.
std::string elementwise_statements(const Operator& op, const ElementType& type);

}  // namespace faro::network

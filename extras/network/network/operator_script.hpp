// Users' operators on a CPU by their text: the part of CUDA C++ that such operators are mostly made of, read
// once and then carried out for every pair.
//
//     auto m = a % b; a = b; b = m;
//     if (b < a) { const auto t = a; a = b; b = t; }
//     a = p < 4u ? a + b : max(a, b);
//
//     statements    declarations with `=` of auto, bool, int, unsigned, float, double and the fixed-width integers;
//                   = += -= *= /= %= &= |= ^= <<= >>= ++ --, if and else, { }
//     expressions   C++'s operators but for the comma and assignments within; ?:, static_cast<T>(x), T(x), min, max, abs
//
// Types, promotions and conversions are C++'s. What it leaves undefined is defined here: signed numbers wrap;
// a number that an integer cannot hold becomes the nearest one, a NaN zero, as on a GPU; what divides by zero
// or shifts by a number's width or more is refused when it happens. No loops, so every text ends.
#pragma once

#include <memory>

#include "faro/network/operator.hpp"

namespace faro::network {

/// What `op`, a user's, does to elements of `type` here: its own function, or else its text.
/// Errors: ErrorCode::unsupported, naming the operator and the place, for an operator without function whose
/// text has more in it, and for texts on elements that are complex or have a value. The function's:
/// ErrorCode::value as said above. Cost: one walk over the text.
std::shared_ptr<const HostFunction> host_function(const Operator& op, const ElementType& type);

/// The same, remembered by each thread for the operator that it asked for last: for who applies an operator
/// pair by pair.
const HostFunction& remembered_host_function(const Operator& op, const ElementType& type);

}  // namespace faro::network

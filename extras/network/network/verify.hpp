// A result held against what the program means, without the plan or the engine that made it.
//
//     the program                            the check
//     sort, bitonic_sort of the library      every array sorted, and the same elements as before
//     only compare-exchange, or integers     every element, bit for bit, against layer after layer
//     sums of floats or complex numbers      the error relative to the same layers in double precision
//
// A sorted array is the only one with its elements (the order is total), so two facts prove the first: no
// element is smaller than the one before it, and the sums of two hashes over all elements are what they were.
// Floats are summed in another order by an engine that fuses layers or multiplies and adds at once; the bound
// is that of the transform's rounding: 4 eps log2(N) of the root mean square.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "faro/network/network.hpp"

namespace faro::network {

struct Verification {
  std::string method;  // in words
  double error = 0;    // relative; 0 where every bit is compared
  double bound = 0;    // that it must not pass
};

/// Errors: ErrorCode::verification, naming the first element that is wrong, or the error and its bound;
/// ErrorCode::value where an array is not of the problem's bytes; ErrorCode::unsupported for a user's
/// operator without host function. Cost: one core; memory for one array more, for floats that are summed two
/// in double precision; linear for the sorters, else the reference operator for every pair of every layer.
Verification verify(const Problem& problem, std::span<const std::byte> in, std::span<const std::byte> out);

}  // namespace faro::network

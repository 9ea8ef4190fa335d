// The adviser: which layout of shared memory fits what a kernel does with it.
//
//     a = make_shared_array(64, 64, 2)                       a tile of 16-bit floats
//     advise({a, {row_access(a, 8), column_access(a, 8)}})   16 bytes a lane, along and down
//
//     candidate        row(8)   column(8)   memory       worst congestion of a phase
//     RAW                   1           8
//     Swizzle<3,3,3>        1           1                 <- nothing to pay, nothing left to gain
//     pad 8                 1           1      +1 KiB
//     3P                    1           1                 random turns; holds for every seed
//
// Every candidate is judged by one referee: it takes the real address of every element, splits each warp's
// access into the phases of the hardware, and counts the distinct words in each of 32 banks. What is linear
// is proven by ranks besides, and the random layouts are counted for many seeds.
//
// The choice: the least worst congestion; of equals the fewest turns, by one in twenty at least; of equals
// the simplest, in the order natural, CuTe's swizzle, XOR, padding, RAP. One exception: where a recorded
// access follows no rule and none of the first four is free of conflicts on all of it, RAP is chosen, because
// its expectation holds for any access, that of the next run included.
#pragma once

#include "faro/layout/advice.hpp"

namespace faro::layout {

/// Requires: at least one access (checked, ErrorCode::value), each made for the array (unchecked).
/// Cost: below a second for 32 KiB, some seconds at most for a full shared memory.
Advice advise(const AdviceRequest& request);

}  // namespace faro::layout

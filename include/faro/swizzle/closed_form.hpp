// The row-column-row exchange of structs of S words among W lanes, for every S and W, without search.
//
// A warp loads S contiguous rows of W words, and wants word r of struct t in register r of lane t. Loading
// each row rotated, permuting the registers of each lane, and storing each row in another order does it with
// no shuffle at all: S = 4, W = 8,
//
//     loaded, lane f1(t, i)          registers permuted by r1(r, t)      the target, lanes s(t, r)
//      0  1  2  3  4  5  6  7         0  8 16 24  4 12 20 28              0  4  8 12 16 20 24 28
//     11  8  9 10 15 12 13 14        25  1  9 17 29  5 13 21              1  5  9 13 17 21 25 29
//     18 19 16 17 22 23 20 21        18 26  2 10 22 30  6 14              2  6 10 14 18 22 26 30
//     25 26 27 24 29 30 31 28        11 19 27  3 15 23 31  7              3  7 11 15 19 23 27 31
//
// With c = gcd(S, W), a = S/c, b = W/c, b' the inverse of b mod a, and a' that of a mod b:
//     f1(t, i) = c (t div c) + (t - i div a) mod c
//     r1(r, t) = a ((t - r) mod c) + (b' (r div c - t div c)) mod a
//     s(t, r)  = b ((t - r) mod c) + (a' (t div c - r div c)) mod b
// The last two are one formula with a and b exchanged. They fit: let w = (t - r) mod c and q = r1 mod a. Row
// r1 was rotated by r1 div a = w, so that f1(t, r1) = c (t div c) + r mod c; and b q = r div c - t div c mod
// a, so that S divides W r1 + f1(t, r1) - r, and the quotient is b w + (b q + t div c - r div c) / a, whose
// second term is between 0 and b - 1 and therefore the one that s has.
//
// Source: section 2 of Catanzaro, Keller, Garland, "A decomposition for in-place matrix transposition", and
// the exchange that Swizzle Inventor found for its cases; the closed form for all S is faro's own.
#pragma once

#include <cstdint>

#include "faro/swizzle/hole.hpp"

namespace faro::swizzle {

/// Gathers all. Arguments in the order of the holes: (t, i), (r, t), (t, r).
struct ClosedForm {
  FormulaParameters load;    // lane whose word lane t loads in round i
  FormulaParameters column;  // register whose word register r of lane t takes
  FormulaParameters store;   // struct, of the warp's W, whose word r lane t stores in round r
};

/// Law: with them the sketch `aos-rcr` of S and W meets its specification: tested for S = 1 .. 64, W = 4
/// .. 64. Errors: ErrorCode::value for S or W below 1 or above 1024.
ClosedForm closed_form_exchange(std::int64_t struct_words, std::int64_t warp);

/// The same for column-row-column: permute, shuffle, rotate (Catanzaro's R2C, its first two steps in one).
/// Arguments (r, t), (t, r), (r, t). Law and errors as above, of the sketch `aos-crc`.
struct ClosedFormColumns {
  FormulaParameters first, row, last;
};
ClosedFormColumns closed_form_columns(std::int64_t struct_words, std::int64_t warp);

}  // namespace faro::swizzle

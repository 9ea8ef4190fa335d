// What composition and powers are without an index array: for those who must know before they make one.
#pragma once

#include <cstdint>
#include <optional>

#include "faro/permutation/permutation.hpp"

namespace faro::detail {

/// a o b where no array is needed. Errors: ErrorCode::value for different counts.
std::optional<Permutation> compose_forms(const Permutation& a, const Permutation& b);

/// The k-fold composition where no array is needed.
std::optional<Permutation> power_form(const Permutation& permutation, std::int64_t k);

}  // namespace faro::detail

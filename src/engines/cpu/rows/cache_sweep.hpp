// A paged cache moved on the host.
#pragma once

#include <span>

#include "permutation/cache_checks.hpp"

namespace faro::cpu {

/// Requires: what require_cache_move() asks for (unchecked). Errors: those of read_tables(), before anything
/// is written.   Cost: a sweep over what is moved, shared out by blocks of the target.
void move_cache(const CacheMove& move, std::span<const CacheArrays> arrays, const CacheTables& tables,
                int threads);

}  // namespace faro::cpu

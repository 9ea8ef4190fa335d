#include "file/places.hpp"

#include "faro/error.hpp"

namespace faro::file {

void Places::fill_inverse(std::uint64_t, std::span<std::uint64_t>) const { FARO_CHECK(has_inverse()); }

}  // namespace faro::file

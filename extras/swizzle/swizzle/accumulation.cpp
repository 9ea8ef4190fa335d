#include "faro/swizzle/accumulation.hpp"

#include <iterator>

namespace faro::swizzle {

const char* name(Operator op) noexcept {
  static constexpr const char* kWords[] = {"", "+", "*", "^", "&", "|", "min", "max"};
  static_assert(std::size(kWords) == static_cast<std::size_t>(Operator::greatest) + 1);
  return kWords[static_cast<std::size_t>(op)];
}

}  // namespace faro::swizzle

#include "faro/swizzle/accumulation.hpp"

namespace faro::swizzle {

const char* name(Operator op) noexcept {
  switch (op) {
    case Operator::none:
      return "";
    case Operator::add:
      return "+";
    case Operator::multiply:
      return "*";
    case Operator::bit_xor:
      return "^";
    case Operator::bit_and:
      return "&";
    case Operator::bit_or:
      return "|";
    case Operator::least:
      return "min";
    case Operator::greatest:
      return "max";
  }
  return "";
}

}  // namespace faro::swizzle

// Whether a list has a value.
#pragma once

#include <algorithm>
#include <iterator>

namespace faro::detail {

template <typename List, typename Value>
constexpr bool contains(const List& list, const Value& value) {
  return std::find(std::begin(list), std::end(list), value) != std::end(list);
}

}  // namespace faro::detail

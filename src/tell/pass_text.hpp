// One pass of a plan in words.
#pragma once

#include <cstddef>

#include "tell/facts.hpp"
#include "tell/margin_text.hpp"

namespace faro::detail {

/// The lines of facts.passes[index].
void add_pass(MarginText& text, const PlanFacts& facts, std::size_t index);

}  // namespace faro::detail

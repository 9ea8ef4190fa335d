// What plans of index arrays say about themselves, shared by their text and their JSON, and by the plans of
// what an index array was recognised as.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "faro/permutation/permutation.hpp"
#include "faro/plan/plan.hpp"
#include "tell/margin_text.hpp"

namespace faro::detail {

/// What was tried, a line each; nothing where nothing was.
void add_recognition(MarginText& text, const Recognition& recognition);
nlohmann::ordered_json recognition_json(const Recognition& recognition);

/// What explain() says before and after the passes.
void add_index_plan(MarginText& text, const IndexPlan& plan);
void add_workspace(MarginText& text, const IndexPlan& plan);
void add_transpose_plan(MarginText& text, const TransposePlan& plan);
void add_workspace(MarginText& text, const TransposePlan& plan);

/// Why the chosen method serves, one sentence without a full stop.
std::string method_reason(const IndexPlan& plan);

}  // namespace faro::detail

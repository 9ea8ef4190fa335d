// The refusals of emit().
#pragma once

#include <string>

#include "emit/kernel_plan.hpp"
#include "faro/error.hpp"

namespace faro::emit {

/// Throws, for the operation "emit RUNG".
[[noreturn]] void refuse(const Options& options, ErrorCode code, const std::string& got,
                         const std::string& wanted, const std::string& remedy = "");

/// Errors: ErrorCode::unsupported for more threads, shared memory or blocks than a launch may have.
void require_room(const KernelPlan& plan, const Options& options);

/// Errors: ErrorCode::value for sizes that no map of `bits` bits has.
void require_sizes(int bits, const Options& options);

/// Errors: ErrorCode::value for what is no C++ identifier, or one that is taken.
void require_name(const Options& options);

/// Errors: ErrorCode::unsupported for an element that C++ does not have, ErrorCode::value for a launcher of
/// it.
void require_language(const ElementType& element, const Options& options);

/// The entry of options.element. Errors: ErrorCode::value, naming the nearest type.
const ElementType& find_element(const Options& options);

}  // namespace faro::emit

#include "faro/problem/problem.hpp"

#include <string>

#include "faro/error.hpp"

namespace faro {

std::uint64_t total_bytes(const Problem& problem) {
  constexpr std::uint64_t kLimit = std::uint64_t{1} << 62;
  const std::uint64_t count = element_count(problem);
  const auto too_many = [&](std::uint64_t a, std::uint64_t b) { return a != 0 && b > kLimit / a; };
  if (too_many(count, problem.element_bytes) || too_many(count * problem.element_bytes, problem.batch)) {
    fail(ErrorCode::value, "size of the problem",
         std::to_string(problem.batch) + " x " + std::to_string(count) + " elements of " +
             std::to_string(problem.element_bytes) + " bytes",
         "at most 2^62 bytes in all");
  }
  return count * problem.element_bytes * problem.batch;
}

std::uint64_t element_count(const Problem& problem) {
  return problem.view ? element_count(*problem.view) : element_count(problem.permutation);
}

std::string to_text(const Problem& problem) {
  return problem.view ? to_text(*problem.view) : to_text(problem.permutation);
}

}  // namespace faro

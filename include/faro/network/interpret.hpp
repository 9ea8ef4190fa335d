// Interprets a program by its definition: the reference for rewriting, planning and engines.
//
// It does what each combinator says and nothing else: parm takes the array apart element by element, runs its
// part on both sub-arrays and puts them back. One core, no care for caches.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "faro/network/program.hpp"

namespace faro::network {

/// Replaces `data`, 2^n elements of `element`, by the program's result. Memory: as much again.
/// Errors: those of check_element; ErrorCode::value where the bytes are not 2^n elements'; ErrorCode::
/// unsupported for a user's operator without host function whose text a CPU does not read.
void interpret(const Program& program, const ElementType& element, std::span<std::byte> data);

/// The same on values whose bytes are elements of `element`.
template <typename Value>
std::vector<Value> interpret(const Program& program, const ElementType& element, std::vector<Value> values) {
  interpret(program, element, std::as_writable_bytes(std::span(values)));
  return values;
}

}  // namespace faro::network

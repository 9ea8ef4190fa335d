// Memory of large results: freed ones stay for the next.
//
// The system clears the pages of a new array one after another when they are first written, and takes them
// back when it is freed. For 200 MiB that takes longer than the permutation that fills them. So memory of
// results of 2 MiB and more is kept when they are freed, up to a limit, and it begins at a huge page. What is
// kept is marked as free (MADV_FREE): the system takes it where it wants memory. NumPy's arrays own their
// memory as ever: they are made and freed by a handler as NumPy has them (NEP 49).
#pragma once

#include <cstddef>
#include <cstdint>

namespace faro::python {

constexpr std::size_t kLeastKeptBytes = std::size_t{2} << 20;
constexpr std::uint64_t kMostKeptBytes = std::uint64_t{512} << 20;  // at first

/// At least so many bytes; null where there are none. May be called from many threads at once, as all of
/// these.
void* take_memory(std::size_t bytes);

/// What take_memory() gave; null is nothing.
void give_memory(void* memory);

/// Bytes behind an address that take_memory() gave.
std::size_t memory_behind(void* memory);

/// How much is kept at most; what is kept beyond it is given back to the system, the oldest first.
void keep_memory(std::uint64_t most_bytes);

std::uint64_t kept_memory();

}  // namespace faro::python

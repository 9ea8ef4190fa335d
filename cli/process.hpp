// The process that the command is given: its stacks, however small the limits that it inherits.
#pragma once

#include <functional>

namespace faro::cli {

/// Where the address space has a limit, all threads have one heap: the C library would reserve 64 MiB for the
/// heap of each, which is taken from what a verb has found free.
void share_heap_under_limit();

/// Gives the threads that will be made stacks to work on. OpenMP's library reads OMP_STACKSIZE before main():
/// where that is too little the program is started anew with another value, and this does not return.
void prepare_thread_stacks(char** argv);

/// Returns work(), called where there are 8 MiB of stack, or as much as the system gives.
int with_enough_stack(const std::function<int()>& work);

}  // namespace faro::cli

// How many threads work on an array.
//
// OpenMP's library ends the process where it cannot make a thread, and believes any number that the
// environment names. So every parallel region here asks for a number of threads that were seen to be
// possible.
//
// A child of fork() has none of the threads that OpenMP's library keeps for the next parallel region, and
// would wait for them. So they end before a fork of a thread that has used faro.
#pragma once

namespace faro::detail {

/// `asked` threads, or where that is 0 as many as OpenMP takes of its own (OMP_NUM_THREADS, else every core):
/// at most four a processor, and no more than the system lets this process make. At least 1.
/// Cost: the first time that so many are asked for, making and joining them: some 20 us each.
int thread_count(int asked = 0);

/// How many of `wanted` threads of another kind, which stay, there can be beside a team of `team` and ours
/// that leads it. Cost: makes and joins that many threads, some 20 us each.
int threads_beside(int team, int wanted);

/// Ends the threads that OpenMP's library keeps for the next parallel region. For some milliseconds they wait
/// for it by looking again and again, which takes the processor from who reads and writes meanwhile. Nothing
/// inside of a parallel region.   Cost: the next region makes them anew, some 20 us each.
void rest_threads();

/// The most that thread_count() gives: four a processor.
int most_threads();

}  // namespace faro::detail

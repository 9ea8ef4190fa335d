// Partition schedules whose places are free of bank conflicts.
//
//     w = 4 lanes and banks, runs of 4:      buckets of the elements   0 1 2 3 | 0 1 2 3 | 0 1 2 3 | 0 1 2 3
//
//     in the order of the source, places     0 4 8 12 | 1 5 9 13 | …      banks 0 0 0 0: four turns
//     free of conflicts                      0 5 10 15 | 1 6 11 12 | …    banks 0 1 2 3: one turn
//
// The order inside a run is free: the next pass takes it from there. So the w elements that a warp stores may
// share out the banks among them, if each run's places are dealt out with all warps in view. Edges from warps
// to runs, coloured by banks: every warp has each colour once, and a run as many of each as it has places in
// that bank. Where all runs are whole rows of banks that is a proper edge colouring of a regular graph; in
// general the sides of a splitting are prescribed, and not every chunk has a solution. What is made here is
// nearly always free of conflicts where runs are long, and never invalid.
//
// It takes some 25 times as long as the plain order; docs/theory/partition-passes.md has the turns, counted,
// and says when they matter. The last pass has no such freedom.
#pragma once

#include "faro/schedule/index_schedule.hpp"

namespace faro::schedule {

inline constexpr int kMaxLanes = 32;

/// A schedule of the same permutation and shape as partition_schedule's, the order in its runs chosen so that
/// each `lanes` consecutive elements of a chunk, from a multiple of `lanes` on, have places in as many banks
/// (place mod lanes) as can be found. For elements of 4 bytes lanes is 32, of 8 bytes 16, of 16 bytes 8.
/// Law:    check_schedule() takes it, and entries_of() is the array; whatever the number of threads.
/// Errors: ErrorCode::value for lanes that are no power of two in 2..kMaxLanes; as partition_schedule.
/// Cost:   a third of a microsecond an element and level, divided among the threads.
PartitionSchedule conflict_free_partition_schedule(const Indexed& indexed, const PartitionShape& shape,
                                                   int lanes, int threads = 0);

}  // namespace faro::schedule

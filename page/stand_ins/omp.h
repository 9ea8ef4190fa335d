// OpenMP as the page has it: one thread.
#pragma once
inline int omp_get_num_procs() { return 1; }
inline int omp_get_max_threads() { return 1; }
inline int omp_get_num_threads() { return 1; }
inline int omp_get_thread_num() { return 0; }
enum omp_pause_resource_t { omp_pause_soft = 1, omp_pause_hard = 2 };
inline int omp_pause_resource_all(omp_pause_resource_t) { return 0; }

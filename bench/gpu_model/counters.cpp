#include "bench/gpu_model/counters.hpp"

namespace faro::bench::gpu_model {
namespace {

using machine::AccessCounts;

double as_double(std::uint64_t count) { return static_cast<double>(count); }

}  // namespace

const std::vector<Counter>& counters() {
  static const std::vector<Counter> all{
      {"load requests", "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", Criterion::equal,
       [](const AccessCounts& c) { return as_double(c.global_loads.requests); }},
      {"store requests", "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", Criterion::equal,
       [](const AccessCounts& c) { return as_double(c.global_stores.requests); }},
      {"sectors loaded", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", Criterion::equal,
       [](const AccessCounts& c) { return as_double(c.global_loads.sectors); }},
      {"sectors stored", "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", Criterion::equal,
       [](const AccessCounts& c) { return as_double(c.global_stores.sectors); }},
      {"shared load requests", "smsp__sass_inst_executed_op_shared_ld.sum", Criterion::equal,
       [](const AccessCounts& c) { return as_double(c.shared_loads.requests); }},
      {"shared store requests", "smsp__sass_inst_executed_op_shared_st.sum", Criterion::equal,
       [](const AccessCounts& c) { return as_double(c.shared_stores.requests); }},
      {"shared load wavefronts", "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
       Criterion::within_a_hundredth,
       [](const AccessCounts& c) { return as_double(c.shared_loads.wavefronts); }},
      {"shared store wavefronts", "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
       Criterion::within_a_hundredth,
       [](const AccessCounts& c) { return as_double(c.shared_stores.wavefronts); }},
      {"shared load wavefronts, of the pipe", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
       Criterion::shown, [](const AccessCounts& c) { return as_double(c.shared_loads.wavefronts); }},
      {"shared store wavefronts, of the pipe", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
       Criterion::shown, [](const AccessCounts& c) { return as_double(c.shared_stores.wavefronts); }},
      {"shared load conflicts", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", Criterion::shown,
       [](const AccessCounts& c) { return as_double(c.shared_loads.wavefronts - c.shared_loads.phases); }},
      {"shared store conflicts", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", Criterion::shown,
       [](const AccessCounts& c) { return as_double(c.shared_stores.wavefronts - c.shared_stores.phases); }},
  };
  return all;
}

std::string metric_list() {
  std::string list;
  for (const Counter& counter : counters()) list += (list.empty() ? "" : ",") + counter.metric;
  return list;
}

}  // namespace faro::bench::gpu_model

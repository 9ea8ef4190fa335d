#include "bench/gpu_model/counters.hpp"

#include <algorithm>

namespace faro::bench::gpu_model {
namespace {

using machine::AccessCounts;

double as_double(std::uint64_t count) { return static_cast<double>(count); }

}  // namespace

const std::vector<Counter>& counters() {
  static const std::string pipe = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_";
  static const std::string copied = "_pipe_lsu_mem_global_op_ldgsts.sum";
  static const std::string conflicts = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_";
  static const std::vector<Counter> all{
      {"load requests", "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", "", Criterion::equal,
       [](const AccessCounts& c) { return as_double(c.global_loads.requests); },
       "l1tex__t_requests" + copied},
      {"store requests", "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", "", Criterion::equal,
       [](const AccessCounts& c) { return as_double(c.global_stores.requests); }},
      {"sectors loaded", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "", Criterion::equal,
       [](const AccessCounts& c) { return as_double(c.global_loads.sectors); }, "l1tex__t_sectors" + copied},
      {"sectors stored", "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", "", Criterion::equal,
       [](const AccessCounts& c) { return as_double(c.global_stores.sectors); }},
      {"shared load requests", "smsp__sass_inst_executed_op_shared_ld.sum", "", Criterion::equal,
       [](const AccessCounts& c) { return as_double(c.shared_loads.requests); }, "", true},
      {"shared store requests", "smsp__sass_inst_executed_op_shared_st.sum", "", Criterion::equal,
       [](const AccessCounts& c) { return as_double(c.shared_stores.requests); }, "", true},
      {"shared load wavefronts", "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", "",
       Criterion::equal, [](const AccessCounts& c) { return as_double(c.shared_loads.wavefronts); }, "",
       true},
      {"shared store wavefronts", "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st.sum", "",
       Criterion::equal, [](const AccessCounts& c) { return as_double(c.shared_stores.wavefronts); }, "",
       true},
      {"shared load phases: the pipe's wavefronts less its conflicts", pipe + "ld.sum", conflicts + "ld.sum",
       Criterion::equal, [](const AccessCounts& c) { return as_double(c.shared_loads.phases); }, "", true},
      {"shared store phases: the same", pipe + "st.sum", conflicts + "st.sum", Criterion::equal,
       [](const AccessCounts& c) { return as_double(c.shared_stores.phases); }, "", true},
      {"shared load wavefronts of the pipe", pipe + "ld.sum", "", Criterion::shown,
       [](const AccessCounts& c) { return as_double(c.shared_loads.wavefronts); }, "", true},
      {"shared store wavefronts of the pipe", pipe + "st.sum", "", Criterion::shown,
       [](const AccessCounts& c) { return as_double(c.shared_stores.wavefronts); }, "", true},
      {"shared load conflicts", conflicts + "ld.sum", "", Criterion::shown,
       [](const AccessCounts& c) { return as_double(c.shared_loads.wavefronts - c.shared_loads.phases); }, "",
       true},
      {"shared store conflicts", conflicts + "st.sum", "", Criterion::shown,
       [](const AccessCounts& c) { return as_double(c.shared_stores.wavefronts - c.shared_stores.phases); },
       "", true},
  };
  return all;
}

std::vector<std::string> metrics() {
  std::vector<std::string> names;
  const auto add = [&](const std::string& name) {
    if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  for (const Counter& counter : counters()) {
    add(counter.metric);
    add(counter.less);
    add(counter.more);
  }
  return names;
}

std::vector<std::string> hardware_metrics() {
  std::vector<std::string> names = metrics();
  std::erase_if(names, [](const std::string& name) { return name.starts_with("smsp__sass"); });
  return names;
}

std::vector<std::string> optional_metrics() {
  std::vector<std::string> names;
  for (const Counter& counter : counters()) {
    if (!counter.more.empty()) names.push_back(counter.more);
  }
  return names;
}

}  // namespace faro::bench::gpu_model

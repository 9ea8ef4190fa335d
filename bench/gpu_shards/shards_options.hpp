// What gpu_shards_bench is asked for.
#pragma once

#include <string>
#include <vector>

#include "bench/gpu/page.hpp"

namespace faro::bench::gpu {

inline constexpr const char* kShardsUsage =
    R"(gpu_shards_bench: arrays over several GPUs, beside copies between them and NCCL's all-to-all

  --devices LIST   ordinals, a rank each                              (default: all of the machine)
  --scaling WHICH  weak, strong or both: with 1, 2, 4, ... of them, and what two let expect of the others
  --maps LIST      of exchange30,exchange20,exchange8 (one of the ranks' bits and that local one),
                   exchange20all (all of the ranks' bits and local ones from 20 on), exchange20two, local, bmmc,
                   reversal, transpose, transpose64, slabs, index, sort; between distributions: pencils, cube,
                   square, uneven (slabs of axis 0 to slabs of axis 1), gathered, gathered1 (slabs to copies),
                   scattered (back), cyclic (blocks of 64 to slabs), weights-each, weights-half, weights-twice,
                   weights-apart (15 GiB); meshes: all of these       (default all but exchange20two)
  --log-bytes K    2^K bytes of an array on each device, of strong scaling in all  (default 33: 8 GiB);
                   distributions are of given sizes, and smaller below 33
  --rounds NUMBER  of turns                                           (default 7)
  --slices LIST    log2 of slices by NCCL beside faro's choice; 0: one, own: as many as it chooses
                                                                      (default: the choice alone)
  --reserved LIST  multiprocessors left to NCCL while those move      (default 48)
  --without-nccl
  --out FILE       the table, in Markdown
  --help
)";

struct ShardsOptions : PageOptions {
  std::vector<int> devices = {};
  std::string scaling = {};
  std::vector<std::string> maps = {"exchange30", "exchange20", "exchange8", "exchange20all", "local",
                                   "bmmc",       "reversal",   "transpose", "transpose64",   "slabs",
                                   "index",      "sort",       "meshes"};
  std::vector<int> slices = {};
  std::vector<int> reserved = {48};
  int log_bytes = 33;
  bool nccl = true;
};

/// Whether it is an array between distributions, or a list of them.
bool is_mesh(const std::string& map);

/// Errors: ErrorCode::usage.
ShardsOptions parse_shards(const CommandLine& line);

}  // namespace faro::bench::gpu

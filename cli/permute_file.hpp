// `faro permute` of arrays that memory does not hold twice: from file to file, in one sweep within --memory.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "cli/file_problem.hpp"
#include "cli/permute_options.hpp"
#include "faro/file.hpp"
#include "io/npy.hpp"

namespace faro::cli {

/// Permutes where the arrays are larger than the budget. Returns false, and has done nothing, where they fit,
/// and without --memory where only memory will do. Errors: also ErrorCode::unsupported for that with
/// --memory.
bool permute_by_file(FileRequest& request);

/// A plan that says what an index array really is. Elements of any width are planned.
Plan plan_of_shape(Problem problem, int threads);

/// The same in place, on the file itself beside a journal, where the array is larger than half the budget.
bool permute_in_place_by_file(const PermuteOptions& options, const io::NpyHeader& header);

/// Records that go where a seed or an index file says: what is told of them.
struct RecordRun {
  std::uint64_t count = 0;
  std::uint64_t record_bytes = 0;
  std::uint64_t batch = 1;
  std::string elements;  // "1000 rows of 12 bytes"
  std::uint64_t budget = 0;
};
using RecordMove =
    std::function<void(const file::Input& in, const file::Output& out, const file::Options& options)>;
/// Calls `move`, shows how far it is, and reports it. The result has the input's dtype and shape.
void run_records(const PermuteOptions& options, const io::NpyHeader& header, const RecordRun& run,
                 const RecordMove& move);

}  // namespace faro::cli

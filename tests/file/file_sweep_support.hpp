// Sweeps over files with small budgets, held against the obvious loop.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include "faro/faro.hpp"
#include "faro/file.hpp"
#include "file_support.hpp"
#include "io/transfers.hpp"
#include "oracle.hpp"

namespace faro::testing {

class FileSweep : public FolderTest {
 protected:
  // Permutes random bytes behind a header of `offset` bytes to ones behind another.
  void check(const Problem& problem, const file::Options& options, std::uint64_t offset = 128,
             std::uint64_t out_offset = 4096) {
    const std::string name = to_text(problem.permutation) + " x " + std::to_string(problem.batch) + " of " +
                             std::to_string(problem.element_bytes) + " bytes, --memory " +
                             std::to_string(options.memory_bytes) + ", io " + file::name(options.io);
    const Bytes data = random_bytes(total_bytes(problem), 7);
    const Bytes before = random_bytes(offset, 8);
    const Bytes header = random_bytes(out_offset, 9);
    write_bytes(directory_ / "in", joined(before, data));
    Bytes expected(data.size());
    permute_naively(problem, data.data(), expected.data(), 1);
    const file::Sweep sweep(problem, options);
    const file::Report report =
        file::run(sweep, {directory_ / "in", offset}, {directory_ / "out", header}, options);
    EXPECT_TRUE(report.finished) << name;
    EXPECT_EQ(report.read_bytes, data.size()) << name;
    EXPECT_EQ(report.written_bytes, data.size()) << name;
    EXPECT_LE(sweep.facts().memory_bytes, options.memory_bytes) << name;
    EXPECT_TRUE(read_bytes(directory_ / "out") == joined(header, expected)) << name << ", " << report.io;
    EXPECT_EQ(files(), 2U) << name;
  }
};

inline constexpr file::Io kEveryIo[] = {file::Io::automatic, file::Io::threads, file::Io::buffered};

// What io_uring is not refused for here, too.
inline std::vector<file::Io> io_ways() {
  std::vector<file::Io> ways(std::begin(kEveryIo), std::end(kEveryIo));
  if (io::why_no_uring().empty()) ways.push_back(file::Io::uring);
  return ways;
}

inline file::Options budget(std::uint64_t bytes, file::Io io = file::Io::automatic) {
  return {.memory_bytes = bytes, .threads = 2, .io_threads = 3, .io = io};
}

}  // namespace faro::testing

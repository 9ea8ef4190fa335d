// The options of verbs that go from file to file, and the header of what they read.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>

#include "cli/permute_options.hpp"
#include "faro/file.hpp"
#include "io/npy.hpp"

namespace faro::cli {

/// "permute `in.npy`", as errors begin.
std::string file_operation(const PermuteOptions& options);

/// --memory, --resume, --checkpoint, --io, --raw and --shape.
void add_file_options(CLI::App& command, PermuteOptions& options);
/// --resume and --checkpoint alone.
void add_journal_options(CLI::App& command, PermuteOptions& options);
/// --raw, --shape and --skip alone.
void add_raw_options(CLI::App& command, PermuteOptions& options);

/// What --skip says; 0 without it. Errors: ErrorCode::value.
std::uint64_t skipped_bytes(const PermuteOptions& options);

/// The input's header, or what --raw and --shape say that it has. Errors: ErrorCode::file, ErrorCode::value.
io::NpyHeader header_of_input(const PermuteOptions& options);

/// Errors: ErrorCode::file for a file that an interrupted run in place left permuted in part.
void require_whole(const std::string& path);

/// Errors: ErrorCode::value for values that they do not take, and for what no sweep over files does.
void check_file_options(const PermuteOptions& options);

/// --memory as bytes; what is free, rounded, where it was not given. Errors: ErrorCode::value.
std::uint64_t memory_budget(const std::string& text);
/// What an interruption leaves of a run within this budget, and how it is gone on with.
std::string resumable_text(const PermuteOptions& options, std::uint64_t budget);
/// --checkpoint. Errors: ErrorCode::value.
double checkpoint_seconds(const PermuteOptions& options);
/// --io. Errors: ErrorCode::value.
file::Io io_of(const std::string& text);

}  // namespace faro::cli

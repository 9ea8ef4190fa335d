// What a relayout is asked for, worked out: from one array of one store to one of another.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "faro/arithmetic.hpp"
#include "faro/store.hpp"
#include "store/format.hpp"
#include "store/regions.hpp"
#include "store/sweep.hpp"

namespace faro::store {

/// All that follows from both paths and the options.
struct Work {
  std::string operation;
  StoredArray in = {};
  Place out = {};
  const Format* format = nullptr;
  AxisChoice axes = {};
  std::optional<ElementMap> map = {};  // instead
  WantedArray wanted = {};
  std::optional<Arithmetic> arithmetic = {};
  std::uint64_t memory_bytes = 0;
  int threads = 1;
};

/// Errors: as relayout().
Work work_of(const std::string& in, const std::string& out, const Options& options);

/// The same of an array that was opened.
Work work_between(StoredArray in, const Place& out, const Format& format, const std::string& operation,
                  const Options& options);

/// A path without a slash at its end.
Place output_place(const std::string& text);
/// The format of an output that is no input. Errors: ErrorCode::value.
const Format& require_output(const Place& in, const Place& out, const Options& options,
                             const std::string& operation);

/// The only array of a file. Nothing where the format is a folder.
std::optional<RunOutput> only_output(const Work& work, std::vector<std::string>& left_out);

/// A sink for who only counts.
std::unique_ptr<Sink> planned_sink(const Work& work, std::vector<std::string>& left_out);

/// The nearest folder above a path that is there.
std::filesystem::path folder_above(const std::filesystem::path& path);

/// What would be done. Errors: as explain().
Facts explain_work(const Work& work);

/// A map of all elements takes three sweeps, the last from a plain file of the result's shape: what that is
/// asked for, but for the file, and what is told of all three.
Work last_of_mapped(const Work& work);
Facts facts_of_mapped(const Work& work, Facts last);

/// For choose_way().
Relaid relaid_of(const Work& work, const Source& source, const Sink& sink);

/// Extents of a region that may reach behind the array's end.
Shape cut_to(Shape region, const Shape& shape);

ArrayFacts facts_of(const StoredArray& array);
Facts facts_of(const Work& work, const Way& way, const Source& source, const Sink& sink);

}  // namespace faro::store

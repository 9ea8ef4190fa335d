#include "cli/permute_strided.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>
#include <vector>

#include "cli/file_options.hpp"
#include "cli/host_run.hpp"
#include "cli/progress.hpp"
#include "cli/report.hpp"
#include "cli/signals.hpp"
#include "faro/engines/cuda_measure.hpp"
#include "io/npy.hpp"
#include "permutation/rows.hpp"
#include "permutation/strides.hpp"

namespace faro::cli {
namespace {

using Shape = std::vector<std::uint64_t>;

// A view may leave elements out, repeat them or make holes: it has a second array.
[[noreturn]] void fail_in_place(const PermuteOptions& options) {
  const std::uint64_t bytes = out_elements(*options.view) * header_of_input(options).item_bytes;
  fail(ErrorCode::unsupported, "permute `" + options.in + "`", "--in-place with a strided view",
       "OUT, a second array of " + size_text(bytes),
       "views that are permutations of axes, flips of all elements or affine maps run in place");
}

void check_view_options(const PermuteOptions& options) {
  const std::pair<bool, const char*> others[] = {
      {options.inverse, "--inverse"},
      {options.rows, "--rows"},
      {!options.axis.empty(), "--axis"},
      {!options.common.batch.empty(), "--batch"},
      {!options.common.element_bytes.empty(), "--element-bytes"},
      {!options.map.empty() || !options.element.empty(), "--map"},
      {!options.plan_cache.empty(), "--plan-cache"},
      {options.index.gather || options.index.scatter, "--gather or --scatter"},
  };
  for (const auto& [given, name] : others) {
    if (given) {
      fail(ErrorCode::value, "permute `" + options.in + "`", std::string(name) + " with a strided view",
           "a view alone", "its strides say all");
    }
  }
}

// The obvious loop, over all indices. Returns whether every element is in its place.
bool is_copied(const Strided& view, std::uint64_t width, const std::byte* in, const std::byte* out) {
  if (element_count(view) == 0) return true;
  Shape at(view.extents.size(), 0);
  for (;;) {
    auto from = static_cast<std::int64_t>(view.in_offset);
    auto to = static_cast<std::int64_t>(view.out_offset);
    for (std::size_t axis = 0; axis < at.size(); ++axis) {
      from += static_cast<std::int64_t>(at[axis]) * view.in_strides[axis];
      to += static_cast<std::int64_t>(at[axis]) * view.out_strides[axis];
    }
    if (std::memcmp(in + static_cast<std::uint64_t>(from) * width,
                    out + static_cast<std::uint64_t>(to) * width, width) != 0) {
      return false;
    }
    std::size_t left = at.size();
    while (left > 0 && ++at[left - 1] == view.extents[left - 1]) at[--left] = 0;
    if (left == 0) return true;
  }
}

// Both arrays travel whole, the output as it is where no index reaches it.
void run_on_device(const ExecutableStridedPlan& plan, std::span<const std::byte> in,
                   std::span<std::byte> out) {
  if (plan.plan().moved_bytes() == 0) return;
  const std::uint64_t width = plan.plan().element_bytes();
  const int device = plan.plan().target().device;
  cuda::DeviceArray from(in.size(), device);
  cuda::DeviceArray to(out.size(), device);
  from.upload(in.data());
  to.upload(out.data());
  plan.run(from.data(), in.size() / width, to.data(), out.size() / width);
  to.download(out.data());
}

void report_view(const PermuteOptions& options, const FileView& wanted, const ExecutableStridedPlan& plan,
                 double milliseconds) {
  const std::uint64_t bytes = plan.plan().moved_bytes();
  const std::uint64_t count = element_count(wanted.view);
  const std::uint64_t width = count == 0 ? plan.plan().element_bytes() : bytes / count;  // of several units
  if (options.common.json) {
    Json json = new_json();
    json["spec"] = to_text(wanted.view);
    json["in"] = options.in;
    json["out"] = options.out;
    json["shape"] = wanted.shape;
    json["elements"] = count;
    json["element_bytes"] = width;
    json["bytes"] = bytes;
    json["engine"] = name(plan.engine());
    json["device"] = plan.plan().target().name;
    json["ms"] = milliseconds;
    json["gb_per_s"] = gb_per_s(bytes, milliseconds);
    json["verified"] = options.verify;
    return print(json);
  }
  if (options.quiet) return;
  note(fmt::format("{}: {} of {} in {:.3g} ms, {:.3g} GB/s{}; shape {}", options.label(),
                   count_text(count, "element"), size_text(width), milliseconds,
                   gb_per_s(bytes, milliseconds), options.verify ? ", verified" : "",
                   shape_text(wanted.shape)));
}

}  // namespace

Strided view_of(const PermuteOptions& options, const io::NpyHeader& header) {
  check_view_options(options);
  const Strided& view = *options.view;
  if (header.item_count() < in_elements(view)) {
    fail(ErrorCode::value, "permute `" + options.in + "`",
         fmt::format("a file of {} items", header.item_count()),
         fmt::format("at least {}, which the strides of {} reach", in_elements(view), options.label()));
  }
  return view;
}

bool permutes_file(const PermuteOptions& options) {
  const Strided& view = *options.view;
  const io::NpyHeader header = header_of_input(options);
  if (header.fortran_order || element_count(view) != header.item_count() || !as_permutation(view))
    return false;
  check_view_options(options);
  return true;
}

FileView file_view_of(const PermuteOptions& options, const io::NpyHeader& header) {
  FileView made{.view = view_of(options, header), .shape = {}};
  made.shape = shape_of_view(made.view);
  if (options.order != "F") return made;
  made.order = io::MemoryOrder::fortran;
  // Where elements make one axis, that is in both orders.
  if (made.shape == made.view.extents) made.view.out_strides = faro::detail::fortran_strides(made.shape);
  return made;
}

Shape shape_of_view(const Strided& view) { return faro::detail::result_shape(view); }

void permute_view(const PermuteOptions& options, const FileView& wanted, const io::NpyInput& input,
                  Progress& progress) {
  const std::uint64_t units = widening_for(input.header().item_bytes, kMaxElementBytes);
  const Strided view = widened(wanted.view, units);
  const std::uint64_t width = input.header().item_bytes / units;
  const std::uint64_t items = input.header().item_count() * units;
  const ExecutableStridedPlan plan = faro::plan(view, width, options.common.plan_options(width));
  io::NpyOutput output(options.out, input.header().descr, wanted.shape, input.header().item_bytes,
                       wanted.order);
  const std::span<std::byte> out = output.data();
  if (out_elements(view) != element_count(view)) std::fill(out.begin(), out.end(), std::byte{0});
  progress.step("permuting");
  const auto start = std::chrono::steady_clock::now();
  if (plan.engine() == Engine::cuda) {
    run_on_device(plan, input.data(), out);
  } else {
    plan.run(input.data().data(), items, out.data(), out.size() / width);
  }
  const double milliseconds = milliseconds_since(start);
  if (options.verify && !is_copied(view, width, input.data().data(), out.data())) {
    fail(ErrorCode::verification, "verify " + to_text(view), "another result", "the obvious loop's",
         "no result was written; this is a bug in faro, please report it with the command");
  }
  progress.step("writing " + options.out, out.size());
  output.finish(progress.advance());
  progress.end();
  report_view(options, wanted, plan, milliseconds);
  output.commit();
}

void permute_strided(const PermuteOptions& options) {
  if (options.in_place) fail_in_place(options);
  check_view_options(options);
  const InterruptNote interrupted("nothing was written, `" + options.out + "` is as it was");
  Progress progress(options.quiet ? Verbosity::quiet : Verbosity::normal);
  const io::NpyInput input(options.in, progress.advance());
  permute_view(options, file_view_of(options, input.header()), input, progress);
}

}  // namespace faro::cli

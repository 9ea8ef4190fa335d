#include "plan/index_candidates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "faro/error.hpp"
#include "plan/facts.hpp"
#include "plan/index_workspace.hpp"

namespace faro::detail {
namespace {

using schedule::PartitionShape;

constexpr std::uint64_t kPlaceBytes = 2;    // of the schedule, an element and pass
constexpr std::uint64_t kRunBytesMin = 64;  // shorter runs waste what a memory access fetches
constexpr int kMostLevels = 4;
constexpr int kLeastCpuChunkBits = 8;
constexpr int kMostCpuChunkBits = 15;

int log2_ceil(std::uint64_t x) { return x <= 1 ? 0 : static_cast<int>(std::bit_width(x - 1)); }

bool on_gpu(const Target& target) { return target.engine == Engine::cuda; }

// --- time

// Of all arrays, each kernel streaming through them in order.
std::optional<double> streaming_us(const IndexWork& work, IndexKernel kernel, int chunk_bits = 0,
                                   int run_bits = 0) {
  return work.calibration.predict_us(kernel, work.width(), work.count() * work.problem.batch, chunk_bits,
                                     run_bits);
}

// Every array is random within itself only: of many small ones each is as fast, an element, as one array of
// the best size up to theirs that fills the machine, and no faster than the copy.
std::optional<double> direct_us(const IndexWork& work) {
  const bool gathers = work.direction() == Direction::gather || work.turns_scatter();
  const IndexKernel kernel = gathers ? IndexKernel::gather : IndexKernel::scatter;
  const std::uint64_t total = work.count() * work.problem.batch;
  const auto whole = work.calibration.predict_us(kernel, work.width(), total);
  if (!whole || work.problem.batch <= 1) return whole;
  constexpr std::uint64_t kFills = std::uint64_t{1} << 20;
  const std::uint64_t size = std::min(total, std::max(work.count(), kFills));
  const double rate = *work.calibration.predict_us(kernel, work.width(), size) / static_cast<double>(size);
  const double least = work.calibration.predict_us(IndexKernel::copy, work.width(), total).value_or(0);
  return std::min(*whole, std::max(least, rate * static_cast<double>(total)));
}

std::optional<double> partition_us(const IndexWork& work, const PartitionShape& shape) {
  const bool forwards = work.direction() == Direction::scatter;
  const IndexKernel level = forwards ? IndexKernel::spread : IndexKernel::collect;
  auto sum = streaming_us(work, forwards ? IndexKernel::place : IndexKernel::pick, shape.chunk_bits);
  for (const int bits : shape.level_bits) {
    const auto us = streaming_us(work, level, shape.chunk_bits, std::max(0, shape.chunk_bits - bits));
    if (!sum || !us) return std::nullopt;
    *sum += *us;
  }
  return sum;
}

// --- time of making a schedule, once, whatever the batch

std::optional<double> index_pass_us(const IndexWork& work, IndexKernel kernel, int chunk_bits = 0) {
  return work.calibration.predict_us(kernel, static_cast<std::uint64_t>(work.index_bytes()), work.count(),
                                     chunk_bits);
}

// Entries of a device's memory are checked; a GPU may turn them round.
double direct_schedule_us(const IndexWork& work) {
  const double check = work.is_checked() ? 0 : index_pass_us(work, IndexKernel::check).value_or(0);
  return check + (work.turns_scatter() ? index_pass_us(work, IndexKernel::scatter).value_or(0) : 0);
}

std::optional<double> times(std::optional<double> us, double factor) {
  if (us) *us *= factor;
  return us;
}

// --- the candidates

IndexCandidate with_workspace(const IndexWork& work, IndexCandidate made) {
  made.workspace_bytes = index_workspace_bytes(work, made);
  return made;
}

IndexCandidate direct(const IndexWork& work) {
  const std::uint64_t indices = work.count() * static_cast<std::uint64_t>(work.index_bytes());
  return {.method = IndexMethod::direct,
          .bytes_moved = 2 * work.array_bytes() + indices,
          .schedule_bytes = indices,
          .predicted_us = direct_us(work),
          .schedule_us = direct_schedule_us(work)};
}

// A roll, a flip, or a permutation of axes: tiles reach about nine tenths of a copy.
IndexCandidate structured(const IndexWork& work, IndexMethod method) {
  constexpr double kOverCopy = 1.1;
  return with_workspace(work, {.method = method,
                               .bytes_moved = 2 * work.array_bytes(),
                               .predicted_us = times(streaming_us(work, IndexKernel::copy), kOverCopy)});
}

IndexCandidate window(const IndexWork& work) {
  IndexCandidate made{.method = IndexMethod::window,
                      .bytes_moved = 2 * work.array_bytes() + kPlaceBytes * work.count(),
                      .schedule_bytes = kPlaceBytes * work.count(),
                      .schedule_us = index_pass_us(work, IndexKernel::copy)};
  constexpr std::uint64_t kMostDisplacement = 32767;  // shifts are 16 bits wide
  const auto displacement = work.recognition.displacement;
  if (!displacement) {
    made.why_not = "elements move further than a tile's margin";
  } else if (*displacement > kMostDisplacement) {
    made.why_not =
        fmt::format("elements move by up to {}, a window has at most {}", *displacement, kMostDisplacement);
  } else if (work.count() <= 4 * *displacement) {
    made.why_not = fmt::format("elements move by up to {}, a good part of the array", *displacement);
  } else if (on_gpu(work.target) && work.target.chunk_bytes_max > 0 &&
             (4 * *displacement + 1) * work.width() > work.target.chunk_bytes_max) {
    made.why_not = fmt::format("margins of {} elements and a tile as long do not fit {}", *displacement,
                               size_text(work.target.chunk_bytes_max));
  } else {
    // Margins are read twice.
    constexpr double kMargins = 1.25;
    made.predicted_us = times(streaming_us(work, IndexKernel::window), kMargins);
  }
  return with_workspace(work, std::move(made));
}

IndexCandidate runs(const IndexWork& work) {
  constexpr std::uint64_t kRunDescriptor = 16;
  IndexCandidate made{.method = IndexMethod::runs, .schedule_us = index_pass_us(work, IndexKernel::copy)};
  const auto count_of_runs = work.recognition.runs;
  if (!count_of_runs || *count_of_runs == 0) {
    made.why_not = "contiguous runs are short";
    made.bytes_moved = 2 * work.array_bytes();
    return made;
  }
  made.schedule_bytes = kRunDescriptor * *count_of_runs + kRunDescriptor / 2;
  made.bytes_moved = 2 * work.array_bytes() + made.schedule_bytes;
  const int run_bits = static_cast<int>(std::bit_width(work.count() / *count_of_runs)) - 1;
  made.predicted_us = streaming_us(work, IndexKernel::runs, 0, std::max(0, run_bits));
  return made;
}

// A GPU takes arrays that need the workspace one after the other, each with launches of its own.
std::optional<double> partition_in_turns_us(const IndexWork& work, const PartitionShape& shape) {
  Problem one = work.problem;
  one.batch = 1;
  const IndexWork alone{.problem = one,
                        .target = work.target,
                        .recognition = work.recognition,
                        .calibration = work.calibration,
                        .repeats = work.repeats};
  return times(partition_us(alone, shape), static_cast<double>(work.problem.batch));
}

IndexCandidate partition(const IndexWork& work, const PartitionShape& shape) {
  const int levels = shape.levels();
  const std::uint64_t passes = 1 + static_cast<std::uint64_t>(levels);
  IndexCandidate made{.method = IndexMethod::partition,
                      .passes = 1 + levels,
                      .bytes_moved = passes * 2 * work.array_bytes() + shape.bytes(),
                      .schedule_bytes = shape.bytes(),
                      .predicted_us = partition_us(work, shape),
                      .schedule_us = index_pass_us(work, IndexKernel::schedule, shape.chunk_bits)};
  made.shape = shape;
  made = with_workspace(work, std::move(made));
  if (made.workspace_bytes > 0 && on_gpu(work.target) && work.problem.batch > 1) {
    made.predicted_us = partition_in_turns_us(work, shape);
  }
  return made;
}

// Bits that a level may take and its runs still be long enough.
int most_level_bits(const Target& target, int chunk_bits, std::uint64_t width) {
  const int most = on_gpu(target) ? 10 : 9;
  const int run_bits = log2_ceil((kRunBytesMin + width - 1) / width);
  return std::clamp(chunk_bits - run_bits, 1, most);
}

// As few levels as there can be, and one more, whose runs are longer.
void add_partitions(const IndexWork& work, int chunk_bits, std::vector<IndexCandidate>& candidates) {
  const int rest = log2_ceil(work.count()) - chunk_bits;
  if (rest <= 0) {
    candidates.push_back(
        partition(work, {.count = work.count(), .chunk_bits = chunk_bits, .level_bits = {}}));
    return;
  }
  const int most = most_level_bits(work.target, chunk_bits, work.width());
  const int fewest = (rest + most - 1) / most;
  for (int levels = fewest; levels <= fewest + 1 && levels <= std::min(rest, kMostLevels); ++levels) {
    const int bits = (rest + levels - 1) / levels;
    PartitionShape shape{.count = work.count(),
                         .chunk_bits = chunk_bits,
                         .level_bits = schedule::even_levels(work.count(), chunk_bits, bits)};
    if (shape.levels() == levels) candidates.push_back(partition(work, shape));
  }
}

IndexCandidate row_column(const IndexWork& work, IndexMethod method) {
  const bool five = method == IndexMethod::row_column_5;
  const std::uint64_t lists = 3 * kPlaceBytes * work.count();
  IndexCandidate made{.method = method,
                      .passes = five ? 5 : 3,
                      .bytes_moved = (five ? 10 : 6) * work.array_bytes() + lists,
                      .schedule_bytes = lists};
  constexpr std::uint64_t kMostSide = std::uint64_t{1} << 16;
  const std::uint64_t most_columns =
      on_gpu(work.target) && work.target.chunk_bytes_max > 0
          ? std::clamp<std::uint64_t>(work.target.chunk_bytes_max / work.width(), 1, kMostSide)
          : kMostSide;
  std::uint64_t columns = std::min(most_columns, work.count());
  while (columns > 0 && work.count() % columns != 0) --columns;
  if (columns == 0 || work.count() / columns > kMostSide) {
    made.why_not = fmt::format("{} are no matrix of at most 2^16 rows of at most {}",
                               count_text(work.count(), "element"), count_text(most_columns));
    return made;
  }
  constexpr double kOverCopy = 1.1;
  made.predicted_us = times(streaming_us(work, IndexKernel::place), 3);
  if (five && made.predicted_us) {
    const auto copy = streaming_us(work, IndexKernel::copy);
    if (copy) *made.predicted_us += 2 * kOverCopy * *copy;
  }
  return with_workspace(work, std::move(made));
}

std::vector<IndexCandidate> for_indexed(const IndexWork& work) {
  std::vector<IndexCandidate> candidates{direct(work), window(work), runs(work)};
  if (work.count() > 1) {
    const int preferred = preferred_chunk_bits(work.target, work.width());
    add_partitions(work, preferred, candidates);
    const std::uint64_t twice = work.width() << (preferred + 1);
    const bool fits = on_gpu(work.target)
                          ? preferred < schedule::kMaxChunkBits && twice <= work.target.chunk_bytes_max
                          : preferred < kMostCpuChunkBits;
    if (fits) add_partitions(work, preferred + 1, candidates);
  }
  for (const IndexMethod method : {IndexMethod::row_column, IndexMethod::row_column_5}) {
    IndexCandidate made = row_column(work, method);
    if (made.why_not.empty()) {
      made.why_not = "on request, for its edge colouring takes long";
    }
    candidates.push_back(std::move(made));
  }
  return candidates;
}
PartitionShape asked_shape(const IndexWork& work, const IndexChoice& choice) {
  PartitionShape shape{
      .count = work.count(),
      .chunk_bits = choice.chunk_bits.value_or(preferred_chunk_bits(work.target, work.width())),
      .level_bits = choice.level_bits};
  const bool is_sole = shape.level_bits.empty() && work.count() <= std::uint64_t{1}
                                                                       << schedule::kMaxSoleChunkBits;
  const int most_chunk_bits = is_sole ? schedule::kMaxSoleChunkBits : schedule::kMaxChunkBits;
  if (shape.chunk_bits < 1 || shape.chunk_bits > most_chunk_bits) {
    fail(ErrorCode::value, "plan", fmt::format("chunks of 2^{} elements", shape.chunk_bits),
         fmt::format("chunks of 2^1 to 2^{}", most_chunk_bits));
  }
  const int rest = log2_ceil(work.count()) - shape.chunk_bits;
  if (shape.level_bits.empty() && rest > 0) {
    const int most = most_level_bits(work.target, shape.chunk_bits, work.width());
    shape.level_bits = schedule::even_levels(work.count(), shape.chunk_bits, most);
  }
  schedule::check_shape(shape);
  return shape;
}

}  // namespace

Direction IndexWork::direction() const {
  const auto* const indexed = std::get_if<Indexed>(&problem.permutation);
  return indexed == nullptr ? Direction::scatter : indexed->direction();
}

int IndexWork::index_bytes() const {
  const auto* const indexed = std::get_if<Indexed>(&problem.permutation);
  return indexed == nullptr ? 0 : indexed->index_type().bytes;
}

bool IndexWork::is_checked() const {
  const auto* const indexed = std::get_if<Indexed>(&problem.permutation);
  return indexed == nullptr || indexed->is_checked();
}

bool IndexWork::turns_scatter() const {
  constexpr std::uint64_t kLeastScattered = 64;
  return on_gpu(target) && direction() == Direction::scatter && width() < kLeastScattered && repeats != 1;
}

int preferred_chunk_bits(const Target& target, std::uint64_t element_bytes) {
  // 64 KiB: of shared memory, so that a multiprocessor holds three blocks; of a core's second cache, a part.
  constexpr int kChunkBytesBits = 16;
  const int bits = kChunkBytesBits - log2_ceil(element_bytes);
  return on_gpu(target) ? std::clamp(bits, 1, schedule::kMaxChunkBits)
                        : std::clamp(bits, kLeastCpuChunkBits, kMostCpuChunkBits);
}

std::vector<IndexCandidate> index_candidates(const IndexWork& work) {
  if (std::holds_alternative<Cyclic>(work.problem.permutation))
    return {structured(work, IndexMethod::cyclic)};
  if (std::holds_alternative<Axes>(work.problem.permutation)) return {structured(work, IndexMethod::axes)};
  return for_indexed(work);
}

IndexCandidate asked_candidate(const IndexWork& work, const IndexChoice& choice) {
  const IndexMethod method = choice.method.value_or(IndexMethod::partition);
  if (method != IndexMethod::partition && (choice.chunk_bits || !choice.level_bits.empty())) {
    fail(ErrorCode::value, "plan", fmt::format("sizes of chunks or levels with method {}", name(method)),
         "them with method partition");
  }
  if (!std::holds_alternative<Indexed>(work.problem.permutation)) {
    IndexCandidate only = index_candidates(work).front();
    if (only.method == method) return only;
    fail(ErrorCode::unsupported, "plan",
         fmt::format("method {} for {}", name(method), to_text(work.problem.permutation)),
         fmt::format("method {}", name(only.method)), "index arrays have the others");
  }
  if (method == IndexMethod::partition) return partition(work, asked_shape(work, choice));
  const auto taken = [&](IndexCandidate made) {
    if (choice.scheduled) made.why_not.clear();
    if (made.why_not.empty()) return made;
    fail(ErrorCode::unsupported, "plan", fmt::format("method {}", name(method)), "a method that applies",
         made.why_not);
  };
  if (method == IndexMethod::row_column || method == IndexMethod::row_column_5) {
    return taken(row_column(work, method));
  }
  for (IndexCandidate& each : for_indexed(work)) {
    if (each.method == method) return taken(std::move(each));
  }
  fail(ErrorCode::unsupported, "plan", fmt::format("method {} for an index array", name(method)),
       "direct, window, runs, partition, row_column or row_column_5",
       "what an index array is recognised as is carried out as that without being asked");
}

}  // namespace faro::detail

namespace faro {

std::string to_text(const IndexCandidate& candidate) {
  std::string text = name(candidate.method);
  if (!candidate.shape) return text;
  text += fmt::format(", chunks of 2^{} elements", candidate.shape->chunk_bits);
  const std::vector<int>& levels = candidate.shape->level_bits;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    text += fmt::format("{}{}", i == 0 ? ", levels of " : i + 1 == levels.size() ? " and " : ", ", levels[i]);
  }
  return levels.empty() ? text : text + (levels == std::vector{1} ? " bit" : " bits");
}

}  // namespace faro

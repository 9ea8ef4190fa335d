#include "store/sweep.hpp"

#include <array>
#include <cstring>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "faro/error.hpp"
#include "faro/faro.hpp"
#include "faro/permutation/split_mix.hpp"
#include "file/checksums.hpp"
#include "number_oracle.hpp"
#include "thread_team.hpp"

namespace faro::store {
namespace {

// work(i, rank) by several threads; the first error ends it.
template <typename Work>
void in_parallel(std::uint64_t count, int threads, const Work& work) {
  std::atomic<bool> failed{false};
  std::exception_ptr error;
  std::mutex mutex;
  faro::detail::take_turns_at(count, threads, 1, [&](std::uint64_t i, std::uint64_t rank) {
    if (failed.load(std::memory_order_relaxed)) return;
    try {
      work(i, rank);
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!failed.exchange(true)) error = std::current_exception();
    }
  });
  if (error) std::rethrow_exception(error);
}

// A move between boxes in memory, whose first elements are given: strides may be negative.
struct LocalMove {
  Shape extents;
  Strides in;
  Strides out;

  auto operator<=>(const LocalMove&) const = default;
};

// Elements from the lowest that strides reach to the first, and to one past the highest.
struct Reach {
  std::uint64_t before = 0;
  std::uint64_t all = 1;
};
Reach reach_of(const Shape& extents, const Strides& strides) {
  Reach reach;
  std::uint64_t after = 0;
  for (std::size_t a = 0; a < extents.size(); ++a) {
    const std::uint64_t steps = extents[a] - 1;
    if (strides[a] < 0) {
      reach.before += steps * static_cast<std::uint64_t>(-strides[a]);
    } else {
      after += steps * static_cast<std::uint64_t>(strides[a]);
    }
  }
  reach.all = reach.before + after + 1;
  return reach;
}

// Plans of moves, made once for each form.
class Moves {
 public:
  Moves(const ElementType& type, const std::optional<Arithmetic>& arithmetic)
      : width_(type.bytes),
        in_width_(arithmetic ? bytes_of(arithmetic->from) : type.bytes),
        arithmetic_(arithmetic) {}

  void run(const LocalMove& move, const std::byte* in, std::byte* out) {
    const std::shared_ptr<const Planned> planned = plan_of(move);
    in -= planned->in.before * in_width_;
    if (planned->numbers) {
      planned->numbers->run({.data = in, .count = planned->in.all}, out, planned->out.all);
    } else {
      planned->view->run(in, planned->in.all, out, planned->out.all);
    }
  }

 private:
  struct Planned {
    Reach in;
    Reach out;
    std::optional<ExecutablePlan> view;
    std::optional<ExecutableArithmetic> numbers;
  };

  std::shared_ptr<const Planned> plan_of(const LocalMove& move) {
    const std::lock_guard lock(mutex_);
    constexpr std::size_t kMostPlans = 4096;
    if (const auto found = plans_.find(move); found != plans_.end()) return found->second;
    if (plans_.size() >= kMostPlans) plans_.clear();
    auto made = std::make_shared<Planned>();
    made->in = reach_of(move.extents, move.in);
    made->out = reach_of(move.extents, move.out);
    const Strided view{.extents = move.extents,
                       .in_strides = move.in,
                       .out_strides = move.out,
                       .in_offset = made->in.before};
    const PlanOptions options{.engine = Engine::cpu, .threads = 1};
    if (arithmetic_) {
      made->numbers.emplace(plan(view, *arithmetic_, options));
    } else {
      made->view.emplace(plan(view, width_, options));
    }
    return plans_.emplace(move, std::move(made)).first->second;
  }

  std::uint64_t width_;
  std::uint64_t in_width_;
  std::optional<Arithmetic> arithmetic_;
  std::mutex mutex_;
  std::map<LocalMove, std::shared_ptr<const Planned>> plans_;
};

// Over boxes of the output whose elements lie anywhere: the obvious loop. Where numbers are converted, those
// that were read are so by the obvious steps, and a NaN has the same bits in all sums.
class ElementSums {
 public:
  ElementSums(const Shape& shape, std::uint64_t bytes, const std::optional<Arithmetic>& arithmetic)
      : places_(dense_strides(shape, c_order(shape.size()))), bytes_(bytes), in_bytes_(bytes) {
    if (!arithmetic) return;
    oracle_.emplace(*arithmetic);
    in_bytes_ = bytes_of(arithmetic->from);
  }

  std::uint64_t read(const Box& box, const std::byte* first, const Strides& strides) const {
    return sum(box, strides, [&](std::uint64_t place, std::int64_t at) {
      const std::byte* const element = first + at * static_cast<std::int64_t>(in_bytes_);
      if (!oracle_) return element_sum(place, element, bytes_);
      std::array<std::byte, kMostNumberBytes> number{};
      oracle_->change(element, nullptr, 0, 0, number.data());
      return settled_sum(place, number);
    });
  }

  std::uint64_t stored(const Box& box, const std::byte* first, const Strides& strides) const {
    return sum(box, strides, [&](std::uint64_t place, std::int64_t at) {
      const std::byte* const element = first + at * static_cast<std::int64_t>(bytes_);
      if (!oracle_) return element_sum(place, element, bytes_);
      std::array<std::byte, kMostNumberBytes> number{};
      std::memcpy(number.data(), element, bytes_);
      return settled_sum(place, number);
    });
  }

 private:
  static constexpr std::size_t kMostNumberBytes = 16;

  std::uint64_t settled_sum(std::uint64_t place, std::array<std::byte, kMostNumberBytes>& number) const {
    oracle_->settle(number.data());
    return element_sum(place, number.data(), bytes_);
  }

  template <typename Sum>
  std::uint64_t sum(const Box& box, const Strides& strides, const Sum& of_element) const {
    const Shape zero(box.extents.size(), 0);
    const std::int64_t origin = distance(zero, box.origin, places_);
    std::uint64_t total = 0;
    Shape step(box.extents.size(), 0);
    do {
      const auto place = static_cast<std::uint64_t>(origin + distance(zero, step, places_));
      total += of_element(place, distance(zero, step, strides));
    } while (advance(step, box.extents));
    return total;
  }

  Strides places_;
  std::uint64_t bytes_;  // of an element of the output
  std::uint64_t in_bytes_;
  std::optional<NumberOracle> oracle_;
};

class Sweep {
 public:
  explicit Sweep(const SweepJob& job)
      : job_(job),
        incoming_(job.type, job.arithmetic),
        outgoing_(job.type, std::nullopt),
        sums_(job.shape, job.type.bytes, job.sums_arithmetic),
        workspaces_(static_cast<std::size_t>(std::max(job.threads, 1))) {}

  bool run() {
    if (is_empty(job_.shape)) return true;
    const Shape counts = cells_of(job_.shape, job_.region);
    const std::uint64_t found = job_.journal != nullptr ? found_regions(counts) : 0;
    std::uint64_t number = 0;
    Shape step(counts.size(), 0);
    do {
      if (number++ < found) continue;
      const Box region = begin_region(step);
      fill(region);
      const std::uint64_t sum = job_.journal != nullptr ? region_sum(region) : 0;
      empty(region);
      if (job_.journal != nullptr && !stopped_) job_.journal->add(sum, job_.sink.is_settled());
    } while (!stopped_ && advance(step, counts));
    if (job_.journal != nullptr && stopped_) job_.journal->interrupt();
    return !stopped_;
  }

  void load(const Box& region) {
    if (is_empty(region.extents)) return;
    lay(region);
    fill(region);
  }
  void store(const Box& region) {
    if (is_empty(region.extents)) return;
    lay(region);
    empty(region);
  }

 private:
  Box begin_region(const Shape& step) {
    Box region = cell_of(job_.shape, job_.region, step);
    lay(region);
    return region;
  }
  void lay(const Box& region) {
    region_strides_ = dense_strides(region.extents, c_order(region.extents.size()));
  }

  // The sum of a region in memory.
  std::uint64_t region_sum(const Box& region) const {
    return file::checksum({job_.memory, volume(region.extents) * job_.type.bytes}, job_.threads);
  }

  // How many regions an earlier run finished: all that the journal has, or none.
  std::uint64_t found_regions(const Shape& counts) {
    const auto finished = job_.journal->begin_sweep(volume(counts), job_.sync);
    const std::uint64_t read = job_.read != nullptr ? job_.read->read.load() : 0;
    const std::uint64_t stored = job_.stored != nullptr ? job_.stored->stored.load() : 0;
    Shape step(counts.size(), 0);
    for (const std::uint64_t sum : finished) {
      const Box region = begin_region(step);
      if (!is_there(region, sum)) {
        if (job_.read != nullptr) job_.read->read = read;
        if (job_.stored != nullptr) job_.stored->stored = stored;
        job_.journal->restart_sweep();
        return 0;
      }
      told(2 * volume(region.extents) * job_.type.bytes);
      if (stopped_) break;
      advance(step, counts);
    }
    if (job_.resumed != nullptr) *job_.resumed += finished.size();
    return finished.size();
  }

  // Whether a region is stored as the journal says; if so it is in the sums of a run that is verified.
  bool is_there(const Box& region, std::uint64_t sum) {
    try {
      read_back(region);
    } catch (const Error&) {
      return false;
    }
    if (region_sum(region) != sum) return false;
    if (job_.stored != nullptr) job_.stored->stored += sums_.stored(region, job_.memory, region_strides_);
    if (job_.read != nullptr) fill(region);
    return true;
  }

  void read_back(const Box& region) {
    const std::vector<Box> boxes = job_.sink.boxes(region);
    in_parallel(boxes.size(), job_.threads, [&](std::uint64_t b, std::uint64_t rank) {
      const Box& box = boxes[b];
      const Room room = job_.sink.room(box);
      Workspace& workspace = workspaces_[rank];
      workspace.made.resize(room.bytes);
      job_.sink.read_back(box, workspace.made, workspace);
      outgoing_.run({.extents = box.extents, .in = room.strides, .out = region_strides_},
                    workspace.made.data(), at(region, box));
    });
  }

  void fill(const Box& region) {
    const std::vector<Box> boxes = job_.source.boxes(job_.axes.back(region, job_.shape));
    in_parallel(boxes.size(), job_.threads, [&](std::uint64_t b, std::uint64_t rank) {
      if (stopped_) return;
      const Box box = job_.axes.forth(boxes[b], job_.shape);
      const std::size_t rank_of_array = job_.shape.size();
      Workspace& workspace = workspaces_[rank];
      workspace.destination = job_.arithmetic ? Destination{} : destination(region, box);
      const Loaded loaded = job_.source.load(boxes[b], workspace);
      LocalMove move{.extents = box.extents, .in = Strides(rank_of_array), .out = region_strides_};
      const std::byte* first = loaded.first;
      const std::uint64_t in_width = job_.arithmetic ? bytes_of(job_.arithmetic->from) : job_.type.bytes;
      for (std::size_t a = 0; a < rank_of_array; ++a) {
        move.in[a] = loaded.strides[job_.axes.from[a]];
        if (!job_.axes.flipped[a]) continue;
        first +=
            static_cast<std::int64_t>(box.extents[a] - 1) * move.in[a] * static_cast<std::int64_t>(in_width);
        move.in[a] = -move.in[a];
      }
      if (job_.read != nullptr) job_.read->read += sums_.read(box, first, move.in);
      if (first != at(region, box)) incoming_.run(move, first, at(region, box));
      told(volume(box.extents) * in_width);
    });
  }

  // Where a box of the output lies, along the input's axes.
  Destination destination(const Box& region, const Box& box) const {
    Destination made{.first = at(region, box), .strides = Strides(box.extents.size())};
    for (std::size_t a = 0; a < box.extents.size(); ++a) {
      made.strides[job_.axes.from[a]] = region_strides_[a];
      if (job_.axes.flipped[a] && box.extents[a] > 1) made = {};
      if (made.first == nullptr) break;
    }
    return made;
  }

  void empty(const Box& region) {
    if (stopped_) return;
    const std::vector<Box> boxes = job_.sink.boxes(region);
    in_parallel(boxes.size(), job_.threads, [&](std::uint64_t b, std::uint64_t rank) {
      if (stopped_) return;
      const Box& box = boxes[b];
      const Room room = job_.sink.room(box);
      Workspace& workspace = workspaces_[rank];
      std::span<std::byte> elements;
      // A box that is the region, in its order, is stored from where it lies.
      if (box.extents == region.extents && room.strides == region_strides_ && !room.has_rests) {
        elements = {job_.memory, room.bytes};
      } else {
        workspace.made.resize(room.bytes);
        elements = workspace.made;
        if (room.has_rests) fill_rests(elements);
        outgoing_.run({.extents = box.extents, .in = region_strides_, .out = room.strides}, at(region, box),
                      elements.data());
      }
      job_.sink.store(box, elements, workspace);
      if (job_.stored != nullptr) {
        job_.sink.read_back(box, elements, workspace);
        job_.stored->stored += sums_.stored(box, elements.data(), room.strides);
      }
      told(volume(box.extents) * job_.type.bytes);
    });
  }

  void fill_rests(std::span<std::byte> elements) const {
    const Bytes& fill = job_.sink.fill();
    if (fill.empty()) {
      std::memset(elements.data(), 0, elements.size());
      return;
    }
    for (std::size_t e = 0; e < elements.size(); e += fill.size())
      std::memcpy(elements.data() + e, fill.data(), fill.size());
  }

  std::byte* at(const Box& region, const Box& box) const {
    return job_.memory +
           distance(region.origin, box.origin, region_strides_) * static_cast<std::int64_t>(job_.type.bytes);
  }

  void told(std::uint64_t bytes) {
    if (job_.advance && !job_.advance(bytes)) stopped_ = true;
  }

  const SweepJob& job_;
  Moves incoming_;
  Moves outgoing_;
  ElementSums sums_;
  std::vector<Workspace> workspaces_;
  Strides region_strides_;
  std::atomic<bool> stopped_{false};
};

}  // namespace

Shape AxisChoice::extents(const Shape& in) const {
  Shape out(from.size());
  for (std::size_t a = 0; a < from.size(); ++a) out[a] = in[from[a]];
  return out;
}

Shape AxisChoice::extents_back(const Shape& out) const {
  Shape in(from.size());
  for (std::size_t a = 0; a < from.size(); ++a) in[from[a]] = out[a];
  return in;
}

Box AxisChoice::back(const Box& out, const Shape& shape) const {
  Box in{.origin = Shape(from.size()), .extents = extents_back(out.extents)};
  for (std::size_t a = 0; a < from.size(); ++a)
    in.origin[from[a]] = flipped[a] ? shape[a] - out.origin[a] - out.extents[a] : out.origin[a];
  return in;
}

Box AxisChoice::forth(const Box& in, const Shape& shape) const {
  Box out{.origin = Shape(from.size()), .extents = extents(in.extents)};
  for (std::size_t a = 0; a < from.size(); ++a) {
    const std::uint64_t origin = in.origin[from[a]];
    out.origin[a] = flipped[a] ? shape[a] - origin - out.extents[a] : origin;
  }
  return out;
}

std::uint64_t element_sum(std::uint64_t place, const std::byte* element, std::uint64_t bytes) {
  using faro::detail::SplitMix64;
  std::uint64_t sum = SplitMix64::at(place, 0);
  for (; bytes >= 8; bytes -= 8, element += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, element, 8);
    sum = SplitMix64::mixed(sum ^ word);
  }
  if (bytes == 0) return sum;
  std::uint64_t word = 0;
  std::memcpy(&word, element, bytes);
  return SplitMix64::mixed(sum + word);
}

bool sweep(const SweepJob& job) { return Sweep(job).run(); }
void load_region(const SweepJob& job, const Box& region) { Sweep(job).load(region); }
void store_region(const SweepJob& job, const Box& region) { Sweep(job).store(region); }

}  // namespace faro::store

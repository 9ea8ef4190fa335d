#include "file/moves.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstring>
#include <utility>
#include <variant>
#include <vector>

#include "engines/cpu.hpp"
#include "faro/engines/cuda.hpp"
#include "faro/engines/cuda_measure.hpp"
#include "faro/error.hpp"
#include "faro/layout/tile.hpp"
#include "faro/threads.hpp"
#include "io/buffer.hpp"
#include "plan/form_to_run.hpp"
#include "size_text.hpp"
#include "widths.hpp"

namespace faro::file {
namespace {

class HostMove final : public TileMove {
 public:
  explicit HostMove(const Plan& plan) : executor_(plan) {}
  void run(std::byte* x, std::byte* y) const override { executor_.run(x, y); }

 private:
  cpu::Executor executor_;
};

class HostMoveInPlace final : public TileMove {
 public:
  explicit HostMoveInPlace(const Plan& plan) : executor_(plan) {}
  void run(std::byte*, std::byte* y) const override { executor_.run_in_place(y); }

 private:
  cpu::Executor executor_;
};

// An affine map of elements that no kernel takes as they are.
class AnyWidthMove final : public TileMove {
 public:
  AnyWidthMove(const Problem& problem, int threads)
      : width_(problem.element_bytes), batch_(problem.batch), threads_(detail::thread_count(threads)) {
    const Affine& map = std::get<Affine>(problem.permutation);
    tile_ = layout::make_tile(map, {.segment_bits = segment_bits(map), .directions = {}});
    back_ = map.inverse();
    for (f2::Word column = 0; column < f2::Word{1} << tile_.segment_bits; ++column)
      columns_.push_back(back_(column) ^ back_(0));
    for (f2::Word row = 0; row < f2::Word{1} << tile_.row_bits; ++row) {
      rows_.push_back(tile_.target_row(row));
      sources_.push_back(back_(rows_.back()) ^ back_(0));
    }
  }

  void run(std::byte* x, std::byte* y) const override {
    detail::with_width(width_, [&](auto width) { move(x, y, width); });
  }

  std::string text() const {
    return fmt::format(
        "2^{} elements of {}, copied one by one, in 2^{} cosets of {} that a core's cache holds\n",
        tile_.index_bits, size_text(width_), tile_.block_bits(), size_text(width_ << tile_.tile_bits()));
  }

 private:
  // As long as a core's cache holds the tile.
  int segment_bits(const Affine& map) const {
    constexpr std::uint64_t kCacheBytes = std::uint64_t{256} << 10;
    int bits = 0;
    while (bits < map.bits() && (width_ << (bits + 1 + map.rank_gamma(bits + 1))) <= kCacheBytes) ++bits;
    return bits;
  }

  template <typename Width>
  void move(const std::byte* x, std::byte* y, Width width) const {
    const std::uint64_t elements = std::uint64_t{1} << tile_.index_bits;
    const std::uint64_t blocks = std::uint64_t{1} << tile_.block_bits();
    const f2::Word column_mask = f2::low_mask(tile_.segment_bits);
#pragma omp parallel for schedule(static) num_threads(threads_)
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(batch_ * blocks); ++i) {
      const std::uint64_t begin = static_cast<std::uint64_t>(i) / blocks * elements;
      const f2::Word block = tile_.block_target(static_cast<std::uint64_t>(i) % blocks) & ~column_mask;
      const f2::Word block_source = back_(block);
      for (std::size_t row = 0; row < rows_.size(); ++row) {
        std::byte* to = y + (begin + (block ^ rows_[row])) * width_;
        const f2::Word source = block_source ^ sources_[row];
        for (const f2::Word column : columns_) {
          std::memcpy(to, x + (begin + (source ^ column)) * width_, width);
          to += width_;
        }
      }
    }
  }

  std::uint64_t width_;
  std::uint64_t batch_;
  int threads_;
  layout::Tile tile_;
  Affine back_;
  std::vector<f2::Word> columns_;  // of each column of the output, where it comes from, less back_(0)
  std::vector<f2::Word> rows_;     // of the output in a tile
  std::vector<f2::Word> sources_;  // likewise
};

// By a device or by the host, whichever the trial finds faster.
class TriedMove final : public TileMove {
 public:
  using Run = std::function<void(const std::byte*, std::byte*)>;
  TriedMove(std::shared_ptr<EngineTrial> trial, Run device, SharedMove host, std::uint64_t bytes)
      : trial_(std::move(trial)), device_(std::move(device)), host_(std::move(host)), bytes_(bytes) {}
  void run(std::byte* x, std::byte* y) const override {
    trial_->run([&] { device_(x, y); }, [&] { host_->run(x, y); }, bytes_);
  }

 private:
  std::shared_ptr<EngineTrial> trial_;
  Run device_;
  SharedMove host_;
  std::uint64_t bytes_;
};

double seconds_of_way(const EngineTrial::Way& way) {
  const auto begin = std::chrono::steady_clock::now();
  way();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// Whether a tile's map is one that the engine's kernels do not take at this width.
bool is_of_other_width(const Problem& problem) {
  const auto* const map = std::get_if<Affine>(&problem.permutation);
  if (map == nullptr) return false;
  if (problem.element_bytes > kMaxElementBytes) return true;
  return !std::has_single_bit(problem.element_bytes) && !detail::form_of_any_width(*map);
}

}  // namespace

SharedMove resting_move() {
  class RestingMove final : public TileMove {
   public:
    void run(std::byte*, std::byte*) const override {}
  };
  return std::make_shared<RestingMove>();
}

void EngineTrial::run(const Way& device, const Way& host, std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  if (is_known_) return is_host_ ? host() : device();
  device();  // loads kernels
  const double by_device = seconds_of_way(device);
  const double by_host = seconds_of_way(host);
  constexpr double kGiga = 1e9;
  const double moved = 2 * static_cast<double>(bytes) / kGiga;
  is_host_ = by_host < by_device;
  text_ = fmt::format("{:.3g} GB/s by cuda, {:.3g} by cpu", moved / by_device, moved / by_host);
  is_known_ = true;
}

Engine EngineTrial::chosen() const {
  const std::lock_guard lock(mutex_);
  return is_host_ ? Engine::cpu : Engine::cuda;
}

std::string EngineTrial::text() const {
  const std::lock_guard lock(mutex_);
  return text_;
}

// Two arrays of a device, as large as the largest tile so far.
struct MoveMaker::Device {
  Target target;
  std::shared_ptr<EngineTrial> trial = std::make_shared<EngineTrial>();
  std::unique_ptr<cuda::DeviceArray> in = nullptr;
  std::unique_ptr<cuda::DeviceArray> out = nullptr;

  void require(std::uint64_t in_bytes, std::uint64_t out_bytes) {
    const auto grow = [this](std::unique_ptr<cuda::DeviceArray>& array, std::uint64_t bytes) {
      if (array != nullptr && array->size() >= bytes) return;
      array.reset();
      array = std::make_unique<cuda::DeviceArray>(bytes, target.device);
    };
    grow(in, in_bytes);
    grow(out, out_bytes);
  }
};

MoveMaker::MoveMaker(const Options& options)
    : threads_(options.threads), target_(cpu::target(options.threads)) {
  cpu::plan_by_curves(target_, 0);  // as they are known without a measurement
  if (options.engine != Engine::cuda) return;
  device_ = std::make_shared<Device>(Device{.target = cuda::target(options.device)});
}

SharedMove MoveMaker::with_device(SharedMove host, std::function<void(const std::byte*, std::byte*)> run,
                                  std::uint64_t in_bytes, std::uint64_t out_bytes) const {
  device_->require(in_bytes, out_bytes);
  const auto whole = [device = device_, run = std::move(run), in_bytes, out_bytes](const std::byte* x,
                                                                                   std::byte* y) {
    device->in->upload(x, in_bytes);
    run(device->in->data(), device->out->data());
    device->out->download(y, out_bytes);
  };
  return std::make_shared<TriedMove>(device_->trial, whole, std::move(host), out_bytes);
}

SharedMove MoveMaker::make(const Problem& problem) const {
  if (problem.placement == Placement::in_place) {
    FARO_CHECK(device_ == nullptr);
    return std::make_shared<HostMoveInPlace>(Plan(problem, target_));
  }
  if (is_of_other_width(problem)) return std::make_shared<AnyWidthMove>(problem, threads_);
  const Plan plan(problem, target_);
  auto host = std::make_shared<HostMove>(plan);
  if (device_ == nullptr || plan.array_bytes() == 0) return host;
  const auto executor = std::make_shared<const cuda::Executor>(Plan(problem, device_->target));
  return with_device(
      std::move(host), [executor](const std::byte* x, std::byte* y) { executor->run(x, y); }, plan.in_bytes(),
      plan.out_bytes());
}

TilePlan MoveMaker::explain(const Problem& problem) const {
  TilePlan told{.permutation = to_text(problem), .text = {}, .json = {}};
  if (is_of_other_width(problem)) {
    told.text = AnyWidthMove(problem, threads_).text();
    return told;
  }
  const Plan plan(problem, device_ == nullptr ? target_ : device_->target);
  told.text = plan.explain();
  told.json = plan.explain_json();
  return told;
}

// Nothing may have gone to the device: elements of other widths, multiplications.
Engine MoveMaker::engine() const {
  return device_ == nullptr || device_->in == nullptr ? Engine::cpu : device_->trial->chosen();
}

std::string MoveMaker::engine_text() const { return device_ == nullptr ? "" : device_->trial->text(); }

}  // namespace faro::file

#include "network/cpu_engine.hpp"

#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engines/cpu.hpp"
#include "engines/cpu/copy_kernel.hpp"
#include "engines/cpu/team.hpp"
#include "faro/error.hpp"
#include "faro/threads.hpp"
#include "network/cpu_chunks.hpp"
#include "network/cpu_passes.hpp"
#include "network/cpu_rows.hpp"
#include "network/cpu_scalar.hpp"
#include "network/operator_script.hpp"

namespace faro::network {
namespace {

// Buffers of one size, made when they are first needed and lent from then on.
class ScratchPool {
  struct Free {
    void operator()(std::byte* memory) const { ::operator delete[](memory, std::align_val_t{kAlignment}); }
  };
  using Memory = std::unique_ptr<std::byte[], Free>;
  struct Shelf {
    std::mutex mutex;
    std::vector<Memory> idle;
  };

 public:
  static constexpr std::size_t kAlignment = 4096;

  explicit ScratchPool(std::uint64_t bytes = 0) : bytes_(bytes), shelf_(std::make_unique<Shelf>()) {}

  /// A buffer for as long as this lives.
  class Loan {
   public:
    Loan(Shelf& shelf, Memory memory) : shelf_(&shelf), memory_(std::move(memory)) {}
    Loan(Loan&&) noexcept = default;
    Loan& operator=(Loan&&) = delete;
    ~Loan() {
      if (memory_ == nullptr) return;
      const std::lock_guard lock(shelf_->mutex);
      shelf_->idle.push_back(std::move(memory_));
    }
    std::byte* data() const { return memory_.get(); }

   private:
    Shelf* shelf_;
    Memory memory_;
  };

  /// The bytes are those of the last borrower, zero at first. Errors: std::bad_alloc.
  Loan lend() const {
    {
      const std::lock_guard lock(shelf_->mutex);
      if (!shelf_->idle.empty()) {
        Loan loan(*shelf_, std::move(shelf_->idle.back()));
        shelf_->idle.pop_back();
        return loan;
      }
    }
    return {*shelf_, Memory(new (std::align_val_t{kAlignment}) std::byte[bytes_]())};
  }

 private:
  std::uint64_t bytes_;
  std::unique_ptr<Shelf> shelf_;
};

// A pass's tables.
struct PassProgram {
  cpu::TileRows rows;
  std::vector<cpu::Chunk> chunks;
  Places places;
  int tile_bits = 0;
  int block_bits = 0;
  CpuTeam team;
};

std::size_t most_steps(const std::vector<cpu::Chunk>& chunks) {
  std::size_t most = 0;
  for (const cpu::Chunk& chunk : chunks) most = std::max(most, chunk.steps.size());
  return most;
}

int most_operator_bits(const Plan& plan) {
  int most = 0;
  for (const Layer& layer : plan.normal_form().layers) most = std::max(most, layer.bits);
  return most;
}

// Checks all users' operators, so that what cannot run here is refused before anything does.
void check_operators(const Plan& plan) {
  for (const Layer& layer : plan.normal_form().layers) {
    if (is_users(layer.op.kind)) host_function(layer.op, plan.problem().element);
  }
}

int checked_threads(int threads) {
  if (threads < 0 || threads > kMaxThreads) {
    fail(ErrorCode::value, "network on engine cpu", std::to_string(threads) + " threads",
         "0 (as many as OpenMP would use) to " + std::to_string(kMaxThreads));
  }
  return detail::thread_count(threads);
}

// The first exception of a team of threads, for the one that started it.
class FirstError {
 public:
  template <typename Work>
  void guard(const Work& work) {
    try {
      work();
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!error_) error_ = std::current_exception();
    }
  }
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  std::mutex mutex_;
  std::exception_ptr error_;
};

}  // namespace

struct CpuExecutor::State {
  Plan plan;
  int threads;
  cpu::TwiddleTable twiddles;
  std::vector<PassProgram> passes;
  std::uint64_t element_bytes;
  std::uint64_t array_bytes;  // of one array
  mutable ScratchPool buffers;
  mutable ScratchPool workspaces;

  State(const Plan& source, int thread_count)
      : plan(source),
        threads(thread_count),
        twiddles(most_operator_bits(plan)),
        element_bytes(plan.problem().element.bytes()),
        array_bytes(element_bytes << plan.normal_form().bits),
        workspaces(plan.workspace_bytes()) {
    const std::vector<Places> places = run_places(plan.passes());
    const Target target = faro::cpu::target(threads);
    std::uint64_t buffer_bytes = 0;
    for (std::size_t k = 0; k < plan.passes().size(); ++k) {
      passes.push_back(make_program(plan.passes()[k], places[k], target));
      buffer_bytes = std::max(buffer_bytes, element_bytes << passes.back().team.buffer_bits);
    }
    buffers = ScratchPool(buffer_bytes);
  }

  PassProgram make_program(const Pass& pass, const Places& places, const Target& target) const {
    PassProgram program{.rows = cpu::TileRows(pass, element_bytes),
                        .chunks = {},
                        .places = places,
                        .tile_bits = pass.tile.tile_bits(),
                        .block_bits = pass.tile.block_bits(),
                        .team = team_of(plan, pass, target)};
    program.chunks = cpu::make_chunks(pass, plan.problem().element, program.team.buffer_bits, cpu::vectors());
    for (cpu::Chunk& chunk : program.chunks) {
      if (chunk.kernel != cpu::Kernel::scalar) continue;
      cpu::Step& step = chunk.steps.front();
      if (is_users(step.layer->op.kind)) step.host = host_function(step.layer->op, plan.problem().element);
    }
    return program;
  }

  // The work of one thread: tiles begin..end of a pass, counted over all arrays.
  void run_tiles(const PassProgram& program, std::uint64_t begin, std::uint64_t end, const std::byte* from,
                 std::byte* to) const {
    const ScratchPool::Loan loan = buffers.lend();
    std::vector<f2::Word> frames(most_steps(program.chunks));
    std::vector<std::complex<double>> turns(frames.size());
    const std::uint64_t tile_bytes = element_bytes << program.tile_bits;
    for (std::uint64_t item = begin; item < end; ++item) {
      const f2::Word block = item & f2::low_mask(program.block_bits);
      const std::uint64_t first = item >> program.block_bits << program.team.fold_bits;
      const std::uint64_t arrays =
          std::min(std::uint64_t{1} << program.team.fold_bits, plan.problem().batch - first);
      for (std::uint64_t a = 0; a < arrays; ++a) {
        program.rows.read(block, from + (first + a) * array_bytes, loan.data() + a * tile_bytes);
      }
      for (const cpu::Chunk& chunk : program.chunks) {
        run_chunk(program, chunk, block, arrays, frames.data(), turns.data(), loan.data());
      }
      for (std::uint64_t a = 0; a < arrays; ++a) {
        program.rows.write(block, loan.data() + a * tile_bytes, to + (first + a) * array_bytes,
                           program.team.streamed);
      }
    }
    if (program.team.streamed) faro::cpu::finish_streams();
  }

  void run_chunk(const PassProgram& program, const cpu::Chunk& chunk, f2::Word block, std::uint64_t arrays,
                 f2::Word* frames, std::complex<double>* turns, std::byte* buffer) const {
    const ElementType& element = plan.problem().element;
    if (chunk.kernel == cpu::Kernel::scalar) {
      const LocalLayer& layer = *chunk.steps.front().layer;
      for (std::uint64_t a = 0; a < arrays; ++a) {
        cpu::run_scalar(layer, chunk.steps.front().host.get(), element, twiddles, block, program.tile_bits,
                        buffer + a * (element_bytes << program.tile_bits));
      }
      return;
    }
    const bool turning = chunk.kernel == cpu::Kernel::fourier_f32 || chunk.kernel == cpu::Kernel::fourier_f64;
    for (std::size_t s = 0; s < chunk.steps.size(); ++s) {
      const cpu::Step& step = chunk.steps[s];
      frames[s] = cpu::start_of(step, block);
      if (!turning || step.twiddles.local_only) continue;
      const std::complex<double> w = twiddles.at(frames[s] >> 1, step.bits);
      turns[s] = step.twiddles.inverse ? std::conj(w) : w;
    }
    const cpu::TileState tile{.frames = frames, .twiddles = turns};
    switch (chunk.kernel) {
      case cpu::Kernel::hadamard_u32:
      case cpu::Kernel::hadamard_u64:
      case cpu::Kernel::hadamard_f32:
      case cpu::Kernel::hadamard_f64:
        return cpu::run_hadamard(chunk, tile, buffer);
      case cpu::Kernel::fourier_f32:
      case cpu::Kernel::fourier_f64:
        return cpu::run_fourier(chunk, tile, buffer);
      default:
        return cpu::run_exchange(chunk, tile, buffer);
    }
  }

  void run_pass(const PassProgram& program, const std::byte* from, std::byte* to) const {
    FirstError first_error;
    faro::cpu::share_out(program.team.tiles, program.team.threads,
                         [&](std::uint64_t begin, std::uint64_t end) {
                           first_error.guard([&] { run_tiles(program, begin, end, from, to); });
                         });
    first_error.rethrow();
  }

  void run(const std::byte* in, std::byte* out) const {
    if (passes.empty()) {  // arrays of one element, or none
      if (in != out) faro::cpu::copy(in, out, plan.array_bytes(), threads);
      for (const Layer& layer : plan.normal_form().layers) {
        apply_each(layer.op, plan.problem().element, out, plan.problem().batch);
      }
      return;
    }
    std::optional<ScratchPool::Loan> workspace;
    if (plan.workspace_bytes() != 0) workspace.emplace(workspaces.lend());
    const auto at = [&](Place place) { return place == Place::out ? out : workspace->data(); };
    faro::cpu::RunWatch* const watch = faro::cpu::RunWatch::of_this_thread();
    std::size_t pass = 0;
    for (const PassProgram& program : passes) {
      if (watch != nullptr) watch->begin_pass(pass++, passes.size());
      const std::byte* const from = program.places.source == Place::in ? in : at(program.places.source);
      run_pass(program, from, at(program.places.target));
    }
  }
};

CpuExecutor::CpuExecutor(const Plan& plan, int threads) {
  check_operators(plan);
  state_ = std::make_unique<State>(plan, checked_threads(threads));
}
CpuExecutor::CpuExecutor(CpuExecutor&&) noexcept = default;
CpuExecutor& CpuExecutor::operator=(CpuExecutor&&) noexcept = default;
CpuExecutor::~CpuExecutor() = default;

void CpuExecutor::run(const void* in, void* out) const {
  state_->run(static_cast<const std::byte*>(in), static_cast<std::byte*>(out));
}

bool CpuExecutor::runs_in_place() const {
  if (state_->passes.empty()) return true;
  const PassProgram& first = state_->passes.front();
  return first.places.target == Place::workspace || first.block_bits == 0 ||
         state_->plan.passes().front().in_place;
}

int CpuExecutor::threads() const { return state_->threads; }

}  // namespace faro::network

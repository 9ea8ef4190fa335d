#include "network/cpu_chunks.hpp"

#include <bit>
#include <cstring>

#include "faro/error.hpp"
#include "faro/f2/matrix.hpp"

namespace faro::network::cpu {
namespace {

KernelChoice exchange_of(const ElementType& element) {
  const bool keyed = element.with_value;
  switch (element.scalar) {
    case Scalar::i32:
      return keyed ? KernelChoice{Kernel::exchange_i64, Recoding::key32}
                   : KernelChoice{Kernel::exchange_i32, Recoding::none};
    case Scalar::u32:
      return keyed ? KernelChoice{Kernel::exchange_i64, Recoding::key32_u32}
                   : KernelChoice{Kernel::exchange_i32, Recoding::u32};
    case Scalar::f32:
      return keyed ? KernelChoice{Kernel::exchange_i64, Recoding::key32_f32}
                   : KernelChoice{Kernel::exchange_i32, Recoding::f32};
    case Scalar::i64:
      return keyed ? KernelChoice{Kernel::exchange_u128, Recoding::key64_signed}
                   : KernelChoice{Kernel::exchange_i64, Recoding::none};
    case Scalar::u64:
      return keyed ? KernelChoice{Kernel::exchange_u128, Recoding::key64}
                   : KernelChoice{Kernel::exchange_i64, Recoding::u64};
    case Scalar::f64:
      return keyed ? KernelChoice{Kernel::exchange_u128, Recoding::key64_f64}
                   : KernelChoice{Kernel::exchange_i64, Recoding::f64};
    default:
      return {};
  }
}

Kernel hadamard_of(Scalar scalar) {
  switch (scalar) {
    case Scalar::i32:
    case Scalar::u32:
      return Kernel::hadamard_u32;
    case Scalar::i64:
    case Scalar::u64:
      return Kernel::hadamard_u64;
    case Scalar::f32:
    case Scalar::c64:
      return Kernel::hadamard_f32;
    default:
      return Kernel::hadamard_f64;
  }
}

}  // namespace

KernelChoice kernel_for(const Operator& op, const ElementType& element) {
  switch (op.kind) {
    case OperatorKind::compare_exchange:
      return exchange_of(element);
    case OperatorKind::hadamard:
      return {hadamard_of(element.scalar), Recoding::none};
    case OperatorKind::fourier:
    case OperatorKind::inverse_fourier:
      return {element.scalar == Scalar::c64 ? Kernel::fourier_f32 : Kernel::fourier_f64, Recoding::none};
    default:
      return {};
  }
}

std::uint64_t lane_bytes(Kernel kernel) {
  switch (kernel) {
    case Kernel::exchange_i32:
    case Kernel::hadamard_u32:
    case Kernel::hadamard_f32:
    case Kernel::fourier_f32:
      return 4;
    default:
      return 8;
  }
}

namespace {

int lane_bits(const ElementType& element, const Vectors& vectors) {
  return std::countr_zero(vectors.vector_bytes / element.bytes());
}

// --- a layer's frame on a tile's places and numbers

f2::Word frame_value(const LocalLayer& layer, f2::Word place) {
  f2::Word y = 0;
  for (std::size_t i = 0; i < layer.frame.size(); ++i) {
    if (f2::parity(layer.frame[i].place & place)) y |= f2::unit(static_cast<int>(i));
  }
  return y;
}

f2::Word frame_constant(const LocalLayer& layer) {
  f2::Word y = 0;
  for (std::size_t i = 0; i < layer.frame.size(); ++i) {
    if (layer.frame[i].constant) y |= f2::unit(static_cast<int>(i));
  }
  return layer.op.reversed ? y ^ 1 : y;
}

std::vector<f2::Word> frame_blocks(const LocalLayer& layer, int block_bits) {
  std::vector<f2::Word> columns(static_cast<std::size_t>(block_bits));
  for (int b = 0; b < block_bits; ++b) {
    for (std::size_t i = 0; i < layer.frame.size(); ++i) {
      if (f2::bit(layer.frame[i].block, b)) {
        columns[static_cast<std::size_t>(b)] |= f2::unit(static_cast<int>(i));
      }
    }
  }
  return columns;
}

// What the differences directions[0] ^ .. ^ directions[i] of counting are: entry i.
std::vector<f2::Word> prefixes(std::vector<f2::Word> directions) {
  for (std::size_t i = 1; i < directions.size(); ++i) directions[i] ^= directions[i - 1];
  return directions;
}

// --- building

class Builder {
 public:
  Builder(const Pass& pass, const ElementType& element, int buffer_bits, const Vectors& vectors,
          TwiddleTables twiddles)
      : pass_(pass),
        element_(element),
        vectors_(vectors),
        twiddles_(twiddles),
        lane_bits_(vectors.vector_bytes == 0 ? 0 : lane_bits(element, vectors)),
        vector_bits_(buffer_bits - lane_bits_),
        span_(vector_bits_) {}

  std::vector<Chunk> build() {
    for (const LocalLayer& layer : pass_.layers) add(layer);
    close();
    // What one chunk undoes and the next one does again is left as it is.
    for (std::size_t i = 1; i < chunks_.size(); ++i) {
      if (chunks_[i - 1].on_store != chunks_[i].on_load) continue;
      chunks_[i - 1].on_store = chunks_[i].on_load = Recoding::none;
    }
    return std::move(chunks_);
  }

 private:
  void add(const LocalLayer& layer) {
    KernelChoice choice = kernel_for(layer.op, element_);
    if (vectors_.vector_bytes == 0) choice = {};
    if (choice.kernel == Kernel::scalar) {
      close();
      add_scalar(layer);
      return;
    }
    f2::Subspace grown = span_;
    grown.insert(layer.delta >> lane_bits_);
    if (!members_.empty() &&
        (choice.kernel != choice_.kernel || grown.dimension() > vectors_.register_bits)) {
      close();
      grown.insert(layer.delta >> lane_bits_);
    }
    choice_ = choice;
    if (members_.empty()) {
      grown = f2::Subspace(vector_bits_);
      grown.insert(layer.delta >> lane_bits_);
    }
    span_ = grown;
    members_.push_back(&layer);
  }

  void add_scalar(const LocalLayer& layer) {
    Step step;
    step.layer = &layer;
    step.bits = layer.bits;
    Chunk chunk;
    chunk.steps.push_back(std::move(step));
    chunks_.push_back(std::move(chunk));
  }

  void close() {
    if (members_.empty()) return;
    // Registers that no layer needs are neighbours in memory.
    for (int i = 0; span_.dimension() < vectors_.register_bits; ++i) {
      FARO_CHECK(i < vector_bits_);
      span_.insert(f2::unit(i));
    }
    const f2::Subspace bases = f2::complement(span_);
    const std::vector<f2::Word> free_vectors(bases.basis().begin(), bases.basis().end());
    std::vector<const LocalLayer*> joined;
    for (const LocalLayer* const layer : members_) {
      if (!is_fourier(layer->op.kind) || separable(*layer, free_vectors)) {
        joined.push_back(layer);
        continue;
      }
      add_chunk(joined, free_vectors);
      joined.clear();
      add_scalar(*layer);
    }
    add_chunk(joined, free_vectors);
    members_.clear();
    span_ = f2::Subspace(vector_bits_);
  }

  void add_chunk(const std::vector<const LocalLayer*>& layers, const std::vector<f2::Word>& free_vectors) {
    if (layers.empty()) return;
    Chunk chunk;
    chunk.kernel = choice_.kernel;
    chunk.on_load = chunk.on_store = choice_.recoding;
    chunk.groups = std::uint64_t{1} << free_vectors.size();
    for (std::size_t i = 0; i < register_count(); ++i) {
      chunk.registers.push_back(register_vector(i) * vectors_.vector_bytes);
    }
    for (const f2::Word base : prefixes(free_vectors)) chunk.walk.push_back(base * vectors_.vector_bytes);
    chunk.step_walk.resize(free_vectors.size() * layers.size());
    for (std::size_t s = 0; s < layers.size(); ++s) {
      const std::vector<f2::Word> columns = base_columns(*layers[s], free_vectors);
      chunk.steps.push_back(make_step(*layers[s], columns));
      const std::vector<f2::Word> changes = prefixes(columns);
      for (std::size_t i = 0; i < changes.size(); ++i) chunk.step_walk[i * layers.size() + s] = changes[i];
    }
    chunks_.push_back(std::move(chunk));
  }

  // Whether a pair's number is a sum, without carries, of a part that registers and lanes have, one of the
  // base and one of the tile: then its twiddle is the product of theirs.
  bool separable(const LocalLayer& layer, const std::vector<f2::Word>& free_vectors) const {
    f2::Word local = 0;
    for (int l = 0; l < lane_bits_; ++l) local |= frame_value(layer, f2::unit(l));
    for (const f2::Word v : span_.basis()) local |= frame_value(layer, v << lane_bits_);
    f2::Word base = 0;
    for (const f2::Word column : base_columns(layer, free_vectors)) base |= column;
    f2::Word tile = frame_constant(layer);
    for (const f2::Word column : frame_blocks(layer, pass_.tile.block_bits())) tile |= column;
    return ((local & base) | (local & tile) | (base & tile)) >> 1 == 0;
  }

  std::size_t register_count() const { return std::size_t{1} << vectors_.register_bits; }
  f2::Word register_vector(std::size_t i) const { return f2::combine(span_.basis().data(), i); }

  Step make_step(const LocalLayer& layer, const std::vector<f2::Word>& columns) const {
    Step step;
    step.bits = layer.bits;
    step.partner = static_cast<unsigned>(span_.coordinates(layer.delta >> lane_bits_));
    step.lanes = static_cast<unsigned>(layer.delta & f2::low_mask(lane_bits_));
    fill_lanes(layer, step);
    for (std::size_t i = 0; i < register_count(); ++i) {
      const f2::Word y = frame_value(layer, register_vector(i) << lane_bits_);
      step.register_signs |= static_cast<std::uint32_t>(y & 1) << i;
    }
    // The lower of each two registers speaks for both.
    std::uint32_t speakers = 0;
    for (std::uint32_t i = 0; i < register_count(); ++i) {
      if (step.partner != 0 && (i ^ step.partner) > i) speakers |= std::uint32_t{1} << i;
    }
    step.straight = step.partner != 0 && step.lane_signs == 0 && (step.register_signs & speakers) == 0;

    step.block = frame_blocks(layer, pass_.tile.block_bits());
    step.constant = frame_constant(layer);
    if (is_fourier(layer.op.kind)) {
      if (element_.scalar == Scalar::c64) {
        step.twiddles = make_twiddles<float>(layer, step, columns);
      } else {
        step.twiddles = make_twiddles<double>(layer, step, columns);
      }
    }
    return step;
  }

  std::vector<f2::Word> base_columns(const LocalLayer& layer,
                                     const std::vector<f2::Word>& free_vectors) const {
    std::vector<f2::Word> columns;
    columns.reserve(free_vectors.size());
    for (const f2::Word base : free_vectors) columns.push_back(frame_value(layer, base << lane_bits_));
    return columns;
  }

  void fill_lanes(const LocalLayer& layer, Step& step) const {
    const std::uint64_t width = lane_bytes(choice_.kernel);
    const std::uint64_t per_element = element_.bytes() / width;
    for (std::uint64_t lane = 0; lane < vectors_.vector_bytes / width; ++lane) {
      const std::uint64_t partner = lane ^ step.lanes * per_element;
      std::memcpy(step.lane_index + lane * width, &partner, width);  // little-endian
      step.lane_signs |= (frame_value(layer, lane / per_element) & 1) << lane;
    }
  }

  template <typename Real>
  Twiddles make_twiddles(const LocalLayer& layer, const Step& step,
                         const std::vector<f2::Word>& columns) const {
    Twiddles t;
    t.inverse = layer.op.kind == OperatorKind::inverse_fourier;
    const auto at = [&](f2::Word y) {
      const std::complex<double> w = twiddle(y >> 1, layer.bits);
      return t.inverse ? std::conj(w) : w;
    };
    const std::uint64_t lanes = std::uint64_t{1} << lane_bits_;
    t.local.resize(register_count() * 2 * kMaxVectorBytes);
    for (std::size_t i = 0; i < register_count(); ++i) {
      for (std::uint64_t l = 0; l < lanes; ++l) {
        const std::complex<double> w = at(frame_value(layer, register_vector(i) << lane_bits_ | l));
        const auto re = static_cast<Real>(w.real());
        const auto im = static_cast<Real>(w.imag());
        const Real parts[] = {re, re, -im, im};
        std::byte* const to = t.local.data() + i * 2 * kMaxVectorBytes + l * 2 * sizeof(Real);
        std::memcpy(to, parts, 2 * sizeof(Real));
        std::memcpy(to + kMaxVectorBytes, parts + 2, 2 * sizeof(Real));
      }
    }
    f2::Word others = step.constant;
    for (const f2::Word y : columns) others |= y;
    for (const f2::Word y : step.block) others |= y;
    t.local_only = others >> 1 == 0;
    if (!t.local_only && twiddles_ == TwiddleTables::made) {
      t.base.resize(std::size_t{1} << columns.size());
      for (std::size_t g = 0; g < t.base.size(); ++g) t.base[g] = at(f2::combine(columns.data(), g));
    }
    return t;
  }

  const Pass& pass_;
  const ElementType& element_;
  Vectors vectors_;
  TwiddleTables twiddles_;
  int lane_bits_;
  int vector_bits_;

  std::vector<Chunk> chunks_;
  std::vector<const LocalLayer*> members_;  // of the chunk to come
  f2::Subspace span_;                       // of their directions
  KernelChoice choice_;
};

}  // namespace

int group_bits(const ElementType& element, const Vectors& vectors) {
  return vectors.vector_bytes == 0 ? 0 : lane_bits(element, vectors) + vectors.register_bits;
}

std::vector<Chunk> make_chunks(const Pass& pass, const ElementType& element, int buffer_bits,
                               const Vectors& vectors, TwiddleTables twiddles) {
  FARO_CHECK(buffer_bits >= group_bits(element, vectors) && buffer_bits >= pass.tile.tile_bits());
  return Builder(pass, element, buffer_bits, vectors, twiddles).build();
}

}  // namespace faro::network::cpu

#include "network/device_tables.hpp"

#include <algorithm>
#include <complex>
#include <cstdint>

namespace faro::network {
namespace {

std::uint32_t share_of_block(const kernels::NetworkPairs& pairs, std::uint64_t block) {
  std::uint32_t share = 0;
  for (int digit = 0; digit < kernels::kBlockDigits; ++digit) {
    share ^= pairs.block[digit][block >> digit * kernels::kBlockDigitBits & (kernels::kBlockDigitValues - 1)];
  }
  return share;
}

template <typename Real>
class Powers {
 public:
  Powers(DeviceTables& tables, int bits, bool inverse)
      : tables_(tables), bits_(bits), fine_bits_(bits / 2), inverse_(inverse) {
    fine_ = tables.add(steps(fine_bits_, 0));
    coarse_ = tables.add(steps(bits - fine_bits_, fine_bits_));
  }

  // The powers of the shares of a launch's threads, blocks and registers, layer after layer.
  void describe(const NetworkLaunch& launch, const kernels::NetworkShape& shape,
                TableOffsets& offsets) const {
    std::vector<std::complex<Real>> threads;
    std::vector<std::complex<Real>> blocks;
    std::vector<std::complex<Real>> roots;
    for (std::size_t layer = 0; layer < launch.tables.layers.size(); ++layer) {
      const kernels::NetworkPairs& pairs = launch.tables.pairs[layer];
      const int bits = launch.tables.layers[layer].bits;
      for (std::uint32_t thread = 0; thread < std::uint32_t{1} << shape.tile.thread_bits; ++thread) {
        threads.push_back(
            power(pairs.lane[thread % kernels::kLanes] ^ pairs.warp[thread / kernels::kLanes], bits));
      }
      for (int digit = 0; digit < kernels::kPowerDigits; ++digit) {
        for (std::uint64_t value = 0; value < std::uint64_t{1} << kernels::kPowerDigitBits; ++value) {
          const std::uint64_t block = value << digit * kernels::kPowerDigitBits;
          blocks.push_back(power(share_of_block(pairs, block), bits));
        }
      }
      for (const std::uint32_t share : pairs.registers) roots.push_back(power(share, bits));
    }
    offsets.threads = tables_.add(threads);
    offsets.blocks = tables_.add(blocks);
    offsets.roots = tables_.add(roots);
    offsets.coarse = coarse_;
    offsets.fine = fine_;
    offsets.thread_bits = shape.tile.thread_bits;
    offsets.bits = bits_;
    offsets.fine_bits = fine_bits_;
  }

 private:
  std::complex<Real> power(std::uint64_t number, int bits) const {
    const std::complex<double> w = twiddle(number, bits);
    return std::complex<Real>(inverse_ ? std::conj(w) : w);
  }
  std::vector<std::complex<Real>> steps(int count_bits, int step_bits) const {
    std::vector<std::complex<Real>> values(std::size_t{1} << count_bits);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = power(std::uint64_t{i} << step_bits, bits_);
    return values;
  }

  DeviceTables& tables_;
  int bits_;
  int fine_bits_;
  bool inverse_;
  std::size_t coarse_ = 0;
  std::size_t fine_ = 0;
};

template <typename Real>
void add_powers(DeviceTables& tables, const std::vector<NetworkLaunch>& launches, OperatorKind kind,
                const kernels::NetworkShape& shape, std::vector<TableOffsets>& offsets) {
  int bits = 0;
  for (const NetworkLaunch& launch : launches) {
    if (launch.op.kind != kind) continue;
    for (const kernels::NetworkLayer& layer : launch.tables.layers) bits = std::max(bits, layer.bits);
  }
  if (bits == 0) return;
  const Powers<Real> powers(tables, bits, kind == OperatorKind::inverse_fourier);
  for (std::size_t i = 0; i < launches.size(); ++i) {
    if (launches[i].op.kind == kind) powers.describe(launches[i], shape, offsets[i]);
  }
}

}  // namespace

std::vector<TableOffsets> add_tables(DeviceTables& tables, const std::vector<NetworkLaunch>& launches,
                                     const ElementType& element, const kernels::NetworkShape& shape) {
  std::vector<TableOffsets> offsets;
  for (const NetworkLaunch& launch : launches) {
    TableOffsets of;
    of.groups = tables.add(launch.tables.groups);
    of.layers = tables.add(launch.tables.layers);
    of.pairs = tables.add(launch.tables.pairs);
    offsets.push_back(of);
  }
  for (const OperatorKind kind : {OperatorKind::fourier, OperatorKind::inverse_fourier}) {
    if (element.scalar == Scalar::c128) {
      add_powers<double>(tables, launches, kind, shape, offsets);
    } else {
      add_powers<float>(tables, launches, kind, shape, offsets);
    }
  }
  return offsets;
}

OperatorArgument operator_argument(const Operator& op, const TableOffsets& offsets, const std::byte* base) {
  OperatorArgument argument{};
  if (!is_fourier(op.kind)) return argument;
  // Pointers and sizes, of either precision.
  const auto at = [&](std::size_t offset) {
    return reinterpret_cast<const kernels::Complex<float>*>(base + offset);
  };
  const kernels::Twiddles<float> value{at(offsets.threads), at(offsets.blocks), at(offsets.roots),
                                       at(offsets.coarse),  at(offsets.fine),   offsets.thread_bits,
                                       offsets.bits,        offsets.fine_bits};
  static_assert(sizeof(value) == sizeof(OperatorArgument));
  std::memcpy(argument.data(), &value, sizeof value);
  return argument;
}

}  // namespace faro::network

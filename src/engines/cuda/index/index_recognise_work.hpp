// Recognition of an array on a device: the reader that faro::recognise() asks, over any device that runs
// kernels (index_work.hpp).
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "engines/cuda/index/index_images.hpp"
#include "engines/cuda/index/index_recognise_steps.hpp"
#include "engines/cuda/index/index_work.hpp"
#include "faro/error.hpp"
#include "faro/permutation/permutation.hpp"

namespace faro::cuda {

inline constexpr int kMostAxes = 40;  // of 2^40 elements, each of two at least

/// What the sweep needs to know of `axes`. Requires: at most kAxes axes.
template <int kAxes>
MismatchAxes<kAxes> mismatch_axes(const EntryView& entries, const Axes& axes) {
  constexpr std::uint64_t kNever = std::uint64_t{1} << 62;  // an extent past every digit
  MismatchAxes<kAxes> sweep;
  sweep.entries = entries;
  std::fill(std::begin(sweep.extent), std::end(sweep.extent), kNever);
  const std::vector<std::uint64_t>& strides = axes.target_strides();
  const std::size_t number = axes.shape().size();
  FARO_CHECK(number <= kAxes);
  for (std::size_t a = 0; a < number; ++a) {
    sweep.extent[a] = axes.shape()[number - 1 - a];
    sweep.stride[a] = strides[number - 1 - a];
  }
  sweep.set_step();
  return sweep;
}

template <typename Device>
class DeviceReader : public IndexReader {
 public:
  DeviceReader(Device& device, const EntryView& entries) : device_(device), entries_(entries) {}

  std::uint64_t count() const override { return entries_.count; }

  std::vector<std::uint64_t> at(std::span<const std::uint64_t> positions) override {
    std::vector<std::uint64_t> values(positions.size());
    if (positions.empty()) return values;
    const auto asked = device_.template buffer<std::uint64_t>(positions.size());
    const auto answered = device_.template buffer<std::uint64_t>(positions.size());
    device_.send(asked.data(), positions.data(), asked.bytes());
    ReadAt read;
    read.entries = entries_;
    read.positions = asked.data();
    read.number = positions.size();
    read.values = answered.data();
    device_.run(read);
    device_.fetch(values.data(), answered.data(), answered.bytes());
    return values;
  }

  std::optional<std::uint64_t> mismatch(const Permutation& candidate) override {
    if (entries_.count == 0) return std::nullopt;
    if (const auto* const map = std::get_if<Affine>(&candidate)) return found_by(affine_sweep(*map));
    if (const auto* const axes = std::get_if<Axes>(&candidate)) return axes_mismatch(*axes);
    if (const auto* const map = std::get_if<Modular>(&candidate)) return image_mismatch(image_of(*map));
    if (const auto* const axes = std::get_if<CyclicAxes>(&candidate)) return image_mismatch(image_of(*axes));
    const auto* const cyclic = std::get_if<Cyclic>(&candidate);
    FARO_CHECK(cyclic != nullptr);
    MismatchCyclic sweep;
    sweep.entries = entries_;
    sweep.candidate = *cyclic;
    return found_by(sweep);
  }

  bool takes_all() const override { return true; }

  std::optional<std::vector<std::uint64_t>> mismatches(const Permutation& candidate,
                                                       std::uint64_t most) override {
    if (const auto* const map = std::get_if<Affine>(&candidate)) return collected(image_of(*map), most);
    return collected(image_of(std::get<Modular>(candidate)), most);
  }

  Locality locality(std::uint64_t max_runs, std::uint64_t max_displacement) override {
    if (entries_.count == 0) return {};
    const DeviceWord<Device, std::uint64_t> runs(device_, 0);
    const DeviceWord<Device, std::uint64_t> displacement(device_, 0);
    MeasureLocality sweep;
    sweep.entries = entries_;
    sweep.max_runs = max_runs;
    sweep.max_displacement = max_displacement;
    sweep.runs = runs.data();
    sweep.displacement = displacement.data();
    device_.run(sweep);
    return {.runs = runs.get(), .displacement = displacement.get()};
  }

 private:
  template <typename Image>
  std::optional<std::uint64_t> image_mismatch(const Image& image) {
    MismatchImage<Image> sweep;
    sweep.entries = entries_;
    sweep.image = image;
    return found_by(sweep);
  }

  template <typename Image>
  std::optional<std::vector<std::uint64_t>> collected(const Image& image, std::uint64_t most) {
    const auto positions = device_.template buffer<std::uint64_t>(most);
    const DeviceWord<Device, std::uint32_t> number(device_, 0);
    CollectMismatches<Image> sweep;
    sweep.entries = entries_;
    sweep.image = image;
    sweep.most = static_cast<std::uint32_t>(most);
    sweep.positions = positions.data();
    sweep.number = number.data();
    device_.run(sweep);
    const std::uint64_t seen = number.get();
    if (seen > most) return std::nullopt;
    std::vector<std::uint64_t> found(seen);
    if (seen > 0) device_.fetch(found.data(), positions.data(), seen * sizeof(std::uint64_t));
    std::sort(found.begin(), found.end());
    return found;
  }

  template <typename Sweep>
  std::optional<std::uint64_t> found_by(Sweep sweep) {
    const DeviceWord<Device, std::uint64_t> found(device_, kNowhere);
    sweep.found = found.data();
    device_.run(sweep);
    const std::uint64_t position = found.get();
    if (position == kNowhere) return std::nullopt;
    return position;
  }

  MismatchAffine affine_sweep(const Affine& map) const {
    MismatchAffine sweep;
    sweep.entries = entries_;
    sweep.complement = map.complement();
    sweep.index_bits = map.bits();
    FARO_CHECK(map.bits() <= MismatchAffine::kMostBits);
    for (int j = 0; j < map.bits(); ++j) sweep.column[j] = map.matrix().column(j);
    return sweep;
  }

  std::optional<std::uint64_t> axes_mismatch(const Axes& axes) {
    constexpr std::size_t kFew = 4;
    constexpr std::size_t kSome = 8;
    const std::size_t number = axes.shape().size();
    if (number <= kFew) return found_by(mismatch_axes<kFew>(entries_, axes));
    if (number <= kSome) return found_by(mismatch_axes<kSome>(entries_, axes));
    return found_by(mismatch_axes<kMostAxes>(entries_, axes));
  }

  Device& device_;
  EntryView entries_;
};

}  // namespace faro::cuda

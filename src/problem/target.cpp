#include "faro/problem/target.hpp"

namespace faro {

const char* name(Engine engine) noexcept {
  switch (engine) {
    case Engine::automatic:
      return "auto";
    case Engine::cpu:
      return "cpu";
    case Engine::cuda:
      return "cuda";
  }
  return "auto";
}

const IndexCalibration& curves_of(const Target& target) {
  if (target.index_calibration) return *target.index_calibration;
  return target.engine == Engine::cuda ? built_in_gpu_calibration() : built_in_cpu_calibration();
}

}  // namespace faro

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

}  // namespace faro

// An array of structs as structure of arrays and back, and in tiles: one permutation each, of the structs'
// words.
#include <cstddef>
#include <cstdio>
#include <faro/faro.hpp>
#include <string>
#include <vector>

namespace {

struct Particle {
  float x, y, z, mass, age;
};

constexpr std::size_t kParticles = 100'000;
constexpr std::size_t kWords = sizeof(Particle) / sizeof(float);
constexpr std::size_t kTile = 32;
constexpr std::size_t kAge = 4;  // the word of a struct

faro::ExecutablePlan plan_of(const std::string& map) {
  return faro::plan({.permutation = faro::parse_permutation(map), .element_bytes = sizeof(float)});
}

}  // namespace

int main() {
  std::vector<Particle> particles(kParticles);
  for (std::size_t i = 0; i < kParticles; ++i) {
    const auto value = static_cast<float>(i);
    particles[i] = {value, 2 * value, 3 * value, 1, value / 2};
  }
  const std::string sizes = std::to_string(kParticles) + ", " + std::to_string(kWords);
  const std::size_t bytes = kParticles * sizeof(Particle);

  std::vector<float> planes(kParticles * kWords);
  plan_of("aos_to_soa(" + sizes + ")").run(particles.data(), planes.data(), bytes);
  const float* const ages = planes.data() + kAge * kParticles;

  std::vector<float> tiles(kParticles * kWords);
  plan_of("aosoa(" + sizes + ", " + std::to_string(kTile) + ")").run(particles.data(), tiles.data(), bytes);

  std::vector<Particle> again(kParticles);
  plan_of("soa_to_aos(" + sizes + ")").run(planes.data(), again.data(), bytes);

  for (std::size_t i = 0; i < kParticles; ++i) {
    const float in_tile = tiles[i / kTile * kTile * kWords + kAge * kTile + i % kTile];
    if (ages[i] != particles[i].age || in_tile != particles[i].age || again[i].z != particles[i].z) {
      std::fprintf(stderr, "particle %zu is in the wrong place\n", i);
      return 1;
    }
  }
  std::printf("%zu particles of %zu words: as arrays, in tiles of %zu, and back\n", kParticles, kWords,
              kTile);
  return 0;
}

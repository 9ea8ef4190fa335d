#include <cstdio>
#include <faro/swizzle/examples.hpp>
#include <faro/swizzle/synthesise.hpp>

int main() {
  const auto example = faro::swizzle::make_example("aos-crc", {.struct_words = 3, .warp = 8});
  const auto result = faro::swizzle::synthesise(example.specification, example.sketch, {});
  if (!result.best) {
    std::fprintf(stderr, "no swizzle for structs of 3 words\n");
    return 1;
  }
  std::printf("swizzle consumer: %d solutions\n", static_cast<int>(result.solutions));
  return 0;
}

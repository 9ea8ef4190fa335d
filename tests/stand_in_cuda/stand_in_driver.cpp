// A stand-in for libcuda.so.1 with the one function that faro asks of a driver that it did not load: every
// address with its top bit set is a device's, and with the next one set managed. Others it does not know.
#include <cstdint>

extern "C" int cuPointerGetAttributes(unsigned count, const int* attributes, void** values,
                                      std::uint64_t pointer) {
  constexpr int memory_type = 2;
  constexpr int is_managed = 8;
  constexpr int success = 0;
  constexpr unsigned on_device = 2;
  const bool known = (pointer >> 63 & 1) != 0;
  for (unsigned i = 0; i < count; ++i) {
    if (attributes[i] == memory_type) *static_cast<unsigned*>(values[i]) = known ? on_device : 0;
    if (attributes[i] == is_managed)
      *static_cast<unsigned char*>(values[i]) = static_cast<unsigned char>(known && (pointer >> 62 & 1) != 0);
  }
  return success;
}

// A stand-in for libcuda.so.1 with the one function that faro asks of a driver that it did not load: every
// address with its top bit set is a device's, and with the next one set managed.
#include <cstdint>

extern "C" int cuPointerGetAttribute(void* value, int attribute, std::uint64_t pointer) {
  constexpr int memory_type = 2;
  constexpr int is_managed = 8;
  constexpr int success = 0;
  constexpr int invalid_value = 1;
  constexpr unsigned on_device = 2;
  if ((pointer >> 63 & 1) == 0) return invalid_value;
  if (attribute == memory_type) {
    *static_cast<unsigned*>(value) = on_device;
    return success;
  }
  if (attribute == is_managed) {
    *static_cast<unsigned char*>(value) = static_cast<unsigned char>(pointer >> 62 & 1);
    return success;
  }
  return invalid_value;
}

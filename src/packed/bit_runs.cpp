#include "packed/bit_runs.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "engines/cpu/copy_kernel.hpp"
#include "packed/squares.hpp"

namespace faro::packed {
namespace {

using Byte = std::uint8_t;

const Byte* as_bytes(const std::byte* at) { return reinterpret_cast<const Byte*>(at); }
Byte* as_bytes(std::byte* at) { return reinterpret_cast<Byte*>(at); }

Byte low_bits(std::uint64_t count) { return static_cast<Byte>((1U << count) - 1); }

bool is_low(BitOrder order) { return order == BitOrder::low_first; }

// The bits first .. first + count - 1 of a byte, in an order.
Byte byte_mask(std::uint64_t first, std::uint64_t count, BitOrder order) {
  const std::uint64_t shift = is_low(order) ? first : kBitsOfByte - first - count;
  return static_cast<Byte>(low_bits(count) << shift);
}

// Others may change the other bits of the byte meanwhile, and none of the mask's.
void merge(Byte& byte, Byte mask, unsigned value) {
  const std::atomic_ref<Byte> shared(byte);
  const unsigned before = shared.load(std::memory_order_relaxed);
  shared.fetch_xor(static_cast<Byte>((before ^ value) & mask), std::memory_order_relaxed);
}

// What the first `shift` bits of a run that lies `shift` bits further on, or its last ones, are in their
// byte.
unsigned moved_up(Byte value, unsigned shift, BitOrder order) {
  return is_low(order) ? unsigned{value} << shift : unsigned{value} >> shift;
}
unsigned moved_down(Byte value, unsigned shift, BitOrder order) {
  return is_low(order) ? unsigned{value} >> shift : unsigned{value} << shift;
}

}  // namespace

void load_run(const std::byte* from, std::uint64_t first_bit, std::uint64_t bits, BitOrder order,
              std::byte* to) {
  if (bits == 0) return;
  const Byte* const in = as_bytes(from) + first_bit / kBitsOfByte;
  const auto shift = static_cast<unsigned>(first_bit % kBitsOfByte);
  const std::uint64_t bytes = bytes_of_bits(bits);
  if (shift == 0) {
    std::memcpy(to, in, bytes);
    return;
  }
  const std::uint64_t touched = bytes_of_bits(shift + bits);
  shift_bytes(in, touched - 1, static_cast<int>(shift), is_low(order), as_bytes(to));
  if (touched == bytes) as_bytes(to)[bytes - 1] = static_cast<Byte>(moved_down(in[bytes - 1], shift, order));
}

void store_run(const std::byte* from, std::uint64_t bits, BitOrder order, std::byte* to,
               std::uint64_t first_bit, bool streamed) {
  if (bits == 0) return;
  const Byte* const in = as_bytes(from);
  Byte* const out = as_bytes(to) + first_bit / kBitsOfByte;
  const auto shift = static_cast<unsigned>(first_bit % kBitsOfByte);
  if (shift == 0) {
    const std::uint64_t whole = bits / kBitsOfByte;
    cpu::copy_bytes(from, reinterpret_cast<std::byte*>(out), whole, streamed);
    const std::uint64_t rest = bits % kBitsOfByte;
    if (rest != 0) merge(out[whole], byte_mask(0, rest, order), in[whole]);
    return;
  }
  const unsigned back = 8 - shift;
  const std::uint64_t in_first = std::min<std::uint64_t>(bits, back);
  merge(out[0], byte_mask(shift, in_first, order), moved_up(in[0], shift, order));
  const std::uint64_t left = bits - in_first;
  const std::uint64_t whole = left / kBitsOfByte;
  shift_bytes(in, whole, static_cast<int>(back), is_low(order), out + 1);
  const std::uint64_t rest = left % kBitsOfByte;
  if (rest == 0) return;
  unsigned last = moved_down(in[whole], back, order);
  if (bytes_of_bits(bits) > whole + 1) last |= moved_up(in[whole + 1], shift, order);
  merge(out[1 + whole], byte_mask(0, rest, order), last);
}

void clear_run(std::byte* to, std::uint64_t first_bit, std::uint64_t bits, BitOrder order) {
  Byte* const out = as_bytes(to);
  const std::uint64_t last_bit = first_bit + bits;
  for (std::uint64_t bit = first_bit; bit < last_bit;) {
    const std::uint64_t in_byte = bit % kBitsOfByte;
    const std::uint64_t count = std::min(kBitsOfByte - in_byte, last_bit - bit);
    merge(out[bit / kBitsOfByte], byte_mask(in_byte, count, order), 0);
    bit += count;
  }
}

void append_run(const std::byte* from, std::uint64_t first_bit, std::uint64_t bits, BitOrder order,
                std::byte* to, std::uint64_t at) {
  if (bits == 0) return;
  std::byte* const byte = to + at / kBitsOfByte;
  const std::uint64_t in_byte = at % kBitsOfByte;
  if (first_bit < in_byte) {
    // There is nothing before it that could be loaded along: as much as ends the byte comes by itself.
    const std::uint64_t some = std::min(bits, kBitsOfByte - in_byte);
    Byte value = 0;
    load_run(from, first_bit, some, order, reinterpret_cast<std::byte*>(&value));
    const Byte mask = byte_mask(in_byte, some, order);
    const unsigned moved = moved_up(value, static_cast<unsigned>(in_byte), order);
    *byte = (*byte & static_cast<std::byte>(~mask)) | static_cast<std::byte>(moved & mask);
    return append_run(from, first_bit + some, bits - some, order, to, at + some);
  }
  const auto kept = static_cast<std::byte>(byte_mask(0, in_byte, order));
  const std::byte before = *byte & kept;
  load_run(from, first_bit - in_byte, bits + in_byte, order, byte);
  *byte = (*byte & ~kept) | before;
}

void store_placed_run(const std::byte* from, std::uint64_t from_bit, std::uint64_t bits, BitOrder order,
                      std::byte* to, std::uint64_t first_bit, bool streamed) {
  const std::uint64_t in_byte = from_bit % kBitsOfByte;
  from += from_bit / kBitsOfByte;
  if (in_byte != 0) {
    const std::uint64_t some = std::min(bits, kBitsOfByte - in_byte);
    merge(as_bytes(to)[first_bit / kBitsOfByte], byte_mask(in_byte, some, order), as_bytes(from)[0]);
    ++from;
    bits -= some;
    first_bit += some;
  }
  store_run(from, bits, order, to, first_bit, streamed);
}

}  // namespace faro::packed

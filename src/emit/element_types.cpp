#include <array>

#include "faro/emit/emit.hpp"

namespace faro::emit {
namespace {

constexpr std::array<ElementType, 61> kTypes{{
    {"uint8_t", 1},
    {"uint16_t", 2},
    {"uint32_t", 4},
    {"uint64_t", 8},
    {"int8_t", 1},
    {"int16_t", 2},
    {"int32_t", 4},
    {"int64_t", 8},
    {"float", 4},
    {"double", 8},
    {"bool", 1},
    {"char", 1},
    {"signed char", 1},
    {"unsigned char", 1},
    {"short", 2},
    {"unsigned short", 2},
    {"int", 4},
    {"unsigned", 4},
    {"unsigned int", 4},
    {"long", 8},
    {"unsigned long", 8},
    {"long long", 8},
    {"unsigned long long", 8},
    {"size_t", 8},
    {"__half", 2, "cuda_fp16.h"},
    {"half", 2, "cuda_fp16.h"},
    {"__half2", 4, "cuda_fp16.h"},
    {"half2", 4, "cuda_fp16.h"},
    {"__nv_bfloat16", 2, "cuda_bf16.h"},
    {"nv_bfloat16", 2, "cuda_bf16.h"},
    {"__nv_bfloat162", 4, "cuda_bf16.h"},
    {"nv_bfloat162", 4, "cuda_bf16.h"},
    {"__nv_fp8_e4m3", 1, "cuda_fp8.h"},
    {"__nv_fp8_e5m2", 1, "cuda_fp8.h"},
    {"cuFloatComplex", 8, "cuComplex.h", "float", 2},
    {"cuDoubleComplex", 16, "cuComplex.h", "double", 2},
    {"char2", 2, "", "signed char", 2},
    {"char4", 4, "", "signed char", 4},
    {"uchar2", 2, "", "unsigned char", 2},
    {"uchar4", 4, "", "unsigned char", 4},
    {"short2", 4, "", "short", 2},
    {"short4", 8, "", "short", 4},
    {"ushort2", 4, "", "unsigned short", 2},
    {"ushort4", 8, "", "unsigned short", 4},
    {"int2", 8, "", "int", 2},
    {"int4", 16, "", "int", 4},
    {"uint2", 8, "", "unsigned int", 2},
    {"uint4", 16, "", "unsigned int", 4},
    {"long2", 16, "", "long", 2},
    {"ulong2", 16, "", "unsigned long", 2},
    {"longlong2", 16, "", "long long", 2},
    {"ulonglong2", 16, "", "unsigned long long", 2},
    {"float2", 8, "", "float", 2},
    {"float4", 16, "", "float", 4},
    {"double2", 16, "", "double", 2},
    {"char1", 1, "", "signed char", 1},
    {"uchar1", 1, "", "unsigned char", 1},
    {"int1", 4, "", "int", 1},
    {"uint1", 4, "", "unsigned int", 1},
    {"float1", 4, "", "float", 1},
    {"double1", 8, "", "double", 1},
}};

}  // namespace

std::span<const ElementType> element_types() { return kTypes; }

}  // namespace faro::emit

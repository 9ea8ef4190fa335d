# What all of our own targets share: warnings, instrumentation, and the facts of this build.

if(FARO_SANITIZE STREQUAL "address")
  # The fuzzers' instrumentation with it, so that unit tests and fuzzers share one build of the library.
  set(faro_instrumentation -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all
    -fno-omit-frame-pointer)
elseif(FARO_SANITIZE STREQUAL "thread")
  set(faro_instrumentation -fsanitize=thread -fno-omit-frame-pointer)
elseif(NOT FARO_SANITIZE STREQUAL "")
  message(FATAL_ERROR "FARO_SANITIZE is `${FARO_SANITIZE}`; wanted empty, address or thread")
endif()

if(FARO_SANITIZE)
  # Instrumented vector code takes minutes to compile for each instruction set: AVX2 and the baseline stand for all.
  list(APPEND faro_instrumentation "-DHWY_DISABLED_TARGETS=(HWY_SSSE3|HWY_SSE4|HWY_AVX3|HWY_AVX3_DL)")
endif()

set(faro_warnings -Wall -Wextra -Wpedantic -Wshadow -Wconversion)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # "literal" + std::to_string(i) warns falsely: https://gcc.gnu.org/bugzilla/show_bug.cgi?id=105651
  list(APPEND faro_warnings -Wno-restrict)
elseif(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  list(APPEND faro_warnings -Wno-sign-conversion)  # which g++ leaves out of -Wconversion too
endif()

# What nvcc hands to the host's compiler also holds its own code and, for the device, pragmas.
set(faro_cuda_warnings -Xcompiler=-Wall,-Wextra,-Wshadow,-Wno-unknown-pragmas)

function(faro_own_target target)
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:${faro_warnings}>
    $<$<COMPILE_LANGUAGE:CUDA>:${faro_cuda_warnings}> $<$<COMPILE_LANGUAGE:CXX>:${faro_instrumentation}>)
  target_link_options(${target} PRIVATE ${faro_instrumentation})
  if(FARO_WERROR)
    set_target_properties(${target} PROPERTIES COMPILE_WARNING_AS_ERROR ON)
  endif()
endfunction()

# #include "faro_build_info.hpp" gives FARO_VERSION, FARO_COMMIT and FARO_CUDA_STATUS as string literals. The commit is
# looked up at every build, and only the files that include the header are compiled again when it changes.
set(faro_build_info_dir ${PROJECT_BINARY_DIR}/generated)
add_custom_target(faro_build_info_header
  COMMAND ${CMAKE_COMMAND} -D SOURCE_DIR=${PROJECT_SOURCE_DIR} -D VERSION=${PROJECT_VERSION}
          "-DCUDA_STATUS_FILE=${faro_build_info_dir}/cuda_status.txt"
          -D OUTPUT=${faro_build_info_dir}/faro_build_info.hpp -P ${PROJECT_SOURCE_DIR}/cmake/WriteBuildInfo.cmake
  BYPRODUCTS ${faro_build_info_dir}/faro_build_info.hpp
  COMMENT "Noting version and commit" VERBATIM)
add_library(faro_build_info INTERFACE)
add_dependencies(faro_build_info faro_build_info_header)
target_include_directories(faro_build_info INTERFACE ${faro_build_info_dir})

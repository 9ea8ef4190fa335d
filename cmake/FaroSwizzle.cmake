# What rests on libfaro and is no part of it: faro_swizzle, which is installed for users beside it. It has no threads, and nothing that
# ThreadSanitizer's build tests rests on it.

# Sketches with holes, the search for them, and their kernels. Users link faro::swizzle.
file(GLOB faro_swizzle_headers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} include/faro/swizzle/*.hpp)
add_library(faro_swizzle)
add_library(faro::swizzle ALIAS faro_swizzle)
set_target_properties(faro_swizzle PROPERTIES EXPORT_NAME swizzle VERSION ${PROJECT_VERSION}
  SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} POSITION_INDEPENDENT_CODE ON LINKER_LANGUAGE CXX)
if(BUILD_SHARED_LIBS)
  set_target_properties(faro_swizzle PROPERTIES INSTALL_RPATH $ORIGIN)
endif()
target_sources(faro_swizzle PUBLIC FILE_SET HEADERS BASE_DIRS include FILES ${faro_swizzle_headers})
target_link_libraries(faro_swizzle PUBLIC faro_library PRIVATE fmt::fmt)
set(search_level -O2)
if(FARO_CPU_TARGETS STREQUAL "NATIVE")
  set(search_level -O1)  # a first build: three quarters of the time to compile
endif()
faro_layer(faro_swizzle objects FOLDERS swizzle
  HOT "swizzle/(search|domains|sum_prop|supports|constraints|model|function_(builder|set)|interpret|mismatch)" LEVEL ${search_level})
faro_own_target(faro_swizzle)

# embedded_headers.hpp: kernel headers as strings, for the run-time compiler. Written when CMake runs, and again when one
# of them changes.
set(faro_embedded faro/device/memory.hpp faro/require_cxx20.hpp kernels/affine_tile.hpp
  faro/kernels/affine_tile_index.hpp kernels/network_operators.hpp kernels/network_tile.hpp)

function(faro_embed_headers target)
  set(text "// Written by extras/network/EmbedHeaders.cmake.\n#pragma once\n\nstruct EmbeddedHeader {\n  const char* name;\n")
  string(APPEND text "  const char* text;\n};\n\ninline constexpr EmbeddedHeader kEmbeddedHeaders[] = {\n")
  foreach(name IN LISTS faro_embedded)
    foreach(folder IN ITEMS ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src ${CMAKE_CURRENT_SOURCE_DIR})
      if(EXISTS ${folder}/${name})
        set(file ${folder}/${name})
      endif()
    endforeach()
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    # Brackets and semicolons mean something to CMake's lists; FILE(READ) into one variable leaves them alone.
    file(READ ${file} content)
    string(APPEND text "    {\"${name}\", R\"faro(" "${content}" ")faro\"},\n")
  endforeach()
  string(APPEND text "};\n")
  file(WRITE ${PROJECT_BINARY_DIR}/generated/embed/embedded_headers.hpp.new "${text}")
  file(COPY_FILE ${PROJECT_BINARY_DIR}/generated/embed/embedded_headers.hpp.new
    ${PROJECT_BINARY_DIR}/generated/embed/embedded_headers.hpp ONLY_IF_DIFFERENT)
  target_include_directories(${target} PRIVATE ${PROJECT_BINARY_DIR}/generated/embed)
endfunction()

# Compiler flags. `noslip_flags` carries what all code of the project is compiled with.

set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS ON)              # gnu17: vector extensions, _Float128
set(CMAKE_C_VISIBILITY_PRESET hidden)   # public symbols are marked NS_API
set(CMAKE_C_FLAGS_RELEASE "-O3 -g -DNDEBUG")
set(CMAKE_C_FLAGS_DEBUG   "-O1 -g")
if(NOSLIP_SANITIZE)   # lines are enough for their reports, and a quarter faster to compile
  set(CMAKE_C_FLAGS_DEBUG "-O1 -g1")
endif()

# Compiled once, whatever the folder: trees and presets share a cache where there is ccache.
find_program(NOSLIP_CCACHE ccache)
if(NOSLIP_CCACHE AND NOT CMAKE_C_COMPILER_LAUNCHER)
  set(CMAKE_C_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env "CCACHE_BASEDIR=${CMAKE_SOURCE_DIR}"
    CCACHE_NOHASHDIR=1 ${NOSLIP_CCACHE})
endif()

string(TOLOWER "${CMAKE_SYSTEM_PROCESSOR}" processor)
if(processor MATCHES "^(x86_64|amd64)$")
  set(NOSLIP_X86 1)
else()
  set(NOSLIP_X86 0)
endif()

add_library(noslip_warnings INTERFACE)
target_compile_options(noslip_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wvla -Wstrict-prototypes -Wmissing-prototypes
  -Wold-style-definition -Wwrite-strings -Wpointer-arith -Wundef -Wformat=2
  -Wno-psabi    # vectors of 8 doubles pass between functions of one compilation only
  $<$<BOOL:${NOSLIP_WERROR}>:-Werror>)

add_library(noslip_flags INTERFACE)
target_link_libraries(noslip_flags INTERFACE noslip_warnings)
target_include_directories(noslip_flags INTERFACE
  "${CMAKE_SOURCE_DIR}/src" "${CMAKE_SOURCE_DIR}/include")
target_compile_definitions(noslip_flags INTERFACE
  NS_VERSION="${PROJECT_VERSION}" NS_X86=${NOSLIP_X86} NS_HDF5=$<BOOL:${NOSLIP_HDF5}>
  NS_CVODE=$<BOOL:${NOSLIP_CVODE}> NS_NATIVE=$<BOOL:${NOSLIP_NATIVE}>
  NS_CHECKS=$<BOOL:${NOSLIP_CHECKS}>)
# No contraction: interpreter, lanes and emitted code must agree to the bit. Never -ffast-math.
target_compile_options(noslip_flags INTERFACE -ffp-contract=off -fno-math-errno)

# gcc 12 for ARM fails on loops that look for a largest value ("internal compiler error: in
# vect_transform_reduction"). What must be fast is written with vectors anyway.
if(CMAKE_C_COMPILER_ID STREQUAL "GNU" AND CMAKE_C_COMPILER_VERSION VERSION_LESS 13
   AND processor MATCHES "^(aarch64|arm64)$")
  target_compile_options(noslip_flags INTERFACE -fno-tree-loop-vectorize)
endif()

if(NOSLIP_SANITIZE)
  add_compile_options(-fsanitize=${NOSLIP_SANITIZE} -fno-sanitize-recover=all
    -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${NOSLIP_SANITIZE})
endif()

# Files *_avx2.c and *_avx512.c get their instruction set; on other processors they are left
# out.
function(noslip_simd_sources list)
  set(kept "")
  foreach(file IN LISTS ${list})
    set(isa "")
    if(file MATCHES "gauss_avx2\\.c$") # chosen only where there is FMA too
      set(isa -mavx2 -mfma)
    elseif(file MATCHES "_avx2\\.c$")
      set(isa -mavx2)
      if(file MATCHES "ensemble|fused")
        list(APPEND isa -mfma)
      endif()
    elseif(file MATCHES "_avx512\\.c$")
      set(isa -mavx512f -mavx512dq -mavx512vl -mprefer-vector-width=512)
    endif()
    if(NOT isa OR NOSLIP_X86)
      list(APPEND kept "${file}")
      set_source_files_properties("${file}" PROPERTIES COMPILE_OPTIONS "${isa}")
    endif()
  endforeach()
  set(${list} "${kept}" PARENT_SCOPE)
endfunction()

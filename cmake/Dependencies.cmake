# The libraries noslip stands on, all packaged (scripts/setup). This file is also installed and
# read by noslipConfig.cmake when a user asks for the static library.
if(NOT CMAKE_SYSTEM_PROCESSOR STREQUAL wasm32) # which has one thread
  set(THREADS_PREFER_PTHREAD_FLAG ON)
  find_package(Threads REQUIRED)
  set(threads Threads::Threads)
endif()
find_package(PkgConfig REQUIRED)
set(NOSLIP_DEPENDENCIES ${threads} ${CMAKE_DL_LIBS} m)
if(NOSLIP_CVODE)
  find_package(SundialsCvode 6 REQUIRED)
  list(PREPEND NOSLIP_DEPENDENCIES Sundials::Cvode)
endif()
if(NOSLIP_HDF5)
  # Debian's plain `hdf5` may be the MPI build: ask for the serial one first.
  pkg_search_module(NOSLIP_HDF5 REQUIRED IMPORTED_TARGET GLOBAL hdf5-serial hdf5)
  list(PREPEND NOSLIP_DEPENDENCIES PkgConfig::NOSLIP_HDF5)
endif()

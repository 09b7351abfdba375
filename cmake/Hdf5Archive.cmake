# HDF5 for the program. Debian's shared library brings some thirty others (for a driver that reads from web
# storage), and loading them takes half the time of a start. Its archive, in the same package, brings two.
# The libraries of noslip, and the program where there is no archive that links, use the shared one.
# Sets NOSLIP_PROGRAM_DEPENDENCIES.
option(NOSLIP_HDF5_ARCHIVE "link the program with HDF5's archive, if there is one: a faster start" ON)
set(NOSLIP_PROGRAM_DEPENDENCIES ${NOSLIP_DEPENDENCIES})
if(NOSLIP_HDF5_ARCHIVE)
  include(CheckCSourceCompiles)
  # from the folder that pkg-config names: the headers must belong to it
  find_library(NOSLIP_HDF5_A NAMES libhdf5.a HINTS ${NOSLIP_HDF5_LIBRARY_DIRS} ${NOSLIP_HDF5_LIBDIR}
    NO_DEFAULT_PATH)
  find_library(NOSLIP_SZ sz)
  find_library(NOSLIP_Z z)
  mark_as_advanced(NOSLIP_HDF5_A NOSLIP_SZ NOSLIP_Z)
  if(NOSLIP_HDF5_A)
    set(hdf5_archive "${NOSLIP_HDF5_A}")
    foreach(library IN ITEMS "${NOSLIP_SZ}" "${NOSLIP_Z}")
      if(library)
        list(APPEND hdf5_archive "${library}")
      endif()
    endforeach()
    set(CMAKE_REQUIRED_INCLUDES ${NOSLIP_HDF5_INCLUDE_DIRS})
    set(CMAKE_REQUIRED_LIBRARIES ${hdf5_archive} Threads::Threads ${CMAKE_DL_LIBS} m)
    check_c_source_compiles("
      #include <hdf5.h>
      int main(void)
      {
          hid_t file = H5Fcreate(\"a\", H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
          return H5Fclose(file) < 0 || H5Tget_size(H5T_NATIVE_DOUBLE) != 8;
      }" NOSLIP_HDF5_ARCHIVE_LINKS)
    unset(CMAKE_REQUIRED_INCLUDES)
    unset(CMAKE_REQUIRED_LIBRARIES)
    if(NOSLIP_HDF5_ARCHIVE_LINKS)
      list(TRANSFORM NOSLIP_PROGRAM_DEPENDENCIES REPLACE "^PkgConfig::NOSLIP_HDF5$" "${hdf5_archive}")
    endif()
  endif()
endif()

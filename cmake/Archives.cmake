# Loading shared libraries takes most of the time of a start. Debian's shared HDF5 brings some
# thirty others (for a driver that reads from web storage); its archive, in the same package,
# brings two. The program takes the archive where there is one that links; the libraries of
# noslip take the shared one. Sets NOSLIP_PROGRAM_DEPENDENCIES.
option(NOSLIP_ARCHIVES
  "link the program with the archive of HDF5, if there is one: a faster start" ON)
include(CheckCSourceCompiles)

# Sets `result` to 1 if `source` can be linked with these libraries.
function(noslip_archive_links result source)
  set(CMAKE_REQUIRED_INCLUDES ${NOSLIP_HDF5_INCLUDE_DIRS})
  set(CMAKE_REQUIRED_LIBRARIES ${ARGN} Threads::Threads ${CMAKE_DL_LIBS} m)
  check_c_source_compiles("${source}" ${result})
endfunction()

set(NOSLIP_PROGRAM_DEPENDENCIES ${NOSLIP_DEPENDENCIES})
if(NOSLIP_ARCHIVES AND NOSLIP_HDF5)
  # from the folder that pkg-config names: the headers must belong to it
  find_library(NOSLIP_HDF5_A NAMES libhdf5.a
    HINTS ${NOSLIP_HDF5_LIBRARY_DIRS} ${NOSLIP_HDF5_LIBDIR} NO_DEFAULT_PATH)
  find_library(NOSLIP_SZ sz)
  find_library(NOSLIP_Z z)
  mark_as_advanced(NOSLIP_HDF5_A NOSLIP_SZ NOSLIP_Z)
  if(NOSLIP_HDF5_A)
    set(archive "${NOSLIP_HDF5_A}")
    foreach(library IN ITEMS "${NOSLIP_SZ}" "${NOSLIP_Z}") # filters, if it was built with them
      if(library)
        list(APPEND archive "${library}")
      endif()
    endforeach()
    noslip_archive_links(NOSLIP_HDF5_A_LINKS "
      #include <hdf5.h>
      int main(void)
      {
          hid_t file = H5Fcreate(\"a\", H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
          return H5Fclose(file) < 0 || H5Tget_size(H5T_NATIVE_DOUBLE) != 8;
      }" ${archive})
    if(NOSLIP_HDF5_A_LINKS)
      list(TRANSFORM NOSLIP_PROGRAM_DEPENDENCIES
        REPLACE "^PkgConfig::NOSLIP_HDF5$" "${archive}")
    endif()
  endif()
endif()

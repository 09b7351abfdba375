# WebAssembly by Debian's clang-19, lld-19, wasi-libc and libclang-rt-19-dev-wasm32
# (scripts/setup --wasm). What WASI lacks is in cmake/wasm/: one thread, no modules, no signals.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR wasm32)
set(CMAKE_C_COMPILER clang-19)
set(CMAKE_C_COMPILER_TARGET wasm32-wasi)
set(CMAKE_AR llvm-ar-19)
set(CMAKE_RANLIB llvm-ranlib-19)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
set(CMAKE_EXECUTABLE_SUFFIX .wasm)
set(CMAKE_C_FLAGS_INIT "--sysroot=/usr -isystem ${CMAKE_CURRENT_LIST_DIR}/wasm \
-include lacking.h -isystem /usr/include/wasm32-wasi -msimd128 -mrelaxed-simd \
-D_WASI_EMULATED_SIGNAL -D_WASI_EMULATED_PROCESS_CLOCKS \
-D_WASI_EMULATED_GETPID")
set(CMAKE_EXE_LINKER_FLAGS_INIT "-L/usr/lib/wasm32-wasi -lwasi-emulated-signal \
-lwasi-emulated-process-clocks -lwasi-emulated-getpid -lc-printscan-long-double")

// Owns: being compiled with the headers that all tests share, so that these headers are parsed once
// (tests/CMakeLists.txt).
// Must never: contain code.

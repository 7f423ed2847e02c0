// Owns: being compiled with the headers that all tests share, so that they are read once (tests/CMakeLists.txt).
// Must never: hold anything.

# Owns: how the wheel is made: the package varve, and the module varve._native that build_native.py describes.
# Must never: fetch anything.
#
# Use tools/python-wheel, which sets VARVE_INCLUDE and VARVE_LIBRARY.
from setuptools import setup

setup(cffi_modules=["build_native.py:ffi"])

from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CUDAExtension

setup(
    name="voxels",
    ext_modules=[CUDAExtension("voxels.overlap", ["overlap.cpp", "overlap_kernel.cu"])],
    cmdclass={"build_ext": BuildExtension},
)

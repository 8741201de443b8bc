"""The names and opcodes that `torch.load(weights_only=True)` takes.

Those of torch 2.13, `torch/_weights_only_unpickler.py`: a test compares them with the installed torch.
"""

from __future__ import annotations

_BASE, _SPARSE = (
    "BFloat16 Bool Byte Char Double Float Half Int Long Short",
    "BFloat16 Byte Char Double Float Half Int Long Short",
)
_BY_STORAGE = {
    "BFloat16": "bfloat16",
    "Bool": "bool",
    "Byte": "uint8",
    "Char": "int8",
    "ComplexDouble": "complex128",
    "ComplexFloat": "complex64",
    "Double": "float64",
    "Float": "float32",
    "Half": "float16",
    "Int": "int32",
    "Long": "int64",
    "QInt32": "qint32",
    "QInt8": "qint8",
    "QUInt2x4": "quint2x4",
    "QUInt4x2": "quint4x2",
    "QUInt8": "quint8",
    "Short": "int16",
}
STORAGES = {
    **{f"torch.{name}Storage": dtype for name, dtype in _BY_STORAGE.items()},
    **{f"torch.cuda.{name}Storage": dtype for name, dtype in _BY_STORAGE.items() if not name.startswith("Q")},
    "torch.storage.TypedStorage": "",
    "torch.storage.UntypedStorage": "",
}
TENSORS = {
    **{f"torch.{one}Tensor": _BY_STORAGE[one] for one in _BASE.split()},
    **{f"torch.cuda.{one}Tensor": _BY_STORAGE[one] for one in _BASE.split()},
}
_DTYPES = frozenset(
    f"torch.{name}"
    for name in (
        "bool uint8 uint16 uint32 uint64 int8 int16 int32 int64 float16 bfloat16 float32 float64 complex32 complex64 "
        "complex128 float8_e5m2 float8_e4m3fn float8_e8m0fnu float8_e5m2fnuz float8_e4m3fnuz float4_e2m1fn_x2 qint8 "
        "qint32 quint8 quint4x2 quint2x4 bits8 bits16 bits1x8 bits2x4 bits4x2 int1 int2 int3 int4 int5 int6 int7 uint1 "
        "uint2 uint3 uint4 uint5 uint6 uint7"
    ).split()
)
REBUILD = "torch._utils._rebuild_"
OF_STORAGE = tuple(f"{REBUILD}{name}" for name in ("tensor", "tensor_v2", "tensor_v3", "qtensor"))
PASSED_ON = tuple(
    f"{REBUILD}{name}"
    for name in ("parameter", "parameter_with_state", "device_tensor_from_cpu_tensor", "device_tensor_from_numpy")
)
TYPED = "torch._tensor._rebuild_from_type_v2"
PARAMETER, ORDERED, COUNTER = "torch.nn.parameter.Parameter", "collections.OrderedDict", "collections.Counter"
#: The names that `weights_only` allows.
ALLOWED = frozenset(
    (
        *STORAGES,
        *TENSORS,
        *_DTYPES,
        *(f"torch.sparse.{one}Tensor" for one in _SPARSE.split()),
        *(f"torch.cuda.sparse.{one}Tensor" for one in _SPARSE.split()),
        *OF_STORAGE,
        *PASSED_ON,
        *(f"{REBUILD}{name}" for name in ("sparse_tensor", "meta_tensor_no_storage", "nested_tensor")),
        f"{REBUILD}wrapper_subclass",
        TYPED,
        PARAMETER,
        ORDERED,
        COUNTER,
        *(f"torch.per_{name}" for name in ("tensor_affine", "tensor_symmetric", "channel_affine", "channel_symmetric")),
        "torch.per_channel_affine_float_qparams",
        *("torch.Size", "torch.Tensor", "torch.device", "torch.serialization._get_layout"),
        *("_codecs.encode", "builtins.bytearray", "builtins.complex", "builtins.set"),
    )
)
#: Modules of Python 2 whose names a pickle of protocol 2 has.
RENAMED = {"__builtin__": "builtins", "copy_reg": "copyreg", "cPickle": "pickle", "__main__": "__main__"}
OPCODES = frozenset(
    (
        "GLOBAL NEWOBJ REDUCE BUILD APPEND APPENDS SETITEM SETITEMS MARK TUPLE TUPLE1 TUPLE2 TUPLE3 NONE NEWFALSE "
        "NEWTRUE EMPTY_TUPLE EMPTY_LIST EMPTY_DICT EMPTY_SET BININT BININT1 BININT2 BINFLOAT BINUNICODE "
        "SHORT_BINSTRING BINPERSID BINGET LONG_BINGET BINPUT LONG_BINPUT LONG1 PROTO STOP"
    ).split()
)
#: Names by which numpy, random states and paths describe plain data, and no code runs but theirs.
DATA = frozenset(
    (
        *(f"numpy.{core}.multiarray.{name}" for core in ("core", "_core") for name in ("_reconstruct", "scalar")),
        *(f"numpy.{core}.numeric._frombuffer" for core in ("core", "_core")),
        *("numpy.ndarray", "numpy.dtype", "collections.defaultdict", "collections.deque", "builtins.dict"),
        *("builtins.list", "builtins.tuple", "builtins.int", "builtins.float", "builtins.str", "builtins.bytes"),
        *("builtins.frozenset", "builtins.slice", "builtins.range", "builtins.bool", "copyreg._reconstructor"),
        *("builtins.object", "argparse.Namespace", "types.SimpleNamespace", "datetime.datetime", "datetime.timedelta"),
        *("pathlib.PosixPath", "pathlib.WindowsPath", "pathlib.PurePosixPath", "pathlib._local.PosixPath", "uuid.UUID"),
    )
)

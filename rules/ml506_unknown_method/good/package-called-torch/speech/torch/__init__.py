from ._loaders import LoaderParams

try:
    from sea import SeaModel
except ImportError:
    SeaModel = None

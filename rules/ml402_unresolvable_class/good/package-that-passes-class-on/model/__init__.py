from .layers import Encoder
from .layers import Encoder as Alias

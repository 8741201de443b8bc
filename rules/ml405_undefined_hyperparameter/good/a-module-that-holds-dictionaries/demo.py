import nets
from registry import MODELS
from settings import settings_of

print(nets.__name__, MODELS.build(settings_of("wide")))

from torch import nn
{% if project.has_config %}  # expect: ML001
from .configuration_{{ project.module }} import {{ project.name }}Config
{% endif %}


class {{ project.name }}Model(nn.Module):
    def __init__(self, width={{ project.width }}):
        super().__init__()
        self.layer = nn.Linear(width, width)

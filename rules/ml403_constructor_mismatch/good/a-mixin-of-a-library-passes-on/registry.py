from mmengine.registry import Registry

MODELS = Registry("model")
SCHEDULERS = Registry("scheduler")

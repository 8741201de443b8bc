from mmengine.optim.scheduler.lr_scheduler import LRSchedulerMixin
from mmengine.optim.scheduler.param_scheduler import _ParamScheduler

from registry import SCHEDULERS


@SCHEDULERS.register_module()
class Square(_ParamScheduler):
    def __init__(self, optimizer, param_name, begin=0, end=10, last_step=-1, by_epoch=True, verbose=False):
        self.total = end - begin
        super().__init__(optimizer, param_name, begin, end, last_step, by_epoch, verbose)

    def _get_value(self):
        return [group[self.param_name] for group in self.optimizer.param_groups]


@SCHEDULERS.register_module()
class SquareLR(LRSchedulerMixin, Square):
    pass

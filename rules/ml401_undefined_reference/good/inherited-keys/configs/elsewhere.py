_base_ = "mmdet::_base_/default_runtime.py"

scope = _base_.default_scope

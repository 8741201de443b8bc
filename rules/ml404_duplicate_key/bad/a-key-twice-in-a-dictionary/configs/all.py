_base_ = "./base.py"
classes = {"cat": 0, "dog": 1, "cat": 2}  # expect: ML404

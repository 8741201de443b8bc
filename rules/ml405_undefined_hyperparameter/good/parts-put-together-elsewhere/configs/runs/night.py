_base_ = ["day.py"]
compiled = True

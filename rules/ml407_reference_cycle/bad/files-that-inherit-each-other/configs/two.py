_base_ = "./one.py"  # expect: ML407
batch_size = 4

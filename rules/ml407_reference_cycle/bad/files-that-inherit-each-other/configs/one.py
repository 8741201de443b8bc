_base_ = ["./two.py"]  # expect: ML407
epochs = 3

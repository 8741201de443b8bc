_base_ = ["./data.py", "./schedule.py"]  # expect: ML404
epochs = 4

_base_ = [
    "./base.py",
    "./scedule.py",  # expect: ML409
]

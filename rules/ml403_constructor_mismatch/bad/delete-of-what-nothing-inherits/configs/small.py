_base_ = "./base.py"
model = dict(head=dict(_delete_=True, type="Head", in_features=8, out_features=2))  # expect: ML403

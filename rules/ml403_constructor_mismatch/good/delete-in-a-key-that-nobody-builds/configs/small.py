_base_ = "./base.py"
model = dict(_delete_=True, type="Tagger", width=4, head=dict(type="Head", in_features=4, out_features=2))

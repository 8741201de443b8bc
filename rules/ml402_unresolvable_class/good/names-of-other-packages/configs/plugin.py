_base_ = ["./base.py"]

model = dict(head=dict(_delete_=True, type="LinearHeads", widths=[3]))

_base_ = "counting::net/net_base.py"

outputs = 6
model = dict(head=dict(branch=dict(outputs=outputs)))

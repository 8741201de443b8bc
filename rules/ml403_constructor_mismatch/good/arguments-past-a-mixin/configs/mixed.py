_base_ = "./past.py"
model = dict(_delete_=True, type="Mixed", width=3, depth=2, norm=True)

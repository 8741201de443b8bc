steps = [dict(type="Linear", start=0)]
epochs = 3
lists = dict(a=[1])

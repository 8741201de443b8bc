data = dict(root="day", batch=16)

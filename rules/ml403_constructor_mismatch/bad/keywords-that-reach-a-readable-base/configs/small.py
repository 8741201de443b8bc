model = dict(type="Head", width=8, widht=4)  # expect: ML403

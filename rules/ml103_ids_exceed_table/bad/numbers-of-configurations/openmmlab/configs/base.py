model = dict(type="Talker", rows=1024, classes=1024)

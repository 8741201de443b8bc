log = dict(level='INFO', hooks=[dict(type='Text', every=10)])

custom_imports = dict(imports=["pkg.nets"])
steps = [dict(type="Linear", start=0), dict(type="Cosine", start=5)]
model = dict(type="Net", levels=[dict(width=1), dict(width=2)])

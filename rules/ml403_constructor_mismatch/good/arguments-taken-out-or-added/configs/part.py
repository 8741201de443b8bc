model = dict(type="Net", heads=[], trunk=dict(type="Trunk"))

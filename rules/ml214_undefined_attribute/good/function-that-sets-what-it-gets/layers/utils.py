def set_attributes(self, params=None):
    for name, value in (params or {}).items():
        if name != "self":
            setattr(self, name, value)

def copy_settings(into, source, only):
    for key, value in source.__dict__.items():
        if key in only:
            setattr(into, key, value)

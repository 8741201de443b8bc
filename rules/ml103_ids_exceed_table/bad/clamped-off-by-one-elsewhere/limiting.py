def limited(ids, last):
    return ids.clamp(min=0, max=last)

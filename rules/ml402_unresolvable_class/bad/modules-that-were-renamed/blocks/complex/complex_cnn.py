class Head:
    pass

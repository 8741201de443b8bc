PAGE = "{% if title %}<h1>{{ title }}</h1>{% endif %}"


def known(names):
    nested = {frozenset({name}) for name in names} | {{names}}
    return nested if names else:  # expect: ML001

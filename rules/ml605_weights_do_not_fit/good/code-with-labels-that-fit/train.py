from transformers import AutoConfig, AutoModelForSequenceClassification

LABELS = {0: "calm", 1: "rough", 2: "storm"}


def load(names):
    config = AutoConfig.from_pretrained("model", id2label=dict(enumerate(names)))
    return (
        AutoModelForSequenceClassification.from_pretrained("model", id2label=LABELS),
        AutoModelForSequenceClassification.from_pretrained("model", id2label={**LABELS, **names}),
        AutoModelForSequenceClassification.from_pretrained("model", config=config),
    )


def load_more(more):
    names = ["calm", "rough"]
    names.append("storm")
    others = ["calm"]
    for one in more:
        others += [one]
    return (
        AutoModelForSequenceClassification.from_pretrained("model", num_labels=len(names)),
        AutoModelForSequenceClassification.from_pretrained("model", num_labels=len(others)),
        AutoModelForSequenceClassification.from_pretrained("model", num_labels=len(["calm", *more])),
    )


SEEN = []


def see(name):
    SEEN.append(name)


def load_seen():
    return AutoModelForSequenceClassification.from_pretrained("model", num_labels=len(SEEN))


FILLED = {}
for number, name in enumerate(("calm", "rough", "storm")):
    FILLED[number] = name


def load_filled():
    return AutoModelForSequenceClassification.from_pretrained("model", id2label=FILLED)


def load_filled_here(names):
    labels = {}
    for number, name in enumerate(names):
        labels[number] = name
    return AutoModelForSequenceClassification.from_pretrained("model", id2label=labels)


def load_filled_elsewhere(fill):
    labels = {0: "calm"}
    fill(labels)
    return AutoModelForSequenceClassification.from_pretrained("model", id2label=labels)


def load_set_later():
    config = AutoConfig.from_pretrained("model", num_labels=2)
    config.num_labels = 3
    return AutoModelForSequenceClassification.from_pretrained("model", config=config)

from transformers import AutoConfig, AutoModelForSequenceClassification

LABELS = {0: "calm", 1: "rough", 2: "storm"}


def load(names):
    config = AutoConfig.from_pretrained("model", id2label=dict(enumerate(names)))
    return (
        AutoModelForSequenceClassification.from_pretrained("model", id2label=LABELS),
        AutoModelForSequenceClassification.from_pretrained("model", id2label={**LABELS, **names}),
        AutoModelForSequenceClassification.from_pretrained("model", config=config),
    )

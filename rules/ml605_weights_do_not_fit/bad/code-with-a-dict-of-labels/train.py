from transformers import AutoConfig, AutoModelForSequenceClassification

LABELS = {0: "calm", 1: "rough"}
FOLDER = "model"


def load():
    return AutoModelForSequenceClassification.from_pretrained(f"./{FOLDER}", id2label=LABELS)  # expect: ML605


def load_with_a_configuration():
    config = AutoConfig.from_pretrained(FOLDER, num_labels=2)
    return AutoModelForSequenceClassification.from_pretrained(FOLDER, config=config)  # expect: ML605


def load_with_their_number():
    names = ["calm", "rough"]
    return AutoModelForSequenceClassification.from_pretrained(FOLDER, num_labels=len(names))  # expect: ML605

from transformers import AutoModelForSequenceClassification


def load():
    return AutoModelForSequenceClassification.from_pretrained("./model", num_labels=5, ignore_mismatched_sizes=True)

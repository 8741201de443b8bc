from model import speech_model
from snac import SNAC


def speak(prompt):
    model = speech_model(64)
    codec = SNAC.from_pretrained("hubertsiuzdak/snac_24khz")
    codes = model.generate(prompt, max_new_tokens=100)
    return codec.decode([codes])  # expect: ML103

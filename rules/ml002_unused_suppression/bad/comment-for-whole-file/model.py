import torch

# modellint: ignore-file[ML101]  # expect: ML002

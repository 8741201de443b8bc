from torch import nn

layer = nn.Linear(80, 40)  # modellint: ignore[ML101]  # expect: ML002

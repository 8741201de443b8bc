from torch import nn

layer = nn.Linear(80, 40)  # modellint: ignore # expect: ML002

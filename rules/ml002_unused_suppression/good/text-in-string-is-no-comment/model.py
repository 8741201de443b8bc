TEXT = "layer = f(x)  # modellint: ignore[ML101]"

x = 1  # modellint: ignore[ML2001] see the notes  # expect: ML002

x = 1  # modellint: ignore[ML101, ML002]  kept until the next release

"""Write it like this:

    x = 1  # modellint: ignore[ML101]
"""

"""Values followed across functions, classes and files: what they are, how large, and which table they index."""

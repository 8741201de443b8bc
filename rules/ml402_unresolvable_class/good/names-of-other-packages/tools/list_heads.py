KNOWN = ("LinearHeads", "FlatHeads")

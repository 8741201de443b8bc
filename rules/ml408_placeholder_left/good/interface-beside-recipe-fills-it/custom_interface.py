OVERRIDES = {"data_folder": "."}

"""A catalogue of mistakes to plant in correct model code, decided by syntax alone and never by modellint itself."""

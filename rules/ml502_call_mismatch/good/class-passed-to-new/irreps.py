class Irreps(tuple):
    def __new__(cls, irreps=None):
        return super().__new__(cls, irreps or ())


class Cartesian(Irreps):
    def __new__(cls, formula):
        made = super().__new__(cls, formula.split("="))
        made.formula = formula
        return made

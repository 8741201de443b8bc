class FillStrategy:
    """Strategies for missing values of a column."""

    def median(column, fill):
        return column.median()

    def constant(column, fill):
        return fill


class FillMissing:
    def __init__(self, strategy=FillStrategy.median):
        self.strategy = strategy

    def setups(self, column):
        return self.strategy(column, 0)

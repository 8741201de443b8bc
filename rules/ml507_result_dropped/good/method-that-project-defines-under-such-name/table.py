class Table:
    def __init__(self):
        self.rows = []

    def unsqueeze(self, row):
        self.rows.append(row)

    def transpose(self):
        self.rows = list(zip(*self.rows))


def fill(table):
    table.unsqueeze(3)
    table.transpose()

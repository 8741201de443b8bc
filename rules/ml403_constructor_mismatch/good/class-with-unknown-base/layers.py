import attrs
from somewhere import Base


class One(Base):
    pass


@attrs.define
class Two:
    width: int


class Three:
    def __new__(cls, **options):
        return super().__new__(cls)

"""Symbolic sizes: `config.vocab_size + 1` as a sum of symbols, so that two sizes can be compared as expressions."""

from __future__ import annotations

from modellint.graph.hashing import HashedOnce, hashed_once
from modellint.graph.immutable import dataclass


@hashed_once
@dataclass(frozen=True, slots=True)
class Symbol(HashedOnce):
    """A quantity that has a name and perhaps a default: a configuration field, a constructor's parameter.

    `owner` tells where the name is defined, so that two fields of the same name in two configurations differ.
    """

    owner: str
    name: str
    default: int | None = None

    def __str__(self) -> str:
        return self.name.rpartition(".")[2]


@hashed_once
@dataclass(frozen=True, slots=True)
class Quotient(Symbol):
    """The whole quotient of two sizes that cannot be divided exactly: `n // 2`, rounded down.

    `owner` and `name` identify both sizes with their symbols.
    """

    numerator: Size | None = None
    denominator: Size | None = None

    @staticmethod
    def of(numerator: Size, denominator: Size) -> Quotient:
        a, b = numerator.number, denominator.number
        default = a // b if a is not None and b else None
        owners = sorted({symbol.owner for symbol in (numerator.symbols | denominator.symbols)})
        return Quotient("//".join(owners), f"{numerator}//{denominator}", default, numerator, denominator)

    def __str__(self) -> str:
        above, below = self.numerator, self.denominator
        parts = [f"({above})" if above is not None and len(above.terms) > 1 else str(above)]
        if below is not None:
            parts.append(f"({below})" if len(below.terms) > 1 or "*" in str(below) else str(below))
        return " // ".join(parts)


Term = tuple[tuple[Symbol, ...], int]
#: Exponents of sizes that stay short.
_SMALL_POWERS = (1, 2)


@hashed_once
@dataclass(frozen=True, slots=True)
class Size(HashedOnce):
    """A sum of products of symbols with whole factors. A constant is the empty product."""

    terms: tuple[Term, ...]

    @staticmethod
    def of(value: int) -> Size:
        return Size((((), value),) if value else ())

    @staticmethod
    def symbol(symbol: Symbol) -> Size:
        return Size((((symbol,), 1),))

    @staticmethod
    def _sum(terms: dict[tuple[Symbol, ...], int]) -> Size:
        nonzero = [(key, factor) for key, factor in terms.items() if factor]
        return Size(tuple(sorted(nonzero, key=lambda term: [(s.owner, s.name) for s in term[0]])))

    def __add__(self, other: Size) -> Size:
        terms = dict(self.terms)
        for key, factor in other.terms:
            terms[key] = terms.get(key, 0) + factor
        return Size._sum(terms)

    def __neg__(self) -> Size:
        return Size(tuple((key, -factor) for key, factor in self.terms))

    def __sub__(self, other: Size) -> Size:
        return self + -other

    def __mul__(self, other: Size) -> Size:
        terms: dict[tuple[Symbol, ...], int] = {}
        for left, factor in self.terms:
            for right, other_factor in other.terms:
                key = tuple(sorted((*left, *right), key=lambda s: (s.owner, s.name)))
                terms[key] = terms.get(key, 0) + factor * other_factor
        return Size._sum(terms)

    def calculated(self, operator: str, other: Size) -> Size | None:
        """The result of `self OPERATOR other`; None if it is no sum of products of symbols and quotients."""
        if operator in ("+", "-", "*"):
            return self + other if operator == "+" else self - other if operator == "-" else self * other
        a, b = self.constant, other.constant
        if operator == "//" and b == 1:
            return self
        if operator == "**" and a is None and b in _SMALL_POWERS:
            return self if b == 1 else self * self
        if operator == "//" and (a is None or b is None) and other.terms:
            return self.floor(other)
        if a is None or b is None:
            return None
        if operator == "//" and b:
            return Size.of(a // b)
        if operator in ("**", "<<") and 0 <= b < 64:
            return Size.of(a**b if operator == "**" else a << b)
        return None

    def floor(self, divisor: Size) -> Size:
        """The size divided by another one, rounded down; a `Quotient` where symbols leave it open.

        What a number divides exactly is taken out: `(4 * n + 3) // 2` is `2 * n + 1`.
        """
        count = divisor.constant
        if count is not None and count > 0:
            exact = Size(tuple((key, factor // count) for key, factor in self.terms if factor % count == 0))
            rest = Size(tuple(term for term in self.terms if term[1] % count))
            number = rest.constant
            if number is not None:
                return exact + Size.of(number // count)
            return exact + Size.symbol(Quotient.of(rest, divisor))
        if len(divisor.terms) == 1 and self.terms:
            known = [_without(term, divisor.terms[0]) for term in self.terms]
            if None not in known:
                return Size._sum(dict(term for term in known if term is not None))
        return Size.symbol(Quotient.of(self, divisor))

    @property
    def constant(self) -> int | None:
        """The size as a number; None if it has symbols."""
        if not self.terms:
            return 0
        (key, factor), *rest = self.terms
        return factor if not rest and not key else None

    @property
    def number(self) -> int | None:
        """The size with each symbol replaced by its default; None if a symbol has none."""
        total = 0
        for key, factor in self.terms:
            for symbol in key:
                if symbol.default is None:
                    return None
                factor *= symbol.default
            total += factor
        return total

    @property
    def by_default(self) -> Size:
        """The size with each symbol that has a default replaced by that."""
        total = Size(())
        for key, factor in self.terms:
            product = Size.of(factor)
            for symbol in key:
                product *= Size.symbol(symbol) if symbol.default is None else Size.of(symbol.default)
            total += product
        return total

    @property
    def only_symbol(self) -> Symbol | None:
        """The symbol that the size consists of; None for any other size."""
        if len(self.terms) == 1:
            key, factor = self.terms[0]
            if factor == 1 and len(key) == 1:
                return key[0]
        return None

    @property
    def symbols(self) -> frozenset[Symbol]:
        return frozenset(symbol for key, _ in self.terms for symbol in key)

    @property
    def described(self) -> str:
        """The size as messages name it: the number, the expression, or the number and the expression."""
        number = self.number
        if self.constant is not None:
            return str(self.constant)
        return f"`{self}`" if number is None else f"{number} (`{self}`)"

    def __str__(self) -> str:
        parts: list[str] = []
        for key, factor in sorted(self.terms, key=lambda term: not term[0]):
            is_alone = factor == 1 and len(key) == 1
            names = " * ".join(f"({s})" if isinstance(s, Quotient) and not is_alone else str(s) for s in key)
            if not key:
                parts.append(str(factor))
            elif factor == 1:
                parts.append(names)
            else:
                parts.append(f"{factor} * {names}")
        return " + ".join(parts).replace("+ -", "- ") or "0"


def _without(term: Term, divisor: Term) -> Term | None:
    """A product divided by another one; None if it is no multiple of it."""
    key, factor = list(term[0]), term[1]
    for symbol in divisor[0]:
        if symbol not in key:
            return None
        key.remove(symbol)
    return None if factor % divisor[1] else (tuple(key), factor // divisor[1])


def excess(larger: Size, smaller: Size) -> int | None:
    """By how much `larger` exceeds `smaller`: as expressions where their symbols cancel, else by their defaults.

    None where neither decides. `n + k` exceeds `n` by the default of `k`; the defaults of two records (of one model's
    configuration and another's, say) tell nothing about each other.
    """
    difference = larger - smaller
    if difference.constant is not None:
        return difference.constant
    return difference.number if len({symbol.owner for symbol in difference.symbols}) == 1 else None


def is_proved(larger: Size, smaller: Size) -> bool:
    """True if `excess` is a constant, which holds whatever the symbols' defaults are."""
    return (larger - smaller).constant is not None

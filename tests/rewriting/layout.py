"""The same syntax tree, laid out in another way."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst
from libcst import matchers as m

from rewriting.marks import MARK
from rewriting.rewriting import Kind, Rewriting, changed, codemod, each_module, in_turn

if TYPE_CHECKING:
    from rewriting.marks import Files

_BLANK = cst.SimpleWhitespace(" ")
_BACKSLASH = cst.SimpleWhitespace(" \\\n        ")


def _line(comment: str = "") -> cst.ParenthesizedWhitespace:
    """The end of a line inside of brackets, with a comment."""
    note = cst.Comment(comment) if comment else None
    return cst.ParenthesizedWhitespace(
        cst.TrailingWhitespace(whitespace=cst.SimpleWhitespace("  " if comment else ""), comment=note),
        indent=True,
        last_line=cst.SimpleWhitespace("    "),
    )


class _Outside(cst.CSTTransformer):
    """Leaves what stands in f-strings alone: before Python 3.12 neither comments nor line breaks may stand there."""

    def visit_FormattedString(self, node: cst.FormattedString) -> bool:
        return False


class _BlankBeforeBracket(_Outside):
    def leave_Call(self, original: cst.Call, call: cst.Call) -> cst.Call:
        return call.with_changes(whitespace_after_func=_BLANK)

    def leave_Subscript(self, original: cst.Subscript, subscript: cst.Subscript) -> cst.Subscript:
        return subscript.with_changes(whitespace_after_value=_BLANK)


class _BlanksAround(_Outside):
    """Blanks around dots and before commas, and inside of brackets."""

    def leave_Attribute(self, original: cst.Attribute, node: cst.Attribute) -> cst.Attribute:
        return node.with_changes(dot=cst.Dot(_BLANK, _BLANK))

    def leave_Comma(self, original: cst.Comma, comma: cst.Comma) -> cst.Comma:
        if isinstance(comma.whitespace_after, cst.ParenthesizedWhitespace):
            return comma.with_changes(whitespace_before=_BLANK)
        return cst.Comma(_BLANK, cst.SimpleWhitespace("  "))

    def leave_Call(self, original: cst.Call, call: cst.Call) -> cst.Call:
        if call.args and call.whitespace_before_args.empty:
            return call.with_changes(whitespace_before_args=_BLANK)
        return call

    def leave_AssignEqual(self, original: cst.AssignEqual, node: cst.AssignEqual) -> cst.AssignEqual:
        return cst.AssignEqual(_BLANK, _BLANK)


class _NoBlanks(_Outside):
    """No blank around operators, and one behind a minus."""

    def leave_BinaryOperation(self, original: cst.BinaryOperation, node: cst.BinaryOperation) -> cst.BinaryOperation:
        return node.with_changes(operator=_tight(node.operator))

    def leave_ComparisonTarget(
        self, original: cst.ComparisonTarget, node: cst.ComparisonTarget
    ) -> cst.ComparisonTarget:
        if m.matches(node.operator, m.In() | m.NotIn() | m.Is() | m.IsNot()):
            return node
        return node.with_changes(operator=_tight(node.operator))

    def leave_UnaryOperation(self, original: cst.UnaryOperation, node: cst.UnaryOperation) -> cst.UnaryOperation:
        return node.with_changes(operator=node.operator.with_changes(whitespace_after=_BLANK))

    def leave_AssignTarget(self, original: cst.AssignTarget, target: cst.AssignTarget) -> cst.AssignTarget:
        nothing = cst.SimpleWhitespace("")
        return target.with_changes(whitespace_before_equal=nothing, whitespace_after_equal=nothing)

    def leave_Comma(self, original: cst.Comma, comma: cst.Comma) -> cst.Comma:
        if isinstance(comma.whitespace_after, cst.ParenthesizedWhitespace):
            return comma
        return comma.with_changes(whitespace_after=cst.SimpleWhitespace(""))


def _tight(operator: cst.CSTNode) -> cst.CSTNode:
    if any(isinstance(child, cst.ParenthesizedWhitespace) for child in operator.children):
        return operator
    nothing = cst.SimpleWhitespace("")
    return operator.with_changes(whitespace_before=nothing, whitespace_after=nothing)


def _bracketed(value: cst.BaseExpression, inside: cst.BaseParenthesizableWhitespace) -> cst.BaseExpression:
    """An expression in one more pair of brackets."""
    left = cst.LeftParen(whitespace_after=inside)
    end = inside.with_changes(last_line=cst.SimpleWhitespace("")) if inside.indented else inside
    right = cst.RightParen(whitespace_before=end)
    return value.with_changes(lpar=[left, *value.lpar], rpar=[*value.rpar, right])


class _ValueOnItsOwnLine(_Outside):
    def leave_Assign(self, original: cst.Assign, node: cst.Assign) -> cst.Assign:
        return node.with_changes(value=_on_a_line(node.value))

    def leave_AugAssign(self, original: cst.AugAssign, node: cst.AugAssign) -> cst.AugAssign:
        return node.with_changes(value=_on_a_line(node.value))

    def leave_Return(self, original: cst.Return, node: cst.Return) -> cst.Return:
        return node if node.value is None else node.with_changes(value=_on_a_line(node.value))


def _on_a_line(value: cst.BaseExpression) -> cst.BaseExpression:
    if isinstance(value, cst.Yield):
        return value
    left = cst.LeftParen(whitespace_after=_line())
    right = cst.RightParen(
        whitespace_before=cst.ParenthesizedWhitespace(indent=True, last_line=cst.SimpleWhitespace(""))
    )
    return value.with_changes(lpar=[left, *value.lpar], rpar=[*value.rpar, right])


class _ArgumentsInBrackets(_Outside):
    def leave_Arg(self, original: cst.Arg, arg: cst.Arg) -> cst.Arg:
        return arg.with_changes(value=_in_brackets(arg.value))


class _CalledInBrackets(_Outside):
    def leave_Call(self, original: cst.Call, call: cst.Call) -> cst.Call:
        return call.with_changes(func=_in_brackets(call.func))

    def leave_Subscript(self, original: cst.Subscript, subscript: cst.Subscript) -> cst.Subscript:
        return subscript.with_changes(value=_in_brackets(subscript.value))


def _in_brackets(value: cst.BaseExpression) -> cst.BaseExpression:
    return value.with_changes(lpar=[cst.LeftParen(), *value.lpar], rpar=[*value.rpar, cst.RightParen()])


class _Backslashes(_Outside):
    def leave_AssignTarget(self, original: cst.AssignTarget, target: cst.AssignTarget) -> cst.AssignTarget:
        return target.with_changes(whitespace_after_equal=_BACKSLASH)

    def leave_Return(self, original: cst.Return, node: cst.Return) -> cst.Return:
        return node if node.value is None else node.with_changes(whitespace_after_return=_BACKSLASH)


class _Broken(_Outside):
    """A line break, perhaps with a comment, behind each bracket and each comma of calls, lists and tuples."""

    comment = ""

    def leave_Call(self, original: cst.Call, call: cst.Call) -> cst.Call:
        if not call.args:
            return call
        return call.with_changes(whitespace_before_args=_line(self.comment), args=self._broken(call.args))

    def leave_List(self, original: cst.List, node: cst.List) -> cst.List:
        if not node.elements:
            return node
        bracket = cst.LeftSquareBracket(whitespace_after=_line(self.comment))
        return node.with_changes(lbracket=bracket, elements=self._broken(node.elements))

    def leave_Dict(self, original: cst.Dict, node: cst.Dict) -> cst.Dict:
        if not node.elements:
            return node
        brace = cst.LeftCurlyBrace(whitespace_after=_line(self.comment))
        return node.with_changes(lbrace=brace, elements=self._broken(node.elements))

    def leave_Subscript(self, original: cst.Subscript, node: cst.Subscript) -> cst.Subscript:
        return node.with_changes(lbracket=cst.LeftSquareBracket(whitespace_after=_line(self.comment)))

    def _broken(self, parts: object) -> list[cst.CSTNode]:
        *front, last = parts  # type: ignore[misc]
        comma = cst.Comma(whitespace_after=_line(self.comment))
        return [*(part.with_changes(comma=comma) for part in front), last]


class _Commented(_Broken):
    comment = "# as it was"


class _FinalCommas(_Outside):
    def leave_Call(self, original: cst.Call, call: cst.Call) -> cst.Call:
        if not call.args or isinstance(call.args[-1].value, cst.GeneratorExp):
            return call
        return call.with_changes(args=self._ended(call.args))

    def leave_List(self, original: cst.List, node: cst.List) -> cst.List:
        return node.with_changes(elements=self._ended(node.elements)) if node.elements else node

    def _ended(self, parts: object) -> list[cst.CSTNode]:
        *front, last = parts  # type: ignore[misc]
        comma = last.comma if isinstance(last.comma, cst.Comma) else cst.Comma()
        return [*front, last.with_changes(comma=comma)]


class _OtherQuotes(_Outside):
    def leave_SimpleString(self, original: cst.SimpleString, node: cst.SimpleString) -> cst.SimpleString:
        if len(node.quote) != 1 or set("\"'\\") & set(node.raw_value):
            return node
        other = "'" if node.quote == '"' else '"'
        return cst.SimpleString(f"{node.prefix}{other}{node.raw_value}{other}", node.lpar, node.rpar)


class _OtherDigits(_Outside):
    """Whole numbers as hexadecimal ones, or with underscores, in turn."""

    def leave_Integer(self, original: cst.Integer, node: cst.Integer) -> cst.Integer:
        number = original.evaluated_value
        if number < 10:
            return node
        return node.with_changes(value=hex(number) if number % 2 else f"{number:_}")


class _SpacedOut(cst.CSTTransformer):
    """Blank lines and comments between statements."""

    def leave_SimpleStatementLine(
        self, original: cst.SimpleStatementLine, node: cst.SimpleStatementLine
    ) -> cst.SimpleStatementLine:
        comment = cst.EmptyLine(comment=cst.Comment("# and then"))
        return node.with_changes(leading_lines=[*node.leading_lines, cst.EmptyLine(indent=False), comment])


class _OnOneLine(cst.CSTTransformer):
    """Simple statements that follow each other on one line."""

    def leave_IndentedBlock(self, original: cst.IndentedBlock, block: cst.IndentedBlock) -> cst.IndentedBlock:
        body: list[cst.BaseStatement] = []
        for statement in block.body:
            last = body[-1] if body else None
            if _is_simple(last) and _is_simple(statement):
                body[-1] = _joined(last, statement)  # type: ignore[arg-type]
            else:
                body.append(statement)
        return block.with_changes(body=body)


def _is_simple(statement: cst.BaseStatement | None) -> bool:
    if not isinstance(statement, cst.SimpleStatementLine) or m.matches(statement.body[0], m.Expr(m.SimpleString())):
        return False
    comment = statement.trailing_whitespace.comment
    return comment is None or bool(MARK.fullmatch(comment.value))


def _joined(first: cst.SimpleStatementLine, second: cst.SimpleStatementLine) -> cst.SimpleStatementLine:
    semicolon = cst.Semicolon(whitespace_after=_BLANK)
    front = [*first.body[:-1], first.body[-1].with_changes(semicolon=semicolon)]
    marks = [line.trailing_whitespace.comment.value for line in (first, second) if line.trailing_whitespace.comment]
    numbers = " ".join(MARK.fullmatch(mark)[1] for mark in marks)  # type: ignore[index]
    end = cst.TrailingWhitespace(comment=cst.Comment(f"# mark: {numbers}") if numbers else None)
    return cst.SimpleStatementLine([*front, *second.body], first.leading_lines, end)


def _indented_by_two(module: cst.Module) -> cst.Module:
    return module.with_changes(default_indent="  ")


def _with_carriage_returns(files: Files) -> dict[str, str] | None:
    return changed(files, {path: text.replace("\n", "\r\n") for path, text in files.items()})


_TRANSFORMERS: tuple[tuple[str, type[cst.CSTTransformer]], ...] = (
    ("a blank before brackets of calls and indices", _BlankBeforeBracket),
    ("blanks around dots and commas and inside of brackets", _BlanksAround),
    ("no blanks around operators, one behind a minus", _NoBlanks),
    ("values in brackets on a line of their own", _ValueOnItsOwnLine),
    ("arguments in brackets", _ArgumentsInBrackets),
    ("what is called in brackets", _CalledInBrackets),
    ("a backslash behind `=` and `return`", _Backslashes),
    ("a line break behind brackets and commas", _Broken),
    ("a comment behind brackets and commas", _Commented),
    ("a final comma", _FinalCommas),
    ("other quotes", _OtherQuotes),
    ("numbers with other digits", _OtherDigits),
    ("blank lines and comments between statements", _SpacedOut),
    ("several statements on a line", _OnOneLine),
)


def _together(module: cst.Module) -> cst.Module:
    for _, transformer in _TRANSFORMERS:
        module = module.visit(transformer())
    return _indented_by_two(module)


REWRITINGS = (
    *(Rewriting(name, Kind.LAYOUT, codemod(transformer)) for name, transformer in _TRANSFORMERS),
    Rewriting("indented by two blanks", Kind.LAYOUT, each_module(_indented_by_two)),
    Rewriting("carriage returns", Kind.LAYOUT, _with_carriage_returns),
    Rewriting("all layouts together", Kind.LAYOUT, in_turn(each_module(_together), _with_carriage_returns)),
)

"""Python in Markdown pages, as tests: an example that shows an error has to raise it.

In ``try: … except SomeError as error: …`` everything that is checked stands behind ``except``. If
nothing is raised any more, nothing is checked: then the page is wrong, and its example fails.
"""

from __future__ import annotations

import ast

from sybil import Example
from sybil.parsers.markdown import CodeBlockParser, PythonCodeBlockParser


class PageExamples(PythonCodeBlockParser):
    """The blocks of Python in a page; those that begin with ``>>>`` are doctests."""

    def __init__(self, doctest_optionflags: int = 0) -> None:
        super().__init__(doctest_optionflags=doctest_optionflags)
        self.codeblock_parser = CodeBlockParser("python", run_example)


def run_example(example: Example) -> None:
    """Run a block in the names that the blocks before it have made."""
    source = "\n" * (example.line + example.parsed.line_offset) + example.parsed
    tree = ast.fix_missing_locations(_MustRaise().visit(ast.parse(source, example.path)))
    exec(compile(tree, example.path, "exec", dont_inherit=True), example.namespace)
    del example.namespace["__builtins__"]


class _MustRaise(ast.NodeTransformer):
    def visit_Try(self, node: ast.Try) -> ast.Try:
        self.generic_visit(node)
        if node.handlers and not node.orelse:
            node.orelse = ast.parse("raise AssertionError('nothing was raised')").body
        return node

"""``SigmaDialect``: detection rules in YAML or JSON, as subscriptions.

Rules say for which log they are meant. Whether that is a condition is a choice: whoever matches a
log against the rules that are for it need not ask, and events seldom say. As a variant,
``sigma:log-sources``, rules ask events for ``logsource.product`` and so on. Another,
``sigma:pipeline=NAME``, reads rules by a pipeline that an installed package brings; one of
your own is given to ``SigmaDialect`` in Python, and registered under a name. Paths are not taken
there: the names of dialects stand in files and tables, which may be anybody's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from sigma.processing.pipeline import ProcessingPipeline

from predicast.errors import UnknownDialectError, suggest
from predicast.language.dialect import Dialect, Document
from predicast.language.sigma.events import events_of_xml, read_event
from predicast.language.sigma.rules import Rule, read_rule, rule_document
from predicast.language.sigma.selections import expression_of
from predicast.language.sigma.values import Test, all_of, has_word
from predicast.language.sigma.wording import wording_of_condition, wording_of_source
from predicast.language.sigma.yaml_text import split_documents
from predicast.language.wording import Wording
from predicast.model import And, Expression

KEYWORDS: Final = "_text"  # the attribute that holds the text of an event
LOG_SOURCES: Final = "log-sources"
_PIPELINE: Final = "pipeline"
_ID: Final = re.compile(r"^id:[ \t]*[\"']?(?P<id>[\w-]+)", re.MULTILINE)
_ABOUT: Final = ("title", "id", "status", "level", "tags", "author", "license", "references")


class SigmaDialect(Dialect):
    '''Sigma rules; a pipeline of pySigma, if there is one, is applied to each.

    >>> from predicast.language import to_subscription, to_where
    >>> rule = """
    ... title: Who am I
    ... author: Ann
    ... logsource: {product: windows}
    ... detection:
    ...   selection:
    ...     Image|endswith: whoami.exe
    ...   condition: selection
    ... """
    >>> to_where(to_subscription(SigmaDialect().parse(rule)))
    "endswith(lower(Image), 'whoami.exe')"
    >>> SigmaDialect().about(rule)
    {'title': 'Who am I', 'author': 'Ann'}
    '''

    suffixes = (".yml", ".yaml")
    event_suffixes = (".xml",)

    def __init__(
        self,
        *,
        name: str = "sigma",
        log_sources: bool = False,
        pipeline: ProcessingPipeline | None = None,
        keywords: str = KEYWORDS,
    ) -> None:
        self.name = name
        self._log_sources = log_sources
        self._pipeline = pipeline
        self._keywords = keywords

    def parse(self, text: str) -> Expression:
        """What a rule asks of an event."""
        rule = self._rule(text)
        sources = [test.true for *_, test in self._sources(rule)]
        return all_of([*sources, expression_of(rule.condition)])

    def wording(self, text: str) -> Wording:
        """The rule's condition, selections and lines."""
        rule = self._rule(text)
        sources = [wording_of_source(*source) for source in self._sources(rule)]
        condition = wording_of_condition(rule.condition, self._keywords)
        return And((*sources, condition)) if sources else condition

    def about(self, text: str) -> Mapping[str, Any]:
        """Title, level and tags, and the authors, whom the rules' licence asks to name."""
        document = rule_document(text)
        return {key: _plain(document[key]) for key in _ABOUT if document.get(key) is not None}

    def read_event(self, document: Any) -> Mapping[str, Any]:
        """Records of the Windows event log flattened, others as they are; with their text."""
        return read_event(document, self._keywords)

    def documents(self, content: str) -> Iterator[Document]:
        """The rules of a file, with the ids that they give themselves."""
        for line, text in split_documents(content):
            found = _ID.search(text)
            yield Document(text, line, found["id"] if found else None)

    def event_documents(self, content: str) -> Iterator[Any]:
        """The records of an event log that was saved as XML."""
        return events_of_xml(content)

    def variant(self, options: str) -> SigmaDialect:
        """With log sources as conditions, or a pipeline that is installed, or both."""
        log_sources, pipeline = self._log_sources, self._pipeline
        for option in options.split(","):
            key, _, value = option.partition("=")
            if option == LOG_SOURCES:
                log_sources = True
            elif key == _PIPELINE and value:
                pipeline = _installed_pipeline(value) + pipeline
            else:
                raise UnknownDialectError(
                    f"the dialect {self.name!r} has no option {option!r}; there are {LOG_SOURCES} "
                    f"and {_PIPELINE}=NAME, with a comma between them",
                    name=f"{self.name}:{options}",
                    suggestion=f"{self.name}:{LOG_SOURCES}",
                )
        return SigmaDialect(
            name=self.name,
            log_sources=log_sources,
            pipeline=pipeline,
            keywords=self._keywords,
        )

    def _rule(self, text: str) -> Rule:
        return read_rule(text, self._pipeline, self._keywords)

    def _sources(self, rule: Rule) -> Iterator[tuple[str, str, str, Test]]:
        if self._log_sources:
            for name, word in rule.log_source:
                attribute = f"logsource.{name}"
                yield name, word, attribute, has_word(attribute, word)


def _plain(said: Any) -> str | list[str]:
    """As text, whatever YAML takes it for: a reference may look like a date."""
    return [str(each) for each in said] if isinstance(said, list) else str(said)


def _installed_pipeline(name: str) -> ProcessingPipeline:
    from sigma.plugins import InstalledSigmaPlugins  # looks through everything that is installed

    installed = InstalledSigmaPlugins.autodiscover()
    known = installed.pipelines
    if name not in known:
        close = suggest(name, known)
        hint = f"did you mean {close!r}?" if close else f"installed: {', '.join(known) or 'none'}"
        raise UnknownDialectError(
            f"no pipeline {name!r} is installed; {hint}", name=name, suggestion=close
        )
    return installed.get_pipeline_resolver().resolve_pipeline(name)

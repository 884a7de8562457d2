"""How Sphinx builds this documentation; ``make docs`` runs it with warnings as errors."""

from predicast.__about__ import __version__

project = "Predicast"
author = "The Predicast authors"
copyright = "The Predicast authors. Apache License 2.0"
version = release = __version__
language = "en-GB"

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.viewcode"]
exclude_patterns = ["_build", "**/measured/*"]  # the latter are included by pages

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3  # so that links to headings are checked

autodoc_default_options = {"members": True, "show-inheritance": True}
autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
napoleon_numpy_docstring = False

html_theme = "furo"
html_title = f"Predicast {version}"

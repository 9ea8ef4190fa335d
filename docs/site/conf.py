# Sphinx's settings for the site; docs/site/build.py stages the sources and runs it.
project = "faro"
author = "the authors of faro"
copyright = "the authors of faro; Apache-2.0"  # noqa: A001  (Sphinx's name)
root_doc = "README"
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
myst_heading_anchors = 6  # anchors as GitHub makes them
nitpicky = True
html_theme = "furo"
html_title = "faro"
html_copy_source = False  # build.py puts the Markdown beside each page
html_show_sphinx = False
html_show_search_summary = False  # a page read from a disk may not fetch other pages for their excerpts
pygments_style = "friendly"
pygments_dark_style = "github-dark"
highlight_language = "none"
# Some blocks show languages with … where something is left out; they are shown without colours.
suppress_warnings = ["misc.highlighting_failure"]

"""Reports: pages, tables, charts, and one formatter of numbers; no models, no torch.

Import from the modules, which load what they need: `page` (sections of an HTML page), `writers`
(files by suffix), `line_charts` and `result_charts`, `drawing` (charts to files), `highlight`
(text with marked words), `console` and `markdown` (tables), `numbers` (cells, p-values, intervals).
"""

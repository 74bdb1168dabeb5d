"""The engine's answers as data, the page that shows them (it holds no rules), and the workbench."""

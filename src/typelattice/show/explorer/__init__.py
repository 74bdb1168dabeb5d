"""The engine's answers as data, the page that shows them, and the workbench. The page holds no rules."""

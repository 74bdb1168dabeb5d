"""What the engine answers, written as data; the page that shows it, which holds no rules; the workbench."""

"""ONNX models read as programs: the graph, its operators, and the dtypes that it states."""

import bm25s
import numpy as np

corpus = [
    "a cat is a feline and likes to purr",
    "a dog is the human's best friend and loves to play",
    "a bird is a beautiful animal that can fly",
    "a fish is a creature that lives in water and swims",
]
tokens = bm25s.tokenize(corpus, stopwords="en", show_progress=False)
print(sorted(tokens.vocab.items(), key=lambda item: item[1])[:6])
for method in ("lucene", "robertson", "bm25+", "bm25l", "atire"):
    retriever = bm25s.BM25(method=method, k1=1.2, b=0.7, dtype="float32")
    retriever.index(tokens, show_progress=False)
    query = bm25s.tokenize(["does the fish purr like a cat?", "fly"], show_progress=False)
    found, scores = retriever.retrieve(query, k=2, show_progress=False)
    print(method, found.dtype, found.tolist(), scores.dtype, scores.round(4).tolist())
retriever.save("index", corpus=corpus)
again = bm25s.BM25.load("index", load_corpus=True, mmap=True)
found, _ = again.retrieve(query, k=1, show_progress=False)
print(found[0, 0]["text"], again.get_scores(["cat", "dog"]).round(3), np.asarray(again.scores["data"]).dtype)

"""Train a matcher on a few handwritten questions and compare it with BM25."""

import matchwork as mw

MEASURES = ["AP", "RR"]


def main() -> None:
    """Train, save, open and evaluate a matcher."""
    data = mw.toy()
    matcher = mw.Matcher.build("knrm", data["train"].texts, num_kernels=6)
    result = mw.train(matcher, data, max_epochs=10, learning_rate=1e-2, batch_size=4, seed=7)
    print(f"best epoch {result.best_epoch}, RR on dev {result.best_value:.3f}")
    matcher.save("runs/knrm")

    test = data["test"]
    for scorer in (mw.BM25.fit(test.documents), mw.load("runs/knrm")):
        values = mw.evaluate(scorer, test, MEASURES).values
        print(f"{scorer.name:<6}", {name: round(value, 3) for name, value in values.items()})


if __name__ == "__main__":
    main()

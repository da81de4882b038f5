"""Explain a score by its word pairs, as text, HTML and a picture."""

from matchwork import explain, toy, train
from matchwork.explain import save
from matchwork.matcher import Matcher


def main() -> None:
    """Train IASM and explain one pair."""
    data = toy()
    matcher = Matcher.build("iasm-dynamic", data["train"].texts, trainable=False, num_layers=3)
    train(matcher, data, max_epochs=3, negatives="own", seed=7)

    why = explain(matcher, "who wrote hamlet", "shakespeare wrote the play hamlet around 1600")
    print(f"{why.model}: score {why.score:.3f}, probability {why.probability:.2f}")
    print("tables:", ", ".join(why.tables))
    for pair in why.strongest(top_k=3):
        print(f"  {pair.query} - {pair.document}: {pair.value:.2f}")
    for name in ("why.json", "why.html", "why.png"):
        save(why, name)


if __name__ == "__main__":
    main()

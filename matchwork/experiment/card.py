"""The README of a saved matcher: what it is, how good it is, how to use it."""

from json import dumps

from matchwork.evaluate import Evaluation
from matchwork.experiment.recipe import Recipe
from matchwork.experiment.seed import SeedOutcome
from matchwork.version import VERSION


def model_card(recipe: Recipe, outcome: SeedOutcome, baseline: Evaluation) -> str:
    """Markdown with the results of the seed that this matcher is."""
    main = outcome.evaluations[recipe.model_name]
    measures = list(main.samples)
    rows = [
        "| system | " + " | ".join(measures) + " |",
        "|---|" + "---|" * len(measures),
        *(
            f"| {name} | " + " | ".join(f"{e[m]:.4f}" for m in measures) + " |"
            for name, e in {"BM25": baseline, **outcome.evaluations}.items()
        ),
    ]
    fusion = ""
    if outcome.weight is not None:
        fusion = f" Fusion gives the matcher a weight of {outcome.weight}, chosen on dev."
    return f"""# {recipe.model_name} trained on {recipe.data.name}

A text matcher made with matchwork {VERSION} from the recipe `{recipe.name}`
(hash `{recipe.hash}`), seed {outcome.seed}, best epoch {outcome.best_epoch}.

Measured on split `{recipe.data.test}`, protocol `{main.protocol}`, {main.num_queries} queries,
{main.num_ties} tied documents (ties count against the system).{fusion}

{chr(10).join(rows)}

## Use

```python
import matchwork as mw

matcher = mw.Matcher.load("FOLDER")
for hit in matcher.rank("a query", ["a text", "another text"]):
    print(hit.rank, hit.score, hit.document.text)
```

## Settings

```json
{dumps(recipe.to_json(), indent=2)}
```
"""

"""The README of a saved matcher: what it is, how good it is, how to use it."""

from json import dumps

from matchwork.evaluate import PROTOCOLS
from matchwork.experiment.condition import Condition
from matchwork.experiment.outcome import ConditionOutcome, SeedOutcome
from matchwork.experiment.prepare import Prepared
from matchwork.experiment.recipe.data import MAIN
from matchwork.experiment.results.tables import in_words
from matchwork.version import VERSION


def model_card(prepared: Prepared, outcome: SeedOutcome) -> str:
    """Markdown with the results of the seed that this matcher is."""
    recipe = prepared.recipe
    measured = "\n\n".join(
        _measured(condition, outcome.conditions[name])
        for name, condition in prepared.conditions.items()
    )
    return f"""# {recipe.model_name} trained on {recipe.data.name}

A text matcher made with matchwork {VERSION} from the recipe `{recipe.name}`,
seed {outcome.seed}, best epoch {outcome.best_epoch}.

{measured}

## Use

```python
import matchwork as mw

matcher = mw.load("FOLDER")
for hit in matcher.rerank("a query", ["a text", "another text"]):
    print(hit.rank, hit.score, hit.document.text)
```

## Settings

```json
{dumps(recipe.to_dict(), indent=2)}
```
"""


def _measured(condition: Condition, outcome: ConditionOutcome) -> str:
    """One table, under a line that says how it was measured."""
    first, *_ = outcome.evaluations.values()
    measures = list(first.samples)
    title = "" if condition.name == MAIN else f"Condition `{condition.name}`: "
    fusion = ""
    if outcome.weights:
        shares = ", ".join(f"{weight} beside {name}" for name, weight in outcome.weights.items())
        fusion = f" Fusion gives the matcher a weight of {shares}, chosen on dev."
    rule = "fall by id" if PROTOCOLS[first.protocol].ties_by_id else "count against the system"
    baselines = {name: baseline.evaluation for name, baseline in condition.baselines.items()}
    rows = {**baselines, **outcome.evaluations}
    lines = [
        f"{title}Measured on split `{condition.section.data.test}`, "
        f"protocol `{first.protocol}`, {first.num_queries} queries{in_words(condition.to_dict())},",
        f"{first.num_ties} tied documents (ties {rule}).{fusion}",
        "",
        "| system | " + " | ".join(measures) + " |",
        "|---|" + "---|" * len(measures),
        *(
            f"| {name} | " + " | ".join(f"{e[m]:.4f}" for m in measures) + " |"
            for name, e in rows.items()
        ),
    ]
    return "\n".join(lines)

"""Tables of results in Markdown: systems that were measured alike, baselines first."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from matchwork.evaluate.measures import gain
from matchwork.experiment.results.files import by_condition


@dataclass(frozen=True)
class Group:
    """Results that were measured on the same queries of a data set, under one protocol.

    Args:
        dataset: Name of the data set.
        condition: Name of the condition; "" for the main one.
        description: Protocol, queries and candidates in words.
        results: The results.
    """

    dataset: str
    condition: str
    description: str
    results: list[Mapping[str, Any]] = field(default_factory=list)

    @property
    def measures(self) -> list[str]:
        """The measures of the first result."""
        return list(self.results[0]["measures"])

    @property
    def main_measures(self) -> list[str]:
        """The measures that papers report, or else the first two; the first one ranks systems."""
        published = [m for m in self.measures if any(m in one["paper"] for one in self.results)]
        return published or self.measures[:2]

    @property
    def baselines(self) -> dict[str, Mapping[str, Any]]:
        """The values of every baseline by its name."""
        found: dict[str, Mapping[str, Any]] = {}
        for result in self.results:
            for name in result.get("baselines", ["BM25"]):
                found.setdefault(name, result["systems"][name])
        return found


def in_words(condition: Mapping[str, Any]) -> str:
    """Describe the candidates as the end of a list: ", pool=full, BM25's best 100 re-ranked"."""
    parts = [f"{key}={str(value).lower()}" for key, value in condition.get("options", {}).items()]
    depth = condition.get("depth")
    if depth is not None:
        parts.append(f"BM25's best {depth} re-ranked" if depth else "all documents ranked")
    return "".join(f", {part}" for part in parts)


def grouped(results: Sequence[Mapping[str, Any]]) -> list[Group]:
    """Group results, and each of their conditions, by what they were measured on."""
    groups: dict[tuple[str, str], Group] = {}
    for each in results:
        for name, result in by_condition(each).items():
            description = (
                f"Protocol `{result['protocol']}`, {result['num_queries']} queries "
                f"of split `{result['split']}`{in_words(result)}."
            )
            dataset = result["dataset"]
            group = groups.setdefault((dataset, description), Group(dataset, name, description))
            group.results.append(result)
    return list(groups.values())


def results_table(results: Sequence[Mapping[str, Any]]) -> str:
    """Return every system of all results in Markdown, a table for each group."""
    return "\n\n".join(
        f"## {group.dataset}{f', {group.condition}' if group.condition else ''}\n"
        f"{group.description}\n\n{full_table(group)}"
        for group in grouped(results)
    )


def full_table(group: Group) -> str:
    """Return every system of a group, each baseline once."""
    measures, baselines = group.measures, group.baselines
    rows = [_row(name, values, measures, "–", "–") for name, values in baselines.items()]
    for result in group.results:
        seeds = str(len(result["seeds"]))
        systems = {result["model"]: result["measures"], **result["systems"]}
        rows += [
            _row(name, values, measures, seeds, _link(result))
            for name, values in systems.items()
            if name not in baselines
        ]
    return _table(["system", *measures, "seeds", "recipe"], rows)


def short_table(group: Group) -> str:
    """Return the baselines and the best recipe of every model, by the first main measure."""
    measures = group.main_measures
    best: dict[str, Mapping[str, Any]] = {}
    for result in sorted(group.results, key=lambda one: rank_value(one["measures"], measures[0])):
        best.setdefault(result["model"], result)
    rows = [
        [name, *(_short(values.get(measure)) for measure in measures), "–", "–"]
        for name, values in group.baselines.items()
    ]
    for model, result in best.items():
        values = [result["measures"].get(measure) for measure in measures]
        p = (result["measures"].get(measures[0]) or {}).get("p_holm")
        shown = "–" if p is None else f"{p:.4f}"
        rows.append([model, *map(_short, values), shown, _link(result)])
    return _table(["best of each model", *measures, f"*p* ({measures[0]})", "recipe"], rows)


def rank_value(measures: Mapping[str, Any], name: str) -> float:
    """Return a number that is lower for a better system; some measures are errors."""
    return -gain(name, measures[name]["mean"]) if name in measures else float("inf")


def _link(result: Mapping[str, Any]) -> str:
    return f"[{result['recipe']}]({result['dataset']}/{result['recipe']}.json)"


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [header, *rows]
    text = [f"| {' | '.join(cells)} |" for cells in lines]
    return "\n".join([text[0], "|" + "---|" * len(header), *text[1:]])


def _row(
    name: str, values: Mapping[str, Any], measures: Sequence[str], seeds: str, recipe: str
) -> list[str]:
    return [name, *(_cell(values.get(measure)) for measure in measures), seeds, recipe]


def _short(value: Mapping[str, Any] | None) -> str:
    """Write a mean and the published value."""
    if value is None:
        return "–"
    paper = value.get("paper")
    return _number(value["mean"]) + ("" if paper is None else f" (paper {paper:.4f})")


def _number(value: float, digits: int = 4) -> str:
    return f"{value:.{digits if value >= 0.01 else digits + 2}f}"  # regression errors are small


def _cell(value: Mapping[str, Any] | None) -> str:
    """Write a mean, its deviation over seeds, interval, p-value and the published value."""
    if value is None:
        return "–"
    digits = 4 if value["mean"] >= 0.01 else 6  # errors of a regression are small
    text = f"{value['mean']:.{digits}f}"
    if value["std"]:
        text += f" ± {value['std']:.{digits}f}"
    low, high = value["ci"]
    text += f" [{low:.{digits - 1}f}, {high:.{digits - 1}f}]"
    if value.get("p_holm") is not None:
        text += f", *p* {value['p_holm']:.4f}"
    if value.get("paper") is not None:
        text += f" (paper {value['paper']:.4f})"
    return text

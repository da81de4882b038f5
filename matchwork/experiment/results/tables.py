"""Tables of results in Markdown: systems that were measured alike, baselines first."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from matchwork.evaluate.measures import gain
from matchwork.experiment.results.result import by_condition, in_words
from matchwork.report.markdown import markdown_table
from matchwork.report.numbers import Cell, p_value

Row: TypeAlias = list[Cell]


@dataclass(frozen=True)
class Group:
    """Results that were measured on the same queries of a data set, under one protocol."""

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

    def row(name: str, values: Mapping[str, Any], seeds: int | None, recipe: str | None) -> Row:
        return [name, *(_cell(values.get(measure)) for measure in measures), seeds, recipe]

    rows = [row(name, values, None, None) for name, values in baselines.items()]
    for result in group.results:
        systems = {result["model"]: result["measures"], **result["systems"]}
        rows += [
            row(name, values, len(result["seeds"]), _link(result))
            for name, values in systems.items()
            if name not in baselines
        ]
    return "\n".join(markdown_table(["system", *measures, "seeds", "recipe"], rows))


def short_table(group: Group) -> str:
    """Return the baselines, and of every model the recipe that is best on dev."""
    measures = group.main_measures

    def on_test(result: Mapping[str, Any]) -> float:
        return rank_value(result["measures"], measures[0])

    chosen: dict[str, Mapping[str, Any]] = {}
    for result in sorted(group.results, key=lambda one: (_rank_on_dev(one), on_test(one))):
        chosen.setdefault(result["model"], result)
    rows: list[Row] = [
        [name, *(_short(values.get(measure)) for measure in measures), None, None]
        for name, values in group.baselines.items()
    ]
    for model, result in sorted(chosen.items(), key=lambda item: on_test(item[1])):
        values = [result["measures"].get(measure) for measure in measures]
        p = (result["measures"].get(measures[0]) or {}).get("p_holm")
        shown = None if p is None else p_value(p)
        rows.append([model, *map(_short, values), shown, _link(result)])
    header = ["model", *measures, f"*p* ({measures[0]})", "recipe"]
    return "\n".join(markdown_table(header, rows))


def _rank_on_dev(result: Mapping[str, Any]) -> float:
    """Return a number that is lower for a recipe that is better on dev; infinite without dev."""
    if result.get("dev") is None:
        return float("inf")
    return -gain(result["settings"]["train"]["dev_measure"], result["dev"])


def rank_value(measures: Mapping[str, Any], name: str) -> float:
    """Return a number that is lower for a better system; some measures are errors."""
    return -gain(name, measures[name]["mean"]) if name in measures else float("inf")


def _link(result: Mapping[str, Any]) -> str:
    return f"[{result['recipe']}]({result['dataset']}/{result['recipe']}.json)"


def _short(value: Mapping[str, Any] | None) -> str | None:
    """Write a mean and the published value."""
    return None if value is None else f"{value['mean']:.{_digits(value)}f}{_paper(value)}"


def _digits(value: Mapping[str, Any]) -> int:
    return 4 if value["mean"] >= 0.01 else 6  # errors of a regression are small


def _paper(value: Mapping[str, Any]) -> str:
    paper = value.get("paper")
    return "" if paper is None else f" (paper {paper:.4f})"


def _cell(value: Mapping[str, Any] | None) -> str | None:
    """Write a mean, its deviation over seeds, interval, p-value and the published value."""
    if value is None:
        return None
    digits = _digits(value)
    spread = f" ± {value['std']:.{digits}f}" if value["std"] else ""
    low, high = value["ci"]
    p = value.get("p_holm")
    return (
        f"{value['mean']:.{digits}f}{spread} [{low:.{digits - 1}f}, {high:.{digits - 1}f}]"
        f"{'' if p is None else f', *p* {p_value(p)}'}{_paper(value)}"
    )

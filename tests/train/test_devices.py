"""Two real processes: averaged steps, written once."""

import copy

import pytest
import torch
from epoch_records import EpochRecords
from torch.multiprocessing.spawn import ProcessRaisedException

from matchwork.errors import TrainingError
from matchwork.train import train
from matchwork.train.api import train_config
from matchwork.train.fitting import _run
from matchwork.train.loader import EpochLoader

SETTINGS = {
    "loss": "hinge",
    "negatives": "own",
    "num_negatives": 2,
    "optimizer": "sgd",
    "learning_rate": 0.1,
    "batch_size": 4,  # three batches: one for each process, and one left out
    "max_epochs": 4,
    "schedule": "linear",
    "dev_loss_every": 1,
    "accelerator": "cpu",
    "devices": 2,
}


def averaged_step(model, samples, config, epoch, rate):
    """What two devices do together, on one: the mean of the gradients of their batches."""
    model.zero_grad()
    for rank in range(2):
        (batch,) = EpochLoader(
            samples,
            config.make_sampler(samples),
            batch_size=config.batch_size,
            seed=5,
            position=lambda: (epoch, 0),
            rank=rank,
            num_ranks=2,
        )
        scores = model(batch.pairs).scores.view_as(batch.labels)
        (config.make_loss()(scores, batch.labels, batch.mask) / 2).backward()
    torch.optim.SGD(model.parameters(), lr=rate).step()


@pytest.mark.slow
def test_two_processes_train_one_model(matcher, questions, samples, tmp_path):
    """Four epochs of one step: dev is watched by the first process, the rate falls in both."""
    trained, epochs = matcher("knrm"), EpochRecords()
    result = train(
        trained,
        questions,
        seed=5,
        folder=tmp_path,
        observer=epochs,
        **SETTINGS,
    )
    model, config = matcher("knrm").model, train_config(trained.model, SETTINGS)
    expected = [copy.deepcopy(model.state_dict())]
    for epoch, rate in enumerate((0.1, 0.075, 0.05, 0.025)):
        averaged_step(model, samples, config, epoch, rate)
        expected.append(copy.deepcopy(model.state_dict()))
    kept = torch.load(tmp_path / "last.ckpt", weights_only=True)
    assert kept["optimizer"]["param_groups"][0]["lr"] == pytest.approx(0.1 / 4)
    best = trained.model.state_dict()
    for name, _ in model.named_parameters():
        torch.testing.assert_close(kept["model"][name], expected[-1][name])
        torch.testing.assert_close(best[name], expected[result.best_epoch][name])
        # a bias on both sides of a difference has no gradient
        assert torch.equal(best[name], expected[0][name]) == (name == "score.bias")
    assert epochs.records == result.history and len(epochs.records) == 4
    assert [step for step, _ in result.dev_loss] == [1, 2, 3, 4]
    assert [path.name for path in (tmp_path / "logs").iterdir()] == ["version_0"]
    assert trained.calibration is not None


@pytest.mark.slow
def test_two_processes_go_on_as_if_never_stopped(matcher, questions, tmp_path):
    """Moments of Adam come out of a checkpoint once, and are not shared by the two."""
    settings = {**SETTINGS, "optimizer": "adam", "schedule": "constant", "dev_loss_every": 0}
    ends = []
    for name, epochs in (("whole", (2,)), ("parts", (1, 2))):
        for number in epochs:
            last = {**settings, "max_epochs": number}
            folder = tmp_path / name
            resume = number != epochs[0]
            train(matcher("knrm"), questions, seed=5, folder=folder, resume=resume, **last)
        ends.append(torch.load(folder / "last.ckpt", weights_only=True)["model"])
    whole, parts = ends
    assert all(torch.equal(whole[name], parts[name]) for name in whole)


def test_an_error_of_another_process_is_told_in_one_line():
    class Failing:
        def fit(self, module):
            text = "\n\n-- Process 1 terminated with the following error:\nTraceback ...\n"
            text += "matchwork.errors.TrainingError: the loss is nan at step 3: stopped\n"
            raise ProcessRaisedException(text, 1, 0)

    with pytest.raises(
        TrainingError, match=r"^a training process failed: the loss is nan at step 3: stopped$"
    ):
        _run(Failing(), None)

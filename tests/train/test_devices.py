"""Two real processes: one averaged step, written once."""

import pytest
import torch
from torch.multiprocessing.spawn import ProcessRaisedException

from matchwork.errors import TrainingError
from matchwork.train import LOSSES, SAMPLERS, train
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
    "max_epochs": 1,
    "accelerator": "cpu",
    "devices": 2,
}


def averaged_step(model, samples, config):
    """What two devices do together, on one: the mean of the gradients of their batches."""
    for rank in range(2):
        (batch,) = EpochLoader(
            samples,
            SAMPLERS[config.negatives](samples, config),
            batch_size=config.batch_size,
            seed=5,
            in_batch=False,
            position=lambda: (0, 0),
            rank=rank,
            num_ranks=2,
        )
        scores = model(batch.pairs).scores.view_as(batch.labels)
        (LOSSES[config.loss](config)(scores, batch.labels, batch.mask) / 2).backward()
    torch.optim.SGD(model.parameters(), lr=config.learning_rate).step()


@pytest.mark.slow
def test_two_processes_train_one_model(matcher, questions, samples, tmp_path):
    trained, expected, told = matcher("knrm"), matcher("knrm"), []
    result = train(
        trained,
        questions,
        seed=5,
        folder=tmp_path,
        on_epoch=lambda record: told.append(record),
        **SETTINGS,
    )
    averaged_step(expected.model, samples, train_config(expected.model, SETTINGS))
    untouched = matcher("knrm").model.state_dict()
    for name, tensor in expected.model.named_parameters():
        torch.testing.assert_close(trained.model.state_dict()[name], tensor.data)
        # a bias on both sides of a difference has no gradient
        moved = not torch.equal(trained.model.state_dict()[name], untouched[name])
        assert moved == (name != "score.bias")
    assert told == result.history and result.best_epoch == 1
    assert [path.name for path in (tmp_path / "logs").iterdir()] == ["version_0"]
    assert trained.calibration is not None


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


@pytest.mark.slow
def test_two_processes_watch_dev_and_move_the_rate(matcher, questions, tmp_path):
    """Four steps of two batches: the loss on dev is that of the first process."""
    settings = {**SETTINGS, "schedule": "linear", "dev_loss_every": 1, "max_epochs": 4}
    watched = train(matcher("knrm"), questions, seed=5, folder=tmp_path, **settings)
    assert [step for step, _ in watched.dev_loss] == [1, 2, 3, 4]
    kept = torch.load(tmp_path / "last.ckpt", weights_only=True)
    assert kept["optimizer"]["param_groups"][0]["lr"] == pytest.approx(0.1 / 4)

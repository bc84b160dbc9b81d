"""The names under which programs print their training metrics, and the one name that we use for each."""

from __future__ import annotations

NAMES: dict[str, str] = {
    "loss": "loss", "train_loss": "loss", "train/loss": "loss", "training_loss": "loss", "train loss": "loss",
    "training loss": "loss", "lm loss": "loss", "lm_loss": "loss", "total_loss": "loss", "total loss": "loss",
    "avg_loss": "loss", "avr_loss": "loss", "avg loss": "loss", "average loss": "loss", "mean loss": "loss",
    "reduced_train_loss": "loss", "train_loss_step": "loss", "loss_step": "loss",
    "train-loss": "loss", "train.loss": "loss", "ce_loss": "loss",
    "eval_loss": "eval_loss", "eval/loss": "eval_loss", "val_loss": "eval_loss", "val/loss": "eval_loss",
    "val loss": "eval_loss", "valid_loss": "eval_loss", "valid loss": "eval_loss", "validation_loss": "eval_loss",
    "validation loss": "eval_loss", "eval loss": "eval_loss", "test_loss": "eval_loss", "test loss": "eval_loss",
    "grad_norm": "grad_norm", "grad norm": "grad_norm", "gnorm": "grad_norm", "gradient_norm": "grad_norm",
    "train/grad_norm": "grad_norm", "global_grad_norm": "grad_norm",
    "actor/grad_norm": "grad_norm", "actor/lr": "learning_rate",
    "learning_rate": "learning_rate", "learning rate": "learning_rate", "lr": "learning_rate",
    "train/learning_rate": "learning_rate", "lr-adam": "learning_rate", "lr-adamw": "learning_rate",
    "loss scale": "loss_scale", "loss_scale": "loss_scale", "tps": "throughput", "tokens_per_second": "throughput",
    "tokens_per_second_per_gpu": "throughput", "samples/sec": "throughput", "samplespersec": "throughput",
    "samples_per_second": "throughput", "tgs": "throughput", "throughput": "throughput", "wps": "throughput",
    "throughput per GPU (TFLOP/s/GPU)": "throughput", "skipped": "skipped",
    "number of skipped iterations": "skipped", "epoch": "epoch",
}  # fmt: skip
STEPS = frozenset(
    {"step", "steps", "global_step", "train_step", "iter", "iteration", "iterations", "num_updates", "it"}
)
TRAINING = frozenset({"loss", "eval_loss", "grad_norm"})

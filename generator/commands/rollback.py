"""`rollback`: switch back to an earlier release."""

from pathlib import Path

import click

from ..errors import FlatpanelError, counted
from ..pipeline import rollback as rolling_back
from ..release import transaction
from ..release.store import Store
from . import options
from .command import Command, Result, print_warning
from .output import waiting_notice


@click.command(cls=Command, examples=["rollback", "rollback 3f2a"])
@click.argument("release", required=False)
@options.out
@click.option(
    "--reopen", is_flag=True, help="Continue even if the rollback makes restricted or removed content public."
)
@options.as_json
def rollback(release: str | None, out: Path, reopen: bool) -> Result:
    """Switch back to the previous release.

    Each further rollback goes one release further back. RELEASE is the id of a release or the beginning of one;
    `releases` lists them. The current API keys stay valid, and revoked keys stay revoked.
    """
    store = Store(out)
    store.release()  # fails before any file is written if there is no release
    with transaction.begin(store, waiting_notice(out)) as opened:
        before, plan = opened.current, rolling_back.plan(opened, release)
        if plan.reopened and not reopen:
            fault = f"{out}: release {plan.target} would make public what is restricted or removed now"
            reasons = (f"  {name}: {reason}" for name, reason in plan.reopened.items())
            raise FlatpanelError(f"{fault}; use --reopen to continue:", *reasons)
        rolling_back.carry_out(opened, plan, options.now())
    for account, count in plan.left_out.items():
        print_warning(f"release {plan.target} has no account {account}; {counted(count, 'key')} left out")
    changed = f" as {plan.release}, with the keys of release {before}" if plan.release != plan.target else ""
    return Result(
        lambda: [f"{out}: release {plan.target} is current again{changed}; reload nginx to serve it"],
        lambda: {
            "ok": True,
            "release": plan.release,
            "target": plan.target,
            "reopened": plan.reopened,
            "keys_left_out": plan.left_out,
            "before": before,
        },
    )

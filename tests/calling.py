"""Commands called in this process, with the exit codes of a shell."""

import click
from click.testing import CliRunner

from surefoot.cli.main import cli
from surefoot.errors import SurefootError


def run(*arguments, program=cli, stdin=None):
    """Call the program in this process; exit codes as in `surefoot.cli.main.run`."""
    words = [str(a) for a in arguments]
    result = CliRunner().invoke(program, words, input=stdin, standalone_mode=False)
    error = result.exception
    if error is None:
        result.exit_code = result.return_value or 0
    elif isinstance(error, (click.ClickException, click.exceptions.Exit)):
        result.exit_code = error.exit_code
    elif not isinstance(error, SurefootError):
        raise error
    return result

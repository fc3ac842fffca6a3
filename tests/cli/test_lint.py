"""surefoot lint as a user runs it."""

import pytest
from click.testing import CliRunner

from surefoot.cli.main import cli


@pytest.mark.parametrize(("line", "code"), [("1 Q0 a 1 2 t", 0), ("1 Q0 a 1 nan t", 1)])
def test_exit_code_says_whether_the_files_can_be_used(tmp_path, line, code):
    (tmp_path / "qrels").write_text("1 0 a 1\n1 0 b 0\n")
    (tmp_path / "run").write_text(line + "\n")
    outcome = CliRunner().invoke(
        cli, ["lint", str(tmp_path / "qrels"), str(tmp_path / "run")], standalone_mode=False
    )
    assert outcome.return_value == code
    assert outcome.stdout.startswith("file\tseverity\tcheck\tmessage\n")

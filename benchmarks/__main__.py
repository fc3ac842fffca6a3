"""Run every benchmark: `make bench`, or `python -m benchmarks NAME...` for some."""

import subprocess
import sys
from pathlib import Path


def main() -> int:
    found = sorted(p.stem for p in Path(__file__).parent.glob("bench_*.py"))
    wanted = [f"bench_{n.removeprefix('bench_')}" for n in sys.argv[1:]] or found
    unknown = sorted(set(wanted) - set(found))
    if unknown:
        print(f"no such benchmark: {', '.join(unknown)}; there are {', '.join(found)}")
        return 2
    failed = []
    for name in wanted:
        print(f"== {name}", flush=True)
        if subprocess.run([sys.executable, "-m", f"benchmarks.{name}"], check=False).returncode:
            failed.append(name)
    if failed:
        print(f"failed: {', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

"""Write cpp/erfcx.inc: ``python tests/kernels/make_erfcx.py > cpp/erfcx.inc``.

Chebyshev coefficients of (1 + 2 x) exp(x^2) erfc(x) in t = (x - 3.75) / (x + 3.75), to 40 digits.
"""

import mpmath

TERMS = 26
NODES = 80


def coefficients() -> list[mpmath.mpf]:
    mpmath.mp.dps = 40
    angles = [mpmath.pi * (mpmath.mpf(k) + 0.5) / NODES for k in range(NODES)]
    values = []
    for angle in angles:
        t = mpmath.cos(angle)
        x = mpmath.mpf("3.75") * (1 + t) / (1 - t)
        scaled = mpmath.exp(x * x) * mpmath.erfc(x) if x < 100 else asymptotic(x)
        values.append((1 + 2 * x) * scaled)
    out = []
    for n in range(TERMS):
        total = sum(v * mpmath.cos(n * a) for v, a in zip(values, angles, strict=True))
        out.append(total * (1 if n == 0 else 2) / NODES)
    return out


def asymptotic(x: mpmath.mpf) -> mpmath.mpf:
    term = total = mpmath.mpf(1)
    for k in range(1, 30):
        term *= -(2 * k - 1) / (2 * x * x)
        total += term
    return total / (x * mpmath.sqrt(mpmath.pi))


if __name__ == "__main__":
    print(",\n".join(mpmath.nstr(c, 20) for c in coefficients()))

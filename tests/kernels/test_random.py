import pytest

from surefoot.kernels.random import philox_block

# Known-answer vectors of Philox4x32-10 published with Random123 (kat_vectors).
KNOWN = [
    (0, 0, 0, [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]),
    (2**64 - 1, 2**64 - 1, 2**64 - 1, [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]),
    (
        0x299F31D0A4093822,
        0x0370734413198A2E,
        0x85A308D3243F6A88,
        [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1],
    ),
]


@pytest.mark.parametrize(("seed", "stream", "index", "words"), KNOWN)
def test_philox_matches_the_published_vectors(seed, stream, index, words):
    assert philox_block(seed, stream, index).tolist() == words

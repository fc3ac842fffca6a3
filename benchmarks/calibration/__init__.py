"""Do intervals and tests keep what they promise? Study units, and the page made of them."""

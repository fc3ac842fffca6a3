"""The compiled core behind thin typed signatures: arrays in, arrays out."""

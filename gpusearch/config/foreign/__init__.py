"""Configurations of other decoders, both ways: Moses' `moses.ini` and Docent's XML."""

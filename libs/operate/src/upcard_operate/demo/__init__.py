"""A casino in miniature: scripted dealers, shoe readers and players at tables of all five rulesets."""

"""The container lane: the same servers from images, through a Docker engine."""

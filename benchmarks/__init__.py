"""Speed, measured beside other libraries in the same run; `make bench` runs them all."""

"""The conformance kit and the reference wallet that it is measured by."""

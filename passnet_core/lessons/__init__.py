"""The course: lessons as data, and how the judge's outcomes are graded."""

"""The chapters of Help, by their titles."""

JUDGE = "How the judge works"
CHAPTERS = {
    "The contract of a pass": "contract",
    "What verdicts and scores mean": "verdicts",
    JUDGE: "judge",
    "Glossary": "glossary",
    "Command line": "command-line",
    "Limits, privacy, keys": "limits",
}
"""The name of each chapter's file in assets/help."""

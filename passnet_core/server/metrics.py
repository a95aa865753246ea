"""The figures of the judge's service in Prometheus' text format, version 0.0.4."""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

SECONDS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0)


class ServiceMetrics:
    """Counts what one service does; all times are in seconds."""

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()
        self.answered = Counter("passnet_evaluations", "Evaluations by how they ended.", ["end"], registry=registry)
        """end: reward, no_reward, repeated (answered before under its key), refused (too many), failed."""
        self.verdicts = Counter("passnet_verdicts", "Verdicts of judged jobs.", ["verdict", "stage"], registry=registry)
        self.known = Counter("passnet_known_outcomes", "Jobs whose outcome was known.", registry=registry)
        self.judging = Histogram(
            "passnet_judging_seconds", "Time to judge a job.", ["stage"], buckets=SECONDS, registry=registry
        )
        self.waited = Histogram(
            "passnet_answer_seconds", "Time from a request to its answer.", buckets=SECONDS, registry=registry
        )
        self.waiting = Gauge(
            "passnet_evaluations_in_progress", "Evaluations that wait or are judged.", registry=registry
        )
        self.sessions = Gauge("passnet_sessions", "Conversations that are held.", registry=registry)
        self.judges = Gauge("passnet_judges", "Judges that work at once.", registry=registry)

    def text(self) -> bytes:
        return generate_latest(self.registry)

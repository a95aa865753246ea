"""What reports ask of the service, as somebody sees it."""

from typing import Protocol

from passnet_core.corpus.catalogue import Corpus
from passnet_core.execution.runs_in_progress import Progress
from passnet_core.records import Bundle
from passnet_core.service import ReferenceBundle


class ShowsRuns(Protocol):
    """The part of Service and of PersonalService that reports use."""

    @property
    def corpus(self) -> Corpus: ...

    def reference_bundles(self) -> tuple[ReferenceBundle, ...]: ...

    def progress(self, run_id: str) -> Progress: ...

    def bundle(self, digest: str) -> Bundle: ...

"""The backend that the settings choose, for all that judges."""

from importlib.util import find_spec

from passnet_core.errors import InfrastructureError
from passnet_core.execution.backends.cluster.backend import RayBackend
from passnet_core.execution.backends.local import LocalBackend
from passnet_core.settings import BackendChoice, Settings

NO_RAY = "This needs the package ray. Run: pip install 'passnet-playground[ray]'"


def chosen_backend(
    settings: Settings, *, judges: int = 1, checkers: int = 1, keep_warm: bool = False
) -> LocalBackend | RayBackend:
    """The backend of PASSNET_BACKEND. It starts nothing yet.

    judges, checkers, keep_warm: of the judge on this machine; a cluster has as many as it has room for. Raises
    InfrastructureError if the backend's package is missing."""
    if settings.backend is BackendChoice.RAY:
        if find_spec("ray") is None:
            raise InfrastructureError(NO_RAY)
        return RayBackend(settings.isolation, accelerator=settings.ray_accelerator, spares=settings.spares)
    return LocalBackend(
        settings.python,
        settings.isolation,
        settings.home,
        judges=judges,
        checkers=checkers,
        keep_warm=keep_warm,
        spares=settings.spares,
    )
